import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { deepEqual, type JsonObject } from '@evenkeel/cel/primitives'
import { jsonSchemaOf } from '../kind/standard-schema.ts'
import { structuralFromJsonSchema } from './json-schema.ts'

const text = { type: 'string' }
const anything = { 'x-kubernetes-preserve-unknown-fields': true }

describe('structuralOf', () => {
  const cases: readonly { name: string; given: JsonObject; expected: JsonObject }[] = [
    {
      name: 'copies what is the same',
      given: { type: 'string', minLength: 1, format: 'email', description: 'x', default: 'y' },
      expected: { type: 'string', minLength: 1, format: 'email', description: 'x', default: 'y' },
    },
    {
      name: 'drops annotations and unknown formats',
      given: { $schema: 's', $id: 'i', type: 'string', format: 'duration', examples: ['x'], deprecated: true },
      expected: text,
    },
    { name: 'const', given: { const: 'a' }, expected: { type: 'string', enum: ['a'] } },
    { name: 'enum of one type', given: { enum: [1, 2] }, expected: { type: 'integer', enum: [1, 2] } },
    { name: 'enum of numbers', given: { enum: [1, 2.5] }, expected: { type: 'number', enum: [1, 2.5] } },
    {
      name: 'enum of integers and texts, and null',
      given: { enum: ['a', 1, null] },
      expected: { enum: ['a', 1, null], nullable: true, 'x-kubernetes-int-or-string': true },
    },
    {
      name: 'anyOf of constants',
      given: { anyOf: [{ type: 'string', const: 'a' }, { const: 'b' }] },
      expected: { type: 'string', enum: ['a', 'b'] },
    },
    {
      name: 'anyOf with an alternative without conditions',
      given: { anyOf: [text, { type: 'string', minLength: 2 }] },
      expected: text,
    },
    {
      name: 'allOf of single conditions',
      given: {
        allOf: [
          { type: 'string', minLength: 2 },
          { type: 'string', pattern: 'a' },
        ],
      },
      expected: { type: 'string', allOf: [{ minLength: 2 }, { pattern: 'a' }] },
    },
    {
      name: 'anyOf with null',
      given: { anyOf: [text, { type: 'null' }] },
      expected: { type: 'string', nullable: true },
    },
    {
      name: 'a list of types with null',
      given: { type: ['string', 'null'], maxLength: 3 },
      expected: { type: 'string', nullable: true, maxLength: 3 },
    },
    {
      name: 'integer or string',
      given: { type: ['string', 'integer'] },
      expected: { 'x-kubernetes-int-or-string': true },
    },
    {
      name: 'integer or string with conditions',
      given: {
        oneOf: [
          { type: 'integer', minimum: 0 },
          { type: 'string', pattern: '%$' },
        ],
      },
      expected: { 'x-kubernetes-int-or-string': true, minimum: 0, pattern: '%$' },
    },
    {
      name: 'exclusive limits',
      given: { type: 'number', exclusiveMinimum: 0, maximum: 5, exclusiveMaximum: 9 },
      expected: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 5 },
    },
    {
      name: 'exclusive flags',
      given: { type: 'number', minimum: 0, exclusiveMinimum: true },
      expected: { type: 'number', minimum: 0, exclusiveMinimum: true },
    },
    {
      name: 'limits of safe integers',
      given: { type: 'integer', minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
      expected: { type: 'integer' },
    },
    {
      name: 'a closed object',
      given: { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false },
      expected: { type: 'object', properties: { a: text }, required: ['a'] },
    },
    {
      name: 'an open object',
      given: { type: 'object', properties: { a: text }, additionalProperties: {} },
      expected: { type: 'object', properties: { a: text }, ...anything },
    },
    {
      name: 'a map',
      given: { type: 'object', additionalProperties: text },
      expected: { type: 'object', additionalProperties: text },
    },
    {
      name: 'a map by a pattern of everything',
      given: { type: 'object', patternProperties: { '^.*$': text } },
      expected: { type: 'object', additionalProperties: text },
    },
    { name: 'anything', given: {}, expected: anything },
    { name: 'a list of anything', given: { type: 'array' }, expected: { type: 'array', items: anything } },
    {
      name: 'unique items',
      given: { type: 'array', items: text, uniqueItems: true },
      expected: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    },
    {
      name: 'a tuple of one type',
      given: { type: 'array', prefixItems: [text, text], items: false, minItems: 2 },
      expected: { type: 'array', items: text, minItems: 2, maxItems: 2 },
    },
    {
      name: 'a reference',
      given: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/A', description: 'd' }, b: { $ref: '#/$defs/A' } },
        $defs: { A: text },
      },
      expected: { type: 'object', properties: { a: { type: 'string', description: 'd' }, b: text } },
    },
    {
      name: 'a reference within a schema that brings definitions',
      given: { type: 'object', properties: { spec: { $ref: '#/definitions/A', definitions: { A: text } } } },
      expected: { type: 'object', properties: { spec: text } },
    },
    {
      name: 'parts',
      given: {
        allOf: [
          { type: 'object', properties: { a: text }, required: ['a'] },
          { type: 'object', properties: { b: text }, required: ['b'] },
        ],
      },
      expected: { type: 'object', properties: { a: text, b: text }, required: ['a', 'b'] },
    },
    {
      name: 'conditions beside a type',
      given: {
        type: 'object',
        properties: { a: text, b: text },
        anyOf: [{ required: ['a'] }, { type: 'object', properties: { b: { const: 'x' } } }],
      },
      expected: {
        type: 'object',
        properties: { a: text, b: text },
        anyOf: [{ required: ['a'] }, { properties: { b: { enum: ['x'] } } }],
      },
    },
    { name: 'not', given: { type: 'string', not: { const: 'x' } }, expected: { type: 'string', not: { enum: ['x'] } } },
    {
      name: 'the same text by several patterns',
      given: {
        anyOf: [
          { type: 'string', pattern: 'a' },
          { type: 'string', pattern: 'b' },
        ],
      },
      expected: { type: 'string', anyOf: [{ pattern: 'a' }, { pattern: 'b' }] },
    },
    {
      name: 'a union told apart by a field',
      given: {
        oneOf: [
          { type: 'object', properties: { type: { const: 'a' }, x: text }, required: ['type', 'x'] },
          { type: 'object', properties: { type: { const: 'b' }, y: { type: 'number' } }, required: ['type'] },
        ],
      },
      expected: {
        type: 'object',
        properties: { type: text, x: text, y: { type: 'number' } },
        oneOf: [
          { required: ['type', 'x'], properties: { type: { enum: ['a'] } } },
          { required: ['type'], properties: { type: { enum: ['b'] } } },
        ],
      },
    },
    {
      name: 'the own words of custom resources',
      given: { type: 'object', 'x-kubernetes-map-type': 'atomic', 'x-other': 1 },
      expected: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
    },
  ]
  test.each(cases)('rewrites $name', ({ given, expected }) => {
    expect(structuralFromJsonSchema(given, 'W')).toEqual(expected)
  })

  test.each<{ given: JsonObject; message: RegExp }>([
    { given: { anyOf: [text, { type: 'number' }] }, message: /^W\.spec may be of type string or number: / },
    { given: { type: ['string', 'boolean'] }, message: /^W\.spec may be of type string or boolean/ },
    { given: { enum: ['a', true] }, message: /^W\.spec lists values of several types/ },
    { given: { type: 'array', prefixItems: [text, { type: 'number' }] }, message: /^W\.spec is a tuple/ },
    {
      given: { type: 'array', items: { type: 'object' }, uniqueItems: true },
      message: /^W\.spec wants its items to be unique/,
    },
    {
      given: { type: 'object', properties: { a: text }, additionalProperties: text },
      message: /^W\.spec has both named fields/,
    },
    { given: { type: 'object', patternProperties: { '^x': text } }, message: /^W\.spec has fields by the pattern \^x/ },
    { given: { type: 'object', propertyNames: { pattern: 'x' } }, message: /^W\.spec restricts the names of fields/ },
    { given: { if: {}, then: {} }, message: /^W\.spec uses `if`/ },
    { given: { type: 'string', pattern: '(?!x)' }, message: /^W\.spec has the pattern \(\?!x\)/ },
    { given: { $ref: 'https://x' }, message: /^W\.spec refers to "https:\/\/x", outside/ },
    {
      given: { $ref: '#/$defs/none' },
      message: /^W\.spec refers to #\/\$defs\/none, which the schema does not define/,
    },
    {
      given: { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { b: { $ref: '#/$defs/a' } } } } },
      message: /^W\.spec\.b refers to itself \(#\/\$defs\/a\)/,
    },
    {
      given: {
        anyOf: [
          { type: 'integer', enum: [1] },
          { type: 'string', minLength: 1 },
        ],
      },
      message: /^W\.spec is an integer or a text, with conditions/,
    },
    {
      given: {
        anyOf: [
          { type: 'object', properties: { a: text } },
          { type: 'object', additionalProperties: text },
        ],
      },
      message: /^W\.spec is an object with fields in one alternative/,
    },
    {
      given: {
        anyOf: [
          { type: 'string', default: 'a' },
          { type: 'string', default: 'b' },
        ],
      },
      message: /^W\.spec has alternatives that differ in `default`/,
    },
    { given: { anyOf: [] }, message: /^W\.spec has alternatives without any/ },
  ])('refuses $given', ({ given, message }) => {
    expect(() => structuralFromJsonSchema({ type: 'object', properties: { spec: given } }, 'W')).toThrow(message)
  })

  test('refuses references that multiply, and nesting without end', () => {
    const bomb = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => {
        return [
          `d${level}`,
          {
            type: 'object',
            properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } },
          },
        ]
      }),
    )
    expect(() => structuralFromJsonSchema({ $ref: '#/$defs/d0', $defs: { ...bomb, d30: text } }, 'W')).toThrow(
      /more than 20000 places/,
    )
    let deep: JsonObject = text
    for (let level = 0; level < 1000; level++) deep = { not: deep }
    expect(() => structuralFromJsonSchema(deep, 'W')).toThrow(/nested deeper/)
  })

  test('keeps fields that are called like something of Object', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject
    const node = structuralFromJsonSchema(schema, 'W')
    expect(Object.keys(node.properties ?? {})).toEqual(['__proto__', 'constructor'])
  })

  test('changes nothing in what it has made', () => {
    const schema = jsonSchemaOf(
      z.object({
        name: z.string().min(1),
        size: z.int().positive(),
        kind: z.enum(['a', 'b']),
        either: z.union([z.string(), z.int()]),
        maybe: z.string().nullable(),
        list: z.array(z.object({ key: z.string() })),
        map: z.record(z.string(), z.number()),
        any: z.any(),
        open: z.looseObject({ a: z.string() }),
        union: z.discriminatedUnion('type', [
          z.object({ type: z.literal('a'), x: z.string() }),
          z.object({ type: z.literal('b'), y: z.number() }),
        ]),
      }),
      'W',
    )
    const once = structuralFromJsonSchema(schema, 'W') as unknown as JsonObject
    expect(deepEqual(structuralFromJsonSchema(once, 'W'), once)).toBe(true)
  })
})
