import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepEqual, deepFreeze, setOwn, type JsonValue } from '@evenkeel/cel/primitives'
import { applyMergePatch, createMergePatch } from './merge-patch.ts'

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue

/** RFC 7396, appendix A, row by row: [document, patch, result]. */
const appendix: [string, string, string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
]

const more: [string, string, string][] = [
  ['{"a":1}', '{}', '{"a":1}'],
  ['{"a":{"b":1}}', '{"a":{}}', '{"a":{"b":1}}'],
  ['{"a":1}', '{"a":{"b":null,"c":{"d":null}}}', '{"a":{"c":{}}}'],
  ['{"a":[1]}', '{"a":[null,{"x":null}]}', '{"a":[null,{"x":null}]}'],
  ['{"a":1}', '{"a":0,"b":false,"c":""}', '{"a":0,"b":false,"c":""}'],
  ['"text"', '{"a":1}', '{"a":1}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
  ['{"__proto__":{"a":1},"c":1}', '{"__proto__":null}', '{"c":1}'],
  ['{}', '{"__proto__":{"polluted":true}}', '{"__proto__":{"polluted":true}}'],
  ['{}', '{"constructor":{"prototype":{"polluted":true}}}', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['{}', '{"toString":null,"a":{"hasOwnProperty":null}}', '{"a":{}}'],
]

describe('applyMergePatch', () => {
  test.each([...appendix, ...more])('%s with %s', (before, patch, after) => {
    const document = deepFreeze(parse(before))
    expect(JSON.stringify(applyMergePatch(document, deepFreeze(parse(patch))))).toBe(after)
    expect(JSON.stringify(document)).toBe(before)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.hasOwn(Object.prototype, 'toString')).toBe(true)
  })

  test('starts from nothing where there is no document', () => {
    expect(applyMergePatch(undefined, { a: { b: null, c: 1 } })).toEqual({ a: { c: 1 } })
  })

  test('shares what the patch does not touch', () => {
    const document = deepFreeze({ a: { x: 1 }, b: { c: { d: 1 }, e: [1] } })
    const after = applyMergePatch(document, { b: { c: { d: 2 } } }) as typeof document
    expect(after).toEqual({ a: { x: 1 }, b: { c: { d: 2 }, e: [1] } })
    expect(after.a).toBe(document.a)
    expect(after.b.e).toBe(document.b.e)
  })

  test('leaves out keys that are undefined', () => {
    expect(applyMergePatch({ a: 1 }, { a: undefined })).toEqual({ a: 1 })
  })
})

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString', '')
function anyJson(leaves: readonly JsonValue[]): fc.Arbitrary<JsonValue> {
  return fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom(...leaves),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
        const object = {}
        for (const [name, value] of entries) setOwn(object, name, value)
        return object as JsonValue
      }),
    ),
  })).value
}

describe('createMergePatch', () => {
  test.each([
    ['{"a":1,"b":2}', '{"a":1,"b":3}', '{"b":3}'],
    ['{"a":1,"b":2}', '{"a":1}', '{"b":null}'],
    ['{"a":{"x":1,"y":{"z":1}}}', '{"a":{"x":1,"y":{"z":2}}}', '{"a":{"y":{"z":2}}}'],
    ['{"a":{"x":1}}', '{"a":{"x":1}}', '{}'],
    ['{"a":{"b":{"c":{}}},"d":1}', '{"a":{"b":{"c":{}}},"d":2}', '{"d":2}'],
    ['{"a":[1,2]}', '{"a":[1,2,3]}', '{"a":[1,2,3]}'],
    ['{"a":[{"x":1}]}', '{"a":[{"x":1}]}', '{}'],
    ['{"a":1}', '{"a":{"b":{}}}', '{"a":{"b":{}}}'],
    ['{"a":{"b":1}}', '{"a":1}', '{"a":1}'],
    ['{"a":1}', '[1]', '[1]'],
    ['[1]', '{"a":1}', '{"a":1}'],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', '{"__proto__":{"a":2}}'],
    ['{}', '{"toString":1}', '{"toString":1}'],
    ['{"a":null}', '{}', '{"a":null}'],
  ])('from %s to %s', (from, to, patch) => {
    expect(JSON.stringify(createMergePatch(deepFreeze(parse(from)), deepFreeze(parse(to))))).toBe(patch)
  })

  test('applied to the one document it gives the other', () => {
    const [before, after] = [anyJson([1, 'x', null, true]), anyJson([1, 'x', 0, false])]
    fc.assert(
      fc.property(before, after, (from, to) => {
        expect(deepEqual(applyMergePatch(from, createMergePatch(from, to)), to)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('is empty exactly when there is no difference', () => {
    const document = anyJson([1, 'x']).filter(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    )
    fc.assert(
      fc.property(document, document, (from, to) => {
        expect(deepEqual(createMergePatch(from, to), {})).toBe(deepEqual(from, to))
        expect(createMergePatch(from, JSON.parse(JSON.stringify(from)) as JsonValue)).toEqual({})
      }),
    )
  })
})

test('merge, like every walker, survives 100,000 levels', () => {
  const nested = (leaf: JsonValue): JsonValue => {
    let value = leaf
    for (let level = 0; level < 100_000; level++) value = { a: value }
    return value
  }
  const [from, to] = [nested(1), nested(2)]
  const patch = createMergePatch(from, to)
  expect(deepEqual(patch, to)).toBe(true)
  expect(deepEqual(applyMergePatch(from, patch), to)).toBe(true)
})
