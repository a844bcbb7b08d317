import { expect, test } from 'vitest'
import { readJson, writeJson } from './json.ts'

test('integers of 64 bits are bigints when a number cannot hold them', () => {
  const value = { a: [2n ** 53n + 1n, 1, 'x:9', '"a":9007199254740993}'], b: -(2n ** 63n), c: 9007199254740991 }
  const text =
    '{"a":[9007199254740993,1,"x:9","\\"a\\":9007199254740993}"],"b":-9223372036854775808,"c":9007199254740991}'
  expect(writeJson(value)).toBe(text)
  expect(readJson(text)).toEqual(value)
  expect(readJson('{"a":9223372036854775808, "b" : 1e300 }')).toEqual({ a: 2 ** 63, b: 1e300 })
})
