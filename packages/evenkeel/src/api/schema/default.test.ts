import { describe, expect, test } from 'vitest'
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import { defaultCustomObject } from './default.ts'
import type { SchemaNode } from './schema.ts'

const size: SchemaNode = { type: 'integer', default: 1 }
const schema: SchemaNode = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size,
        mode: { type: 'string', nullable: true, default: 'x' },
        deep: { type: 'object', properties: { size } },
        made: { type: 'object', default: {}, properties: { size } },
      },
    },
    list: { type: 'array', items: { type: 'object', properties: { size } } },
    words: { type: 'array', items: { type: 'string', default: 'w' } },
    map: {
      type: 'object',
      additionalProperties: { type: 'object', default: { size: 2 }, properties: { size, more: size } },
    },
    plain: { type: 'object', properties: { a: { type: 'string' } } },
  },
}
const parse = (text: string): JsonObject => deepFreeze(JSON.parse(text) as JsonObject)

describe('defaultCustomObject', () => {
  /** [what, before, after] */
  test.each<[string, string, string]>([
    [
      'fills in what is missing, and into what was filled in',
      '{"spec":{}}',
      '{"spec":{"size":1,"mode":"x","made":{"size":1}}}',
    ],
    ['makes no parents', '{}', '{}'],
    [
      'keeps what is there',
      '{"spec":{"size":0,"mode":"","made":{"size":5}}}',
      '{"spec":{"size":0,"mode":"","made":{"size":5}}}',
    ],
    [
      'replaces a null that may not stand, and no other',
      '{"spec":{"size":null,"mode":null,"made":null}}',
      '{"spec":{"size":1,"mode":null,"made":{"size":1}}}',
    ],
    [
      'leaves a null without a default',
      '{"plain":{"a":null},"spec":{"size":1,"mode":"x","made":{"size":1},"deep":null}}',
      '{"plain":{"a":null},"spec":{"size":1,"mode":"x","made":{"size":1},"deep":null}}',
    ],
    [
      'goes into lists',
      '{"list":[{},null,{"size":3}],"words":["a",null]}',
      '{"list":[{"size":1},null,{"size":3}],"words":["a","w"]}',
    ],
    [
      'goes into maps',
      '{"map":{"a":{},"b":null,"__proto__":{"size":4}}}',
      '{"map":{"a":{"size":1,"more":1},"b":{"size":2,"more":1},"__proto__":{"size":4,"more":1}}}',
    ],
    ['leaves values of other types alone', '{"spec":"x","list":{},"map":[]}', '{"spec":"x","list":{},"map":[]}'],
  ])('%s', (...[, before, after]) => {
    expect(JSON.stringify(defaultCustomObject(parse(before), schema))).toBe(JSON.stringify(JSON.parse(after)))
  })

  test('gives an object that has everything back as it is', () => {
    const object = parse('{"spec":{"size":1,"mode":"x","made":{"size":1}},"plain":{"a":"b"}}')
    expect(defaultCustomObject(object, schema)).toBe(object)
  })

  test('gives every object its own copy of a default', () => {
    const make = (): unknown => (defaultCustomObject(parse('{"map":{"b":null}}'), schema)['map'] as JsonObject)['b']
    expect(make()).toEqual(make())
    expect(make()).not.toBe(make())
  })
})

test('defaultCustomObject goes into further fields of an object that declares some', () => {
  const declared: SchemaNode = {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: { type: 'string' } } } },
    additionalProperties: { type: 'object', properties: { size } },
  }
  expect(defaultCustomObject(parse('{"a":{},"c":{}}'), declared)).toEqual({ a: {}, c: { size: 1 } })
})
