import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepCopy, deepEqual, deepFreeze, exceedsDepth, getOwn, isJsonObject, jsonSize, setOwn } from './json.ts'
import type { JsonValue } from './json.ts'

const oddKeys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a', 'b', '0', '-1', 'ключ']

/** JSON values whose keys are often the ones that hurt; made by parsing text, as the wire makes them. */
const anyJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...oddKeys), tie('value')), { maxLength: 4 }).map((entries) => {
      const object = {}
      for (const [key, value] of entries) setOwn(object, key, value)
      return object as JsonValue
    }),
  ),
})).value

function nested(depth: number, leaf: JsonValue = 1): JsonValue {
  let value = leaf
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

describe('setOwn and getOwn', () => {
  for (const key of oddKeys) {
    test(`treat ${JSON.stringify(key)} as an ordinary key`, () => {
      const object: Record<string, unknown> = {}
      expect(getOwn(object, key)).toBeUndefined()
      setOwn(object, key, { polluted: true })
      expect(Object.keys(object)).toEqual([key])
      expect(getOwn(object, key)).toEqual({ polluted: true })
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    })
  }

  test('setOwn overwrites an own __proto__ and leaves it enumerable, so that JSON keeps it', () => {
    const object = JSON.parse('{"__proto__":1}') as object
    setOwn(object, '__proto__', 2)
    expect(JSON.stringify(object)).toBe('{"__proto__":2}')
  })
})

test('isJsonObject accepts objects only', () => {
  expect([{}, JSON.parse('{"__proto__":null}'), Object.create(null)].every(isJsonObject)).toBe(true)
  expect([null, [], 'a', 1, undefined, () => 1].some(isJsonObject)).toBe(false)
})

describe('deepEqual', () => {
  const cases: [string, unknown, unknown, boolean][] = [
    ['key order does not matter', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['item order does', [1, 2], [2, 1], false],
    ['an array is no object', [], {}, false],
    ['an object with index keys is no array', ['x'], { 0: 'x' }, false],
    ['null is not absent', { a: null }, {}, false],
    ['undefined is absent', { a: undefined, b: 1 }, { b: 1, c: undefined }, true],
    ['undefined on one side only, with the same number of keys', { a: undefined, b: 1 }, { b: 1, c: 1 }, false],
    ['null is not an empty object', null, {}, false],
    ['zero has no sign', { a: 0 }, { a: -0 }, true],
    ['text is not a number', '1', 1, false],
    ['an inherited key is none', { toString: 1 }, {}, false],
    ['an own __proto__ counts', JSON.parse('{"__proto__":{"a":1}}'), {}, false],
    ['equal own __proto__', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}'), true],
    ['a deep difference', nested(100, 1), nested(100, 2), false],
  ]
  for (const [name, a, b, equal] of cases) {
    test(name, () => {
      expect(deepEqual(a, b)).toBe(equal)
      expect(deepEqual(b, a)).toBe(equal)
    })
  }

  test('agrees with canonical JSON text', () => {
    const canonical = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(canonical)
      if (!isJsonObject(value)) return value
      return {
        entries: Object.keys(value)
          .sort()
          .map((key) => [key, canonical(value[key])]),
      }
    }
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        expect(deepEqual(a, b)).toBe(JSON.stringify(canonical(a)) === JSON.stringify(canonical(b)))
        expect(deepEqual(a, JSON.parse(JSON.stringify(a)))).toBe(true)
      }),
    )
  })
})

describe('deepFreeze', () => {
  test('freezes every level and gives the same value back', () => {
    const value = { a: [{ b: {} }], ['__proto__']: 1 }
    setOwn(value, '__proto__', { c: [] })
    expect(deepFreeze(value)).toBe(value)
    expect(Object.isFrozen(value.a[0]?.b)).toBe(true)
    expect(Object.isFrozen(getOwn(value as never, '__proto__'))).toBe(true)
    expect(Object.isFrozen(Object.prototype)).toBe(false)
  })

  test('does not enter what is frozen already', () => {
    const inner = { open: {} }
    Object.freeze(inner)
    deepFreeze({ inner })
    expect(Object.isFrozen(inner.open)).toBe(false)
  })
})

describe('exceedsDepth', () => {
  test.each([
    [1, 0],
    ['x', 0],
    [[], 1],
    [{}, 1],
    [{ a: [] }, 2],
    [[[[]]], 3],
    [nested(50), 50],
  ] as [JsonValue, number][])('%j has depth %i', (value, depth) => {
    expect(exceedsDepth(value, depth)).toBe(false)
    if (depth > 0) expect(exceedsDepth(value, depth - 1)).toBe(true)
  })
})

describe('jsonSize', () => {
  test('is the length of the compact JSON text in UTF-8', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(jsonSize(value)).toBe(new TextEncoder().encode(JSON.stringify(value)).length)
      }),
    )
  })

  test('leaves out keys that are undefined, wherever they stand', () => {
    const value = { a: undefined, b: 1, c: undefined, d: 2 }
    expect(jsonSize(value)).toBe(JSON.stringify(value).length)
  })
})

describe('deepCopy', () => {
  test('is equal, in the same order, and shares nothing', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = JSON.stringify(value)
        const copy = deepCopy(deepFreeze(value))
        expect(JSON.stringify(copy)).toBe(text)
        const nodes: unknown[] = [copy]
        while (nodes.length > 0) {
          const node = nodes.pop()
          if (typeof node !== 'object' || node === null) continue
          expect(Object.isFrozen(node)).toBe(false)
          nodes.push(...Object.values(node))
        }
      }),
    )
  })
})

test('no walker overflows the stack on a document nested 200,000 levels deep', () => {
  const [a, b] = [nested(200_000), nested(200_000)]
  expect(deepEqual(a, b)).toBe(true)
  expect(exceedsDepth(a, 199_999)).toBe(true)
  expect(jsonSize(a)).toBe(200_000 * 2 + 100_000 * 4 + 1)
  expect(deepEqual(deepCopy(a), b)).toBe(true)
  expect(Object.isFrozen(deepFreeze(a))).toBe(true)
})
