import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { deepEqual } from './json.ts'
import { integerOf, parseJson, stringifyJson } from './json-text.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
/** JSON values in which each integer has its one form. */
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.constantFrom('#0#', '#1#9007199254740993', '9007199254740993', '__proto__', ': 9007199254740993,'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
    int64.map((value) => integerOf(value)!),
    fc.constantFrom(true, false, null),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '#0#1')), tie('value')),
  ),
})).value

describe('parseJson', () => {
  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 2n ** 53n],
    ['-9007199254740993', -(2n ** 53n) - 1n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['9007199254740993.0', 2 ** 53],
    ['9007199254740993e0', 2 ** 53],
    ['0.9007199254740993', 0.9007199254740993],
    ['"9007199254740993"', '9007199254740993'],
    [' [ 9007199254740993 ] ', [2n ** 53n + 1n]],
    ['{"a":"\\"9007199254740993\\\\","__proto__":9007199254740993}', 'own'],
    [`[${'9'.repeat(400)}]`, [Infinity]],
  ])('%s', (text, expected) => {
    const value = parseJson(text)
    if (expected !== 'own') expect(value).toEqual(expected)
    else
      expect(Object.entries(value as object)).toEqual([
        ['a', '"9007199254740993\\'],
        ['__proto__', 2n ** 53n + 1n],
      ])
  })

  test('has the value of JSON.parse, apart from long integers, and refuses the same text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(deepEqual(parseJson(text), JSON.parse(text))).toBe(true)
      }),
    )
    expect(() => parseJson('[9007199254740993')).toThrow(SyntaxError)
    expect(() => parseJson('[9007199254740993,]')).toThrow(SyntaxError)
  })

  test('reads each character of a long run of digits once', () => {
    const text = JSON.stringify(['1'.repeat(20_000), '2'.repeat(20_000)])
    const reads = vi.spyOn(String.prototype, 'charCodeAt')
    parseJson(text)
    expect(reads.mock.calls.length).toBeLessThan(3 * text.length)
    vi.restoreAllMocks()
  })

  test('reads text that is nested deeper than the stack', () => {
    const depth = 3000
    let value = parseJson(`${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`)
    for (let level = 0; level < depth; level++) value = (value as readonly (typeof value)[])[0]!
    expect(value).toBe(2n ** 53n + 1n)
  })
})

describe('stringifyJson', () => {
  test('writes what was read, whatever the strings are', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(deepEqual(parseJson(stringifyJson(value)), value)).toBe(true)
        expect(deepEqual(parseJson(stringifyJson(value, 2)), value)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('takes a mark that no string has', () => {
    const text = ['#0#', '#1#2#', '"#3#9007199254740993"', { '#4#5': '\\"#5#1"' }]
    expect(stringifyJson([...text, 2n ** 53n + 1n])).toBe(`${JSON.stringify(text).slice(0, -1)},9007199254740993]`)
  })

  test('indents, and keeps small bigints as numbers', () => {
    expect(stringifyJson({ a: 5n }, 2)).toBe('{\n  "a": 5\n}')
  })

  test('refuses a cycle', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(() => stringifyJson(cycle)).toThrow(TypeError)
  })
})
