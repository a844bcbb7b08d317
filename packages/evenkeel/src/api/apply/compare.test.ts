import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'
import { compare, compareComplete, compareUnmanaged, type Comparison } from './compare.ts'
import { fieldTypeOf } from './field-type.ts'
import { merge } from './merge.ts'
import { gardenSchema, shownPaths } from './schemas.fixture.ts'
import { toFieldSet } from './typed-fields.ts'

const type = fieldTypeOf(gardenSchema)

/** `+.a` added, `~.a` modified, `-.a` removed. */
function shown({ added, modified, removed }: Comparison): string[] {
  return [
    ...shownPaths(added).map((path) => `+${path}`),
    ...shownPaths(modified).map((path) => `~${path}`),
    ...shownPaths(removed).map((path) => `-${path}`),
  ]
}

type Row = [name: string, left: JsonObject, right: JsonObject, changes: string[]]

describe('compare', () => {
  const rows: Row[] = [
    ['equal objects', { name: 'a', beds: [{ name: 'x', rows: 1 }] }, { beds: [{ rows: 1, name: 'x' }], name: 'a' }, []],
    ['a scalar changes', { name: 'a' }, { name: 'b' }, ['~.name']],
    ['a scalar comes', {}, { name: 'b' }, ['+.name']],
    ['a scalar goes', { name: 'b' }, {}, ['-.name']],
    ['a scalar becomes null', { name: 'b' }, { name: null }, ['~.name']],
    ['a number keeps its value', { amount: 1 }, { amount: 1.0 }, []],
    ['int-or-string changes its kind', { amount: 1 }, { amount: '1' }, ['~.amount']],
    ['a map gets a key', { notes: { a: '1' } }, { notes: { a: '1', b: '2' } }, ['+.notes.b']],
    ['a map comes', {}, { notes: { a: '1' } }, ['+.notes', '+.notes.a']],
    ['an empty map comes', {}, { notes: {} }, ['+.notes']],
    ['an empty map becomes null', { notes: {} }, { notes: null }, ['~.notes']],
    ['null becomes a map', { notes: null }, { notes: { a: '1' } }, ['+.notes.a']],
    ['a map loses all keys', { notes: { a: '1' } }, { notes: {} }, ['-.notes.a']],
    ['a struct comes with its content', {}, { box: { inner: { c: 'x' } } }, ['+.box', '+.box.inner', '+.box.inner.c']],
    [
      'maps in maps',
      { deep: { a: { x: 1 } } },
      { deep: { a: { x: 2 }, b: { y: 1 } } },
      ['+.deep.b', '+.deep.b.y', '~.deep.a.x'],
    ],
    ['an atomic map changes', { colour: { red: 1 } }, { colour: { red: 1, green: 2 } }, ['~.colour']],
    ['an atomic list changes', { plants: ['a'] }, { plants: ['a', 'b'] }, ['~.plants']],
    ['an atomic list changes its order', { plants: ['a', 'b'] }, { plants: ['b', 'a'] }, ['~.plants']],
    ['a set gets and loses items', { bees: ['a', 'b'] }, { bees: ['b', 'c'] }, ['+.bees[="c"]', '-.bees[="a"]']],
    ['a set changes its order', { bees: ['a', 'b'] }, { bees: ['b', 'a'] }, []],
    ['a set of numbers', { sizes: [1] }, { sizes: [1, 10] }, ['+.sizes[=10]']],
    ['an empty list becomes null', { bees: [] }, { bees: null }, ['~.bees']],
    [
      'an item changes inside',
      { beds: [{ name: 'x', rows: 1 }] },
      { beds: [{ name: 'x', rows: 2 }] },
      ['~.beds[name="x"].rows'],
    ],
    [
      'an item comes',
      { beds: [] },
      { beds: [{ name: 'x', rows: 2 }] },
      ['+.beds[name="x"]', '+.beds[name="x"].name', '+.beds[name="x"].rows'],
    ],
    [
      'items change their order',
      { beds: [{ name: 'x' }, { name: 'y' }] },
      { beds: [{ name: 'y' }, { name: 'x' }] },
      [],
    ],
    [
      'a default key is the same item',
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, protocol: 'TCP' }] },
      ['+.ports[port=80,protocol="TCP"].protocol'],
    ],
    [
      'another key is another item',
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, protocol: 'UDP' }] },
      [
        '+.ports[port=80,protocol="UDP"]',
        '+.ports[port=80,protocol="UDP"].port',
        '+.ports[port=80,protocol="UDP"].protocol',
        '-.ports[port=80,protocol="TCP"]',
        '-.ports[port=80,protocol="TCP"].port',
      ],
    ],
    [
      'a missing key without a default is another item',
      { ports: [{ protocol: 'TCP' }] },
      { ports: [{ port: 1 }] },
      [
        '+.ports[port=1,protocol="TCP"]',
        '+.ports[port=1,protocol="TCP"].port',
        '-.ports[protocol="TCP"]',
        '-.ports[protocol="TCP"].protocol',
      ],
    ],
    ['duplicates change as a block', { bees: ['a', 'a'] }, { bees: ['a', 'a', 'a'] }, ['~.bees[="a"]']],
    ['duplicates stay as they are', { bees: ['a', 'a'], name: 'x' }, { bees: ['a', 'a'] }, ['-.name']],
    [
      'an item gets a double',
      { beds: [{ name: 'x', rows: 1 }] },
      { beds: [{ name: 'x', rows: 1 }, { name: 'x' }] },
      ['+.beds[name="x"]', '-.beds[name="x"]', '-.beds[name="x"].name', '-.beds[name="x"].rows'],
    ],
    [
      'a double goes',
      { beds: [{ name: 'x' }, { name: 'x' }] },
      { beds: [{ name: 'x' }] },
      ['+.beds[name="x"]', '+.beds[name="x"].name', '-.beds[name="x"]'],
    ],
    ['both doubles go', { bees: ['a', 'a'] }, { bees: [] }, ['-.bees[="a"]']],
    [
      'anything by key',
      { anything: { a: { b: 1 } } },
      { anything: { a: { b: 2 }, c: [1] } },
      ['+.anything.c', '~.anything.a.b'],
    ],
    [
      'a list in anything is a leaf',
      { anything: { l: [{ a: 1 }] } },
      { anything: { l: [{ a: 2 }] } },
      ['~.anything.l'],
    ],
    [
      'anything changes from a map to a scalar',
      { anything: { a: 1 } },
      { anything: 'x' },
      ['~.anything', '-.anything.a'],
    ],
    [
      'anything changes from a scalar to a map',
      { anything: 'x' },
      { anything: { a: 1 } },
      ['+.anything.a', '~.anything'],
    ],
    [
      'an unknown field of a loose struct',
      { loose: { known: 'a' } },
      { loose: { known: 'b', more: { x: 1 } } },
      ['+.loose.more', '+.loose.more.x', '~.loose.known'],
    ],
    ['a nullable struct is set', { maybe: null }, { maybe: { a: 'x' } }, ['+.maybe.a']],
    [
      'keys that are names of prototypes',
      { notes: JSON.parse('{"__proto__":"1","constructor":"2"}') as JsonObject },
      { notes: JSON.parse('{"__proto__":"9"}') as JsonObject },
      ['~.notes.__proto__', '-.notes.constructor'],
    ],
    ['fields that are undefined are absent', { name: undefined, notes: { a: undefined } }, {}, ['-.notes']],
  ]
  test.each(rows)('%s', (_, ...[left, right, changes]) => {
    assert.deepEqual(shown(compare(left, right, type)), changes)
  })

  const mistakes: [name: string, left: JsonObject, right: JsonObject, message: string][] = [
    [
      'an item without keys',
      { beds: [] },
      { beds: [{ rows: 1 }] },
      '.beds: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      'an item that is null',
      { beds: [] },
      { beds: [null] },
      '.beds: element 0: associative list with keys may not have a null element',
    ],
    [
      'an item that is no map',
      { beds: [] },
      { beds: ['x'] },
      '.beds: element 0: associative list with keys may not have non-map elements',
    ],
    [
      'a map in a set',
      { bees: [] },
      { bees: [{}] },
      ".bees: element 0: associative list without keys has an element that's a map type",
    ],
    [
      'a list in a set',
      { bees: [] },
      { bees: [[]] },
      '.bees: element 0: not supported: associative list with lists as elements',
    ],
    [
      'a null in a set',
      { bees: [] },
      { bees: [null] },
      ".bees: element 0: associative list without keys has an element that's an explicit null",
    ],
    ['an undeclared field', {}, { weather: 1 }, '.weather: field not declared in schema'],
    [
      'wrong scalars on both sides',
      { name: 1 },
      { name: 2 },
      '.name: lhs: expected string, got &value.valueUnstructured{Value:1}',
    ],
  ]
  test.each(mistakes)('throws for %s', (_, ...[left, right, message]) => {
    assert.throws(() => compare(left, right, type), { name: 'TypedError', message })
  })

  test('values nested beyond reason end with an error, not with the stack', () => {
    let deep: JsonValue = 1
    for (let depth = 0; depth < 20_000; depth++) deep = { a: deep }
    assert.throws(() => compare({ anything: {} }, { anything: deep }, type), { name: 'TypedError' })
  })

  test('what was added, modified and removed makes up the difference of what is mentioned', () => {
    fc.assert(
      fc.property(gardens, gardens, (left, right) => {
        const { added, modified, removed } = compare(left, right, type)
        const [before, after] = [toFieldSet(left, type), toFieldSet(right, type)]
        assert.deepEqual(shownPaths(after.difference(before).difference(added).difference(modified)), [])
        assert.deepEqual(shownPaths(before.difference(after).difference(removed).difference(modified)), [])
      }),
    )
  })

  test('a merge mentions what either side mentions and agrees with the right one', () => {
    fc.assert(
      fc.property(gardens, gardens, (left, right) => {
        const merged = merge(left, right, type)
        assert.deepEqual(shownPaths(compare(right, merged, type).modified), [])
        assert.deepEqual(shownPaths(compare(right, merged, type).removed), [])
        assert.deepEqual(shownPaths(compare(left, merged, type).removed), [])
        assert.deepEqual(merge(merged, right, type), merged)
      }),
    )
  })
})

