import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { FieldSet } from './field-set.ts'
import { decodeFields, encodeFields, sameFields } from './fields-v1.ts'
import { formatPath } from './path-element.ts'

const shown = (fields: JsonObject): string[] => [...decodeFields(fields).paths()].map(formatPath)

describe('decodeFields', () => {
  const rows: [name: string, fields: JsonObject, paths: string[]][] = [
    ['nothing', {}, []],
    ['the object itself, which has no owner', { '.': {} }, []],
    ['a leaf', { 'f:a': {} }, ['.a']],
    ['a leaf written with a dot', { 'f:a': { '.': {} } }, ['.a']],
    ['a leaf written as null', { 'f:a': null }, ['.a']],
    ['a way to a leaf', { 'f:a': { 'f:b': {} } }, ['.a.b']],
    ['a member with children', { 'f:a': { '.': {}, 'f:b': {} } }, ['.a', '.a.b']],
    ['all kinds of steps', { 'f:a': { 'k:{"n":1}': {}, 'v:"x"': {}, 'i:2': {} } }, ['.a[n=1]', '.a[="x"]', '.a[2]']],
    ['steps of a later version, left out', { 'z:a': { 'f:b': {} }, 'f:c': {} }, ['.c']],
    [
      'keys that are names of prototypes',
      { 'f:__proto__': {}, 'f:constructor': { 'f:toString': {} } },
      ['.__proto__', '.constructor.toString'],
    ],
    ['the same step written twice', { 'k:{"a":1,"b":2}': {}, 'k:{"b":2,"a":1}': {} }, ['[a=1,b=2]']],
  ]
  test.each(rows)('reads %s', (_, fields, paths) => {
    assert.deepEqual(shown(fields), paths)
  })

  test.each([
    [{ 'f:a': 1 }],
    [{ 'f:a': ['f:b'] }],
    [{ nothing: {} }],
    [{ 'f:a': { 'k:x': {} } }],
    [JSON.parse('{"__proto__":{}}') as JsonObject],
  ])('refuses %j', (fields) => {
    assert.throws(() => decodeFields(fields), RangeError)
    assert.equal(({} as JsonObject)['f:a'], undefined)
  })

  test('refuses what is nested too deeply, without running out of stack', () => {
    let fields: JsonObject = {}
    for (let depth = 0; depth < 5000; depth++) fields = { 'f:a': fields }
    assert.throws(() => decodeFields(fields), /nested more than 1000 levels/)
  })

  test('gives one set for equal texts, and forgets the oldest of very many', () => {
    const text = '{"f:a":{"f:b":{}}}'
    const first = decodeFields(JSON.parse(text) as JsonObject)
    assert.equal(decodeFields(JSON.parse(text) as JsonObject), first)
    for (let index = 0; index < 110; index++) decodeFields({ [`f:${index}${'x'.repeat(10_000)}`]: {} })
    const again = decodeFields(JSON.parse(text) as JsonObject)
    assert.notEqual(again, first)
    assert.equal(again.equals(first), true)
  })
})

describe('sameFields', () => {
  test.each([
    [{}, {}, true],
    [{ 'f:a': { '.': {}, 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }, true],
    [{ 'f:a': { 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }, false],
    [{ 'f:a': {} }, { 'f:b': {} }, false],
    [{ 'f:a': { 'f:b': {} } }, { 'f:a': {} }, false],
    [{ 'f:a': 1 }, { 'f:a': {} }, false],
    [{ 'f:a': [] }, { 'f:a': {} }, false],
    [undefined, {}, false],
  ] as const)('%j and %j: %s', (fields, known, same) => {
    assert.equal(sameFields(fields, known), same)
  })
})

describe('encodeFields', () => {
  test('writes elements in order, a dot first', () => {
    const set = FieldSet.of(
      ['f:b'],
      ['f:a'],
      ['f:a', 'k:{"n":10}'],
      ['f:a', 'k:{"n":9}'],
      ['f:a', 'f:z'],
      ['f:c', 'v:2'],
      ['f:c', 'v:"1"'],
    )
    const text =
      '{"f:a":{".":{},"f:z":{},"k:{\\"n\\":9}":{},"k:{\\"n\\":10}":{}},"f:b":{},"f:c":{"v:2":{},"v:\\"1\\"":{}}}'
    assert.equal(JSON.stringify(encodeFields(set)), text)
  })

  test('decodes what it wrote to the same set', () => {
    const set = FieldSet.of(['f:a', 'f:b'])
    assert.equal(decodeFields(encodeFields(set)).equals(set), true)
  })

  test('writes a shared subtree once for each way it stands', () => {
    const set = FieldSet.of(['f:a', 'f:b'], ['f:c'])
    const more = set.union(FieldSet.of(['f:a']))
    assert.deepEqual(encodeFields(set), { 'f:a': { 'f:b': {} }, 'f:c': {} })
    assert.deepEqual(encodeFields(more), { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} })
    assert.equal(encodeFields(set)['f:a'], encodeFields(set)['f:a'])
  })
})
