import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import { fieldTypeOf } from './field-type.ts'
import { merge, mergeOrder } from './merge.ts'
import { gardenSchema } from './schemas.fixture.ts'

const type = fieldTypeOf(gardenSchema)

type Row = [name: string, live: JsonObject, config: JsonObject, merged: JsonObject]

describe('merge', () => {
  const rows: Row[] = [
    ['scalars come from the configuration', { name: 'a', size: 1 }, { name: 'b' }, { name: 'b', size: 1 }],
    ['an explicit null is a value', { name: 'a' }, { name: null }, { name: null }],
    [
      'maps by key',
      { notes: { a: '1', b: '2' } },
      { notes: { b: '3', c: '4' } },
      { notes: { a: '1', b: '3', c: '4' } },
    ],
    ['an empty map changes nothing', { notes: { a: '1' } }, { notes: {} }, { notes: { a: '1' } }],
    ['null over a map changes nothing', { notes: { a: '1' } }, { notes: null }, { notes: { a: '1' } }],
    ['an empty map over nothing stays', {}, { notes: {} }, { notes: {} }],
    ['null over an empty map is null', { notes: {} }, { notes: null }, { notes: null }],
    [
      'structs in structs',
      { box: { a: 'x', inner: { c: '1' } } },
      { box: { inner: { d: '2' } } },
      { box: { a: 'x', inner: { c: '1', d: '2' } } },
    ],
    ['an atomic map is replaced', { colour: { red: 1, green: 1 } }, { colour: { red: 2 } }, { colour: { red: 2 } }],
    ['an atomic map may be emptied', { colour: { red: 1 } }, { colour: {} }, { colour: {} }],
    ['an atomic list is replaced', { plants: ['a', 'b'] }, { plants: ['c'] }, { plants: ['c'] }],
    ['an atomic list may be emptied', { plants: ['a'] }, { plants: [] }, { plants: [] }],
    ['sets are united', { bees: ['a', 'b'] }, { bees: ['c'] }, { bees: ['a', 'b', 'c'] }],
    ['an empty set changes nothing', { bees: ['a'] }, { bees: [] }, { bees: ['a'] }],
    [
      'a set takes the order of the configuration',
      { bees: ['a', 'b', 'c'] },
      { bees: ['c', 'a'] },
      { bees: ['b', 'c', 'a'] },
    ],
    [
      'new items come where their neighbours are',
      { bees: ['a', 'b'] },
      { bees: ['a', 'x', 'b'] },
      { bees: ['a', 'x', 'b'] },
    ],
    [
      'items by key',
      {
        beds: [
          { name: 'x', rows: 1 },
          { name: 'y', rows: 2 },
        ],
      },
      { beds: [{ name: 'y', rows: 3 }] },
      {
        beds: [
          { name: 'x', rows: 1 },
          { name: 'y', rows: 3 },
        ],
      },
    ],
    [
      'items inside items',
      { beds: [{ name: 'x', ports: [{ port: 1, label: 'a' }] }] },
      { beds: [{ name: 'x', ports: [{ port: 1, protocol: 'TCP', tags: ['t'] }] }] },
      { beds: [{ name: 'x', ports: [{ port: 1, label: 'a', protocol: 'TCP', tags: ['t'] }] }] },
    ],
    [
      'a default key finds its item',
      { ports: [{ port: 80, protocol: 'TCP', label: 'a' }] },
      { ports: [{ port: 80, label: 'b' }] },
      { ports: [{ port: 80, protocol: 'TCP', label: 'b' }] },
    ],
    [
      'another key makes another item',
      { ports: [{ port: 80, protocol: 'TCP' }] },
      { ports: [{ port: 80, protocol: 'UDP' }] },
      {
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 80, protocol: 'UDP' },
        ],
      },
    ],
    ['duplicates in the live list are kept', { bees: ['a', 'a'] }, { bees: ['b'] }, { bees: ['a', 'a', 'b'] }],
    [
      'duplicates in the live list are replaced by the one applied',
      {
        beds: [
          { name: 'x', rows: 1 },
          { name: 'x', rows: 2 },
        ],
      },
      { beds: [{ name: 'x', rows: 3 }] },
      { beds: [{ name: 'x', rows: 3 }] },
    ],
    [
      'the merge key of patches',
      { merged: [{ port: 1, label: 'a' }] },
      { merged: [{ port: 1, tags: ['t'] }] },
      { merged: [{ port: 1, label: 'a', tags: ['t'] }] },
    ],
    ['the merge strategy of patches', { words: ['a'] }, { words: ['b'] }, { words: ['a', 'b'] }],
    [
      'anything by key, its lists replaced',
      { anything: { a: { x: 1 }, l: [1] } },
      { anything: { a: { y: 2 }, l: [2] } },
      { anything: { a: { x: 1, y: 2 }, l: [2] } },
    ],
    ['anything of another kind is replaced', { anything: { a: 1 } }, { anything: ['x'] }, { anything: ['x'] }],
    ['a scalar gives way to a map', { anything: 'x' }, { anything: { a: 1 } }, { anything: { a: 1 } }],
    [
      'an unknown field of a loose struct',
      { loose: { known: 'a', more: { x: 1 } } },
      { loose: { more: { y: 2 } } },
      { loose: { known: 'a', more: { x: 1, y: 2 } } },
    ],
    [
      'keys that are names of prototypes',
      { notes: JSON.parse('{"__proto__":"1"}') as JsonObject },
      { notes: JSON.parse('{"constructor":"2"}') as JsonObject },
      { notes: JSON.parse('{"__proto__":"1","constructor":"2"}') as JsonObject },
    ],
  ]
  test.each(rows)('%s', (_, ...[live, config, merged]) => {
    assert.deepEqual(merge(deepFreeze(live), deepFreeze(config), type), merged)
  })

  test('a merge that changes nothing gives back the live object', () => {
    const live = deepFreeze({
      name: 'a',
      notes: { a: '1', b: '2' },
      bees: ['a', 'b'],
      beds: [{ name: 'x', rows: 1, soil: { kind: 'k' } }, { name: 'y' }],
    })
    assert.equal(
      merge(live, { name: 'a', notes: { b: '2' }, bees: ['a'], beds: [{ name: 'x', soil: { kind: 'k' } }] }, type),
      live,
    )
  })

  test('what does not change is shared, not copied', () => {
    const live = { notes: { a: '1' }, beds: [{ name: 'x', rows: 1 }, { name: 'y' }] } satisfies JsonObject
    const merged = merge(live, { beds: [{ name: 'y', rows: 1 }] }, type) as typeof live
    assert.equal(merged.notes, live.notes)
    assert.equal(merged.beds[0], live.beds[0])
    assert.notEqual(merged.beds[1], live.beds[1])
  })

  test('an item named twice in the configuration is refused', () => {
    assert.throws(() => merge({ beds: [{ name: 'y' }] }, { beds: [{ name: 'x' }, { name: 'x' }] }, type), {
      name: 'TypedError',
      message: '.beds: duplicate entries for key [name="x"]',
    })
  })
})

