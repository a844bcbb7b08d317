import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue, KubeObject } from '#api'
import { AppliedCache } from './apply.ts'
import { digestOf } from '../digest.ts'

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>
const content = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a', 'b')),
  json,
) as fc.Arbitrary<JsonObject>

const child = (spec: unknown, more: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid: 'u', ...more }, spec }) as unknown as KubeObject

/** The same, as JSON has it. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** The value with fields in another order. */
function turned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => turned(item as JsonValue))
  if (typeof value !== 'object' || value === null) return value
  return JSON.parse(
    `{${Object.keys(value)
      .reverse()
      .map((name) => `${JSON.stringify(name)}:${JSON.stringify(turned((value as JsonObject)[name] ?? null))}`)
      .join()}}`,
  ) as JsonValue
}

test('digestOf goes by content, not by the order of fields', () => {
  fc.assert(
    fc.property(content, (one) => {
      expect(digestOf(turned(copy(one)))).toBe(digestOf(copy(one)))
    }),
  )
  expect(digestOf({ a: 1 })).not.toBe(digestOf({ a: 2 }))
  expect(digestOf(JSON.parse('{"__proto__":1}') as JsonValue)).not.toBe(digestOf({}))
})

test('isSame holds for what was applied, with whatever others added to it', () => {
  fc.assert(
    fc.property(content, fc.string({ minLength: 1 }), json, (spec, name, value) => {
      const wanted = child(copy(spec))
      const live = copy({ ...copy(spec), ...(!Object.hasOwn(spec, name) && { [name]: value }) })
      expect(new AppliedCache().isSame(child(live), wanted)).toBe(true)
    }),
  )
})

test('isSame does not hold when something that is wanted is otherwise or missing', () => {
  const memory = new AppliedCache()
  const wanted = child({ size: 1, list: [{ name: 'a', image: 'x' }] })
  expect(memory.isSame(child({ size: 2, list: [{ name: 'a', image: 'x' }] }), wanted)).toBe(false)
  expect(memory.isSame(child({ size: 1, list: [{ name: 'a', image: 'y' }] }), wanted)).toBe(false)
  expect(memory.isSame(child({ size: 1, list: [{ name: 'a', image: 'x' }, { name: 'b' }] }), wanted)).toBe(false)
  expect(memory.isSame(child({ size: 1 }), wanted)).toBe(false)
  expect(memory.isSame(child({}), child({}, { labels: { a: 'b' } }))).toBe(false)
  expect(memory.isSame(child({}), child({}, { finalizers: ['x.dev/y'] }))).toBe(false)
  expect(
    memory.isSame(
      child({ size: 1, list: [{ name: 'a', image: 'x', pullPolicy: 'Always' }] }, { labels: { other: 'yes' } }),
      wanted,
    ),
  ).toBe(true)
})

test('isSame knows what the server made of an apply, until that or the wish changes', () => {
  const memory = new AppliedCache()
  const wanted = child({ cpu: '1000m', list: [1] })
  const stored = child({ cpu: '1', list: [1, 2] })
  expect(memory.isSame(stored, wanted)).toBe(false)
  memory.note(stored, wanted)
  expect(memory.isSame(stored, wanted)).toBe(true)
  expect(memory.isSame(child({ cpu: '2', list: [1, 2] }), wanted)).toBe(false)
  expect(memory.isSame(child({ cpu: '1', list: [1, 3] }), wanted)).toBe(false)
  expect(memory.isSame(stored, child({ cpu: '1001m', list: [1] }))).toBe(false)
  memory.note(child({ cpu: '1000m', list: [1] }), wanted)
  expect(memory.isSame(stored, wanted)).toBe(false)
})

test('isSame ignores what others add to an object that the server stored its own way', () => {
  const cache = new AppliedCache()
  const desired = child({ cpu: '1000m', list: [{ name: 'a' }] })
  cache.note(child({ cpu: '1', list: [{ name: 'a' }] }), desired)
  expect(cache.isSame(child({ cpu: '1', list: [{ name: 'a', port: 1 }], more: { theirs: true } }), desired)).toBe(true)
  expect(cache.isSame(child({ cpu: '1', list: [{ name: 'b' }] }), desired)).toBe(false)
})

test('AppliedCache knows what the server made of 20 000 children, and forgets the oldest', () => {
  const cache = new AppliedCache()
  const [desired, stored] = [{ a: 1 }, { a: 2 }]
  const of = (index: number, spec: object): KubeObject => child(spec, { uid: `u${index}` })
  for (let index = 0; index < 20_000; index++) cache.note(of(index, stored), of(index, desired))
  expect(cache.isSame(of(0, stored), of(0, desired))).toBe(true)
  expect(cache.isSame(of(0, { a: 3 }), of(0, desired))).toBe(false)
  cache.note(of(20_000, stored), of(20_000, desired))
  expect([0, 1, 20_000].map((index) => cache.isSame(of(index, stored), of(index, desired)))).toEqual([
    false,
    true,
    true,
  ])
})
