import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { deepFreeze, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { FieldSet } from './field-set.ts'
import { fieldTypeOf } from './field-type.ts'
import type { ElementPath } from './path-element.ts'
import { extractFields, removeFields } from './remove.ts'
import { changedGarden, gardenSchema, shownPaths } from './schemas.fixture.ts'
import { reconcileFields, toFieldSet, withNamedFields } from './typed-fields.ts'
import { validateTyped } from './typed-value.ts'

const type = fieldTypeOf(gardenSchema)

describe('toFieldSet', () => {
  const rows: [name: string, value: JsonObject, paths: string[]][] = [
    ['scalars', { name: 'a', size: 1, open: false, amount: '1' }, ['.amount', '.name', '.open', '.size']],
    ['a struct through its fields only', { box: { a: 'x', inner: { c: '1' } } }, ['.box.a', '.box.inner.c']],
    ['an empty struct, which was said', { box: {} }, ['.box']],
    ['an explicit null, which was said', { box: null, name: null }, ['.box', '.name']],
    ['keys of maps with the values', { deep: { a: { x: 1 } } }, ['.deep.a', '.deep.a.x']],
    ['an empty map', { notes: {} }, ['.notes']],
    ['an empty list, which says nothing', { bees: [], beds: [] }, []],
    ['an atomic list and map', { plants: ['a'], colour: { red: 1 } }, ['.colour', '.plants']],
    ['an empty atomic list', { plants: [] }, ['.plants']],
    ['items of a set', { bees: ['a', 'b'] }, ['.bees[="a"]', '.bees[="b"]']],
    [
      'items by key with their content',
      { beds: [{ name: 'x', soil: { depth: 1 } }] },
      ['.beds[name="x"]', '.beds[name="x"].name', '.beds[name="x"].soil.depth'],
    ],
    [
      'a default key in the name of the item only',
      { ports: [{ port: 1 }] },
      ['.ports[port=1,protocol="TCP"]', '.ports[port=1,protocol="TCP"].port'],
    ],
    [
      'duplicates as one item without content',
      { beds: [{ name: 'x', rows: 1 }, { name: 'x', rows: 2 }, { name: 'y' }] },
      ['.beds[name="x"]', '.beds[name="y"]', '.beds[name="y"].name'],
    ],
    [
      'anything by key, lists as leaves',
      { anything: { a: { b: 1 }, l: [{ c: 1 }] } },
      ['.anything.a', '.anything.a.b', '.anything.l'],
    ],
    [
      'unknown fields of a loose struct',
      { loose: { known: 'a', more: { x: 1 } } },
      ['.loose.known', '.loose.more', '.loose.more.x'],
    ],
    ['names of prototypes', { notes: JSON.parse('{"__proto__":"x"}') as JsonObject }, ['.notes.__proto__']],
  ]
  test.each(rows)('mentions %s', (_, value, paths) => {
    assert.deepEqual(shownPaths(toFieldSet(value, type)), paths)
  })

  test('without a schema everything is deduced', () => {
    assert.deepEqual(shownPaths(toFieldSet({ a: { b: 1 }, l: [{ c: 1 }], n: null }, fieldTypeOf(undefined))), [
      '.a',
      '.a.b',
      '.l',
      '.n',
    ])
  })

  test('a value of a wrong kind mentions nothing, an undeclared field is a mistake', () => {
    assert.deepEqual(shownPaths(toFieldSet({ box: 'x' }, type)), [])
    assert.throws(() => toFieldSet({ weather: 1 }, type), /\.weather: field not declared/)
  })
})

const item = 'k:{"name":"x"}'

describe('removeFields and extractFields', () => {
  const value: JsonObject = deepFreeze({
    name: 'a',
    notes: { a: '1', b: '2' },
    bees: ['a', 'b'],
    plants: ['p'],
    box: { a: 'x', inner: { c: '1' } },
    beds: [{ name: 'x', rows: 1 }, { name: 'y' }],
  })
  const rows: [name: string, paths: ElementPath[], rest: JsonValue, found: JsonValue][] = [
    ['nothing', [], value, null],
    ['a field that is not there', [['f:size']], value, null],
    ['a scalar', [['f:name']], { ...value, name: undefined }, { name: 'a' }],
    ['a key of a map', [['f:notes', 'f:a']], { ...value, notes: { b: '2' } }, { notes: { a: '1' } }],
    [
      'all keys of a map',
      [
        ['f:notes', 'f:a'],
        ['f:notes', 'f:b'],
      ],
      { ...value, notes: null },
      { notes: { a: '1', b: '2' } },
    ],
    ['an item of a set', [['f:bees', 'v:"a"']], { ...value, bees: ['b'] }, { bees: ['a'] }],
    [
      'all items of a set',
      [
        ['f:bees', 'v:"a"'],
        ['f:bees', 'v:"b"'],
      ],
      { ...value, bees: null },
      { bees: ['a', 'b'] },
    ],
    ['an atomic list', [['f:plants']], { ...value, plants: undefined }, { plants: ['p'] }],
    [
      'a part of an atomic list, which takes it whole',
      [['f:plants', 'i:0']],
      { ...value, plants: null },
      { plants: ['p'] },
    ],
    [
      'a field in a struct',
      [['f:box', 'f:inner', 'f:c']],
      { ...value, box: { a: 'x', inner: null } },
      { box: { inner: { c: '1' } } },
    ],
    ['an item by key', [['f:beds', item]], { ...value, beds: [{ name: 'y' }] }, { beds: [{ name: 'x', rows: 1 }] }],
    [
      'a field of an item',
      [['f:beds', item, 'f:rows']],
      { ...value, beds: [{ name: 'x' }, { name: 'y' }] },
      { beds: [{ rows: 1 }] },
    ],
  ]
  test.each(rows)('take %s', (_, ...[paths, rest, found]) => {
    const set = FieldSet.of(...paths)
    assert.deepEqual(JSON.parse(JSON.stringify(removeFields(value, set, type))), JSON.parse(JSON.stringify(rest)))
    assert.deepEqual(extractFields(value, set, type), found)
  })

  test('an empty map is extracted as it is', () => {
    const empty: JsonObject = { name: 'a', notes: {}, box: { inner: {} } }
    assert.deepEqual(extractFields(empty, FieldSet.of(['f:notes'], ['f:box', 'f:inner']), type), {
      notes: {},
      box: { inner: {} },
    })
  })

  test('removing what is not there gives back the value', () => {
    assert.equal(
      removeFields(
        value,
        FieldSet.of(['f:notes', 'f:z'], ['f:bees', 'v:"z"'], ['f:beds', 'k:{"name":"z"}', 'f:rows']),
        type,
      ),
      value,
    )
  })

  test('a key that is the name of a prototype is taken as any other', () => {
    const odd = JSON.parse('{"notes":{"__proto__":"1","b":"2"}}') as JsonObject
    assert.equal(
      JSON.stringify(removeFields(odd, FieldSet.of(['f:notes', 'f:b']), type)),
      '{"notes":{"__proto__":"1"}}',
    )
    assert.equal(
      JSON.stringify(removeFields(odd, FieldSet.of(['f:notes', 'f:__proto__']), type)),
      '{"notes":{"b":"2"}}',
    )
  })
})

describe('validateTyped', () => {
  const rows: [name: string, value: JsonObject, message: string][] = [
    ['a number for a string', { name: 1 }, '.name: expected string, got &value.valueUnstructured{Value:1}'],
    [
      'a map for a string',
      { name: { b: [true, null], a: 'x' } },
      '.name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"x", "b":[]interface {}{true, interface {}(nil)}}}',
    ],
    ['a string for a number', { size: '1' }, '.size: expected numeric (int or float), got string'],
    ['a list for a number', { size: [] }, '.size: expected numeric (int or float), got []interface {}'],
    ['a boolean for a number', { size: true }, '.size: expected numeric (int or float), got bool'],
    ['a string for a boolean', { open: 'yes' }, '.open: expected boolean, got &{yes}'],
    ['a map for a time', { when: { a: 1 } }, '.when: expected any scalar, got &{map[a:1]}'],
    ['a scalar for a map', { box: 'x' }, '.box: expected map, got &{x}'],
    ['a map for a list', { beds: { a: [1, null] } }, '.beds: expected list, got &{map[a:[1 <nil>]]}'],
    ['an undeclared field', { box: { z: 1 } }, '.box.z: field not declared in schema'],
    ['a duplicate in a set', { bees: ['a', 'a'] }, '.bees: duplicate entries for key [="a"]'],
    [
      'a duplicate by a default key',
      { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] },
      '.ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
    [
      'a wrong value in an item',
      { beds: [{ name: 'x', rows: 'many' }] },
      '.beds[name="x"].rows: expected numeric (int or float), got string',
    ],
    [
      'a wrong value in an atomic list',
      { plants: ['a', 1] },
      '.plants[1]: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'several mistakes',
      { name: 1, beds: [{}] },
      'errors:\n  .name: expected string, got &value.valueUnstructured{Value:1}\n  .beds: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
  ]
  test.each(rows)('names %s', (_, value, message) => {
    assert.throws(
      () => {
        validateTyped(value, type)
      },
      { name: 'TypedError', message },
    )
  })

  test('lets pass what fits: nulls everywhere, any kind of anything, duplicates where they are allowed', () => {
    validateTyped(
      {
        name: null,
        box: null,
        beds: null,
        bees: null,
        anything: [{ a: [null] }],
        loose: { more: [1] },
        amount: 1,
        maybe: null,
      },
      type,
    )
    validateTyped({ bees: ['a', 'a'] }, type, { duplicates: true })
  })
})

describe('reconcileFields', () => {
  const owned = (...paths: ElementPath[]): FieldSet => FieldSet.of(...paths)
  const atomicBeds = changedGarden({
    beds: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
  })
  const atomicBox = changedGarden({
    box: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
  })
  const atomicNotes = changedGarden({
    notes: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
  })
  const atomicItems = changedGarden({
    beds: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: { name: { type: 'string' }, rows: { type: 'integer' } },
      },
    },
  })
  const rows: [name: string, schema: typeof gardenSchema, set: FieldSet, paths: string[]][] = [
    [
      'a list that became atomic',
      atomicBeds,
      owned(['f:beds', item], ['f:beds', item, 'f:rows'], ['f:name']),
      ['.beds', '.name'],
    ],
    ['a struct that became atomic', atomicBox, owned(['f:box', 'f:a']), ['.box']],
    ['a struct that became atomic and was a member', atomicBox, owned(['f:box'], ['f:box', 'f:a']), ['.box']],
    ['a map that became atomic', atomicNotes, owned(['f:notes', 'f:x'], ['f:notes', 'f:y']), ['.notes']],
    ['items that became atomic', atomicItems, owned(['f:beds', item], ['f:beds', item, 'f:rows']), ['.beds[name="x"]']],
    ['what was atomic and is granular, left alone', gardenSchema, owned(['f:box'], ['f:beds']), ['.beds', '.box']],
    ['fields that are no longer declared, left alone', gardenSchema, owned(['f:weather', 'f:rain']), ['.weather.rain']],
    ['anything, left alone', gardenSchema, owned(['f:anything', 'f:a', 'f:b']), ['.anything.a.b']],
  ]
  test.each(rows)('collapses %s', (_, ...[schema, set, paths]) => {
    assert.deepEqual(shownPaths(reconcileFields(set, fieldTypeOf(schema))), paths)
  })

  test('gives back the very set when nothing changed, and remembers what did', () => {
    const set = owned(['f:beds', item, 'f:rows'], ['f:plants'], ['f:notes', 'f:x'])
    assert.equal(reconcileFields(set, type), set)
    const atomic = fieldTypeOf(atomicBeds)
    assert.equal(reconcileFields(set, atomic), reconcileFields(set, atomic))
  })
})

test('withNamedFields makes members of declared fields above members, not of keys and items', () => {
  const set = FieldSet.of(
    ['f:box', 'f:inner', 'f:c'],
    ['f:deep', 'f:k', 'f:x'],
    ['f:beds', item, 'f:soil', 'f:kind'],
    ['f:unknown', 'f:y'],
  )
  assert.deepEqual(shownPaths(withNamedFields(set, type)), [
    '.beds',
    '.beds[name="x"].soil',
    '.beds[name="x"].soil.kind',
    '.box',
    '.box.inner',
    '.box.inner.c',
    '.deep',
    '.deep.k.x',
    '.unknown.y',
  ])
})