describe('compareComplete', () => {
  const named = { 'a.v1.Spec': { type: 'object', properties: { size: { type: 'integer' } } } } as const
  const struct = fieldTypeOf({
    name: 'a.v1.Kind',
    root: {},
    definitions: (name) =>
      name === 'a.v1.Kind'
        ? {
            type: 'object',
            properties: { spec: { allOf: [{ $ref: 'a.v1.Spec' }], default: {} }, extra: { $ref: 'a.v1.Spec' } },
          }
        : named['a.v1.Spec'],
  })

  test('a struct that Go never leaves out was there before', () => {
    assert.deepEqual(shown(compareComplete({}, { spec: { size: 1 }, extra: { size: 1 } }, struct)), [
      '+.extra',
      '+.extra.size',
      '+.spec.size',
    ])
    assert.deepEqual(shown(compare({}, { spec: { size: 1 } }, struct)), ['+.spec', '+.spec.size'])
  })

  test('a required scalar that is absent has its zero value', () => {
    const required = { size: { type: 'integer' }, ratio: { type: 'number' }, open: { type: 'boolean' } } as const
    const kind = fieldTypeOf({
      name: 'a.v1.Kind',
      root: {},
      definitions: () => ({ type: 'object', required: Object.keys(required), properties: required }),
    })
    assert.deepEqual(shown(compareComplete({}, { size: 0, ratio: 0, open: false }, kind)), [])
    assert.deepEqual(shown(compareComplete({}, { size: 1, ratio: 1, open: true }, kind)), [
      '~.open',
      '~.ratio',
      '~.size',
    ])
  })

  test('its absence is no change', () => {
    assert.deepEqual(shown(compareComplete({ spec: {} }, {}, struct)), [])
    assert.deepEqual(shown(compareComplete({ spec: { size: 1 } }, {}, struct)), ['-.spec.size'])
  })
})