describe('mergeOrder', () => {
  const rows: [live: string, config: string, merged: string][] = [
    ['', 'abc', 'abc'],
    ['abc', '', 'abc'],
    ['abc', 'abc', 'abc'],
    ['abc', 'cba', 'cba'],
    ['abcd', 'xcb', 'axcdb'],
    ['ab', 'cd', 'abcd'],
    ['ab', 'ca', 'cab'],
    ['abc', 'bx', 'abcx'],
    ['aab', 'b', 'aab'],
    ['aab', 'a', 'ab'],
    ['aab', 'ba', 'ba'],
    ['abc', 'axbyc', 'axbyc'],
    ['abcde', 'ec', 'abdec'],
    ['ab', 'xaybz', 'xaybz'],
  ]
  test.each(rows)('live %s with %s comes out as %s', (live, config, merged) => {
    assert.equal(
      mergeOrder([...live], [...config])
        .map(({ element }) => element)
        .join(''),
      merged,
    )
  })

  test('names everything of both lists, keeps the order of the configuration and of what only the live list has', () => {
    const list = fc.uniqueArray(fc.constantFrom(...'abcdefgh'))
    fc.assert(
      fc.property(list, list, (live, config) => {
        const merged = mergeOrder(live, config).map(({ element }) => element)
        assert.deepEqual(merged.toSorted(), [...new Set([...live, ...config])].sort())
        assert.deepEqual(
          merged.filter((element) => config.includes(element)),
          config,
        )
        const onlyLive = (element: string): boolean => live.includes(element) && !config.includes(element)
        assert.deepEqual(merged.filter(onlyLive), live.filter(onlyLive))
      }),
    )
  })
})
