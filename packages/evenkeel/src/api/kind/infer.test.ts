/** What a JSON Schema literal means in TypeScript. These tests speak at compile time; `tsc` is what runs them. */
import { expectTypeOf, test } from 'vitest'
import type { FromJsonSchema } from './infer.ts'

type Stored<S> = FromJsonSchema<S, 'stored'>
type Input<S> = FromJsonSchema<S, 'input'>

test('scalars', () => {
  expectTypeOf<Stored<{ type: 'string' }>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<{ type: 'number' }>>().toEqualTypeOf<number>()
  expectTypeOf<Stored<{ type: 'integer' }>>().toEqualTypeOf<number>()
  expectTypeOf<Stored<{ type: 'boolean' }>>().toEqualTypeOf<boolean>()
  expectTypeOf<Stored<{ type: 'null' }>>().toEqualTypeOf<null>()
  expectTypeOf<Stored<{ type: 'string'; format: 'date-time'; maxLength: 3 }>>().toEqualTypeOf<string>()
})

test('fixed values', () => {
  expectTypeOf<Stored<{ const: 'x' }>>().toEqualTypeOf<'x'>()
  expectTypeOf<Stored<{ type: 'string'; enum: readonly ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>()
  expectTypeOf<Stored<{ enum: readonly [1, 'x', null] }>>().toEqualTypeOf<1 | 'x' | null>()
})

test('nothing known', () => {
  expectTypeOf<Stored<Record<never, never>>>().toEqualTypeOf<unknown>()
  expectTypeOf<Stored<{ 'x-kubernetes-preserve-unknown-fields': true }>>().toEqualTypeOf<unknown>()
})

test('null, in both spellings', () => {
  expectTypeOf<Stored<{ type: 'string'; nullable: true }>>().toEqualTypeOf<string | null>()
  expectTypeOf<Stored<{ type: 'string'; nullable: false }>>().toEqualTypeOf<string>()
  expectTypeOf<Stored<{ type: readonly ['integer', 'null'] }>>().toEqualTypeOf<number | null>()
  expectTypeOf<Stored<{ type: 'object'; nullable: true; properties: { a: { type: 'string' } } }>>().toEqualTypeOf<{
    a?: string
  } | null>()
})

test('int-or-string, with or without its companions', () => {
  expectTypeOf<Stored<{ 'x-kubernetes-int-or-string': true }>>().toEqualTypeOf<string | number>()
  expectTypeOf<
    Stored<{ 'x-kubernetes-int-or-string': true; anyOf: readonly [{ type: 'integer' }, { type: 'string' }] }>
  >().toEqualTypeOf<string | number>()
})

test('lists', () => {
  expectTypeOf<Stored<{ type: 'array'; items: { type: 'string' } }>>().toEqualTypeOf<string[]>()
  expectTypeOf<Stored<{ type: 'array'; items: { type: 'array'; items: { type: 'integer' } } }>>().toEqualTypeOf<
    number[][]
  >()
  expectTypeOf<Stored<{ type: 'array' }>>().toEqualTypeOf<unknown[]>()
})

test('alternatives', () => {
  expectTypeOf<Stored<{ anyOf: readonly [{ type: 'string' }, { type: 'integer' }] }>>().toEqualTypeOf<string | number>()
  expectTypeOf<Stored<{ oneOf: readonly [{ const: 'a' }, { const: 'b' }] }>>().toEqualTypeOf<'a' | 'b'>()
  expectTypeOf<Stored<{ allOf: readonly [{ type: 'string' }] }>>().toEqualTypeOf<string>()
})

interface Sample {
  type: 'object'
  required: readonly ['always', 'alsoDefaulted']
  properties: {
    always: { type: 'string' }
    sometimes: { type: 'integer' }
    defaulted: { type: 'boolean'; default: true }
    alsoDefaulted: { type: 'integer'; default: 0 }
    inner: { type: 'object'; properties: { deep: { type: 'string'; default: 'x' } } }
  }
}

test('objects: required and default, in both directions and at every depth', () => {
  expectTypeOf<Stored<Sample>>().toEqualTypeOf<{
    always: string
    alsoDefaulted: number
    defaulted: boolean
    sometimes?: number
    inner?: { deep: string }
  }>()
  expectTypeOf<Input<Sample>>().toEqualTypeOf<{
    always: string
    alsoDefaulted?: number
    defaulted?: boolean
    sometimes?: number
    inner?: { deep?: string }
  }>()
})

test('objects: what is beyond the named fields', () => {
  expectTypeOf<Stored<{ type: 'object'; additionalProperties: { type: 'integer' } }>>().toEqualTypeOf<{
    [key: string]: number
  }>()
  expectTypeOf<Stored<{ type: 'object'; additionalProperties: true }>>().toEqualTypeOf<{ [key: string]: unknown }>()
  expectTypeOf<Stored<{ type: 'object'; 'x-kubernetes-preserve-unknown-fields': true }>>().toEqualTypeOf<{
    [key: string]: unknown
  }>()
  expectTypeOf<
    Stored<{ type: 'object'; properties: { a: { type: 'string' } }; additionalProperties: false }>
  >().toEqualTypeOf<{ a?: string }>()
  expectTypeOf<
    Stored<{
      type: 'object'
      required: readonly ['a']
      properties: { a: { type: 'string' } }
      'x-kubernetes-preserve-unknown-fields': true
    }>
  >().toEqualTypeOf<{ [key: string]: unknown; a: string }>()
})

test('objects: a server prunes what nobody described, so there is nothing', () => {
  expectTypeOf<Stored<{ type: 'object' }>>().toEqualTypeOf<{ [key: string]: never }>()
  expectTypeOf<Stored<{ properties: { a: { type: 'string' } } }>>().toEqualTypeOf<{ a?: string }>()
})