test('compareUnmanaged leaves the managed fields of the metadata out, and nothing else of that name or place', () => {
  const managed = (manager: string): JsonObject => ({ managedFields: [{ manager }] })
  const left = { metadata: { ...managed('a'), labels: { x: '1' } }, notes: { managedFields: 'a' } }
  const right = { metadata: { ...managed('b'), labels: { x: '2' } }, notes: { managedFields: 'b' } }
  assert.deepEqual(shown(compareUnmanaged(left, right, type)), ['~.metadata.labels.x', '~.notes.managedFields'])
})

const word = fc.constantFrom('a', 'b', 'c')
const gardens: fc.Arbitrary<JsonObject> = fc.record(
  {
    name: word,
    notes: fc.dictionary(word, word, { minKeys: 1 }),
    plants: fc.array(word),
    bees: fc.uniqueArray(word),
    colour: fc.record({ red: fc.nat(2) }),
    box: fc.record(
      { a: word, inner: fc.record({ c: word, d: word }, { requiredKeys: ['c'] }) },
      { requiredKeys: ['a'] },
    ),
    beds: fc.uniqueArray(fc.record({ name: word, rows: fc.nat(2) }), { selector: ({ name }) => name }),
    ports: fc.uniqueArray(fc.record({ port: fc.nat(2), label: word }), { selector: ({ port }) => port }),
  },
  { requiredKeys: [] },
)
