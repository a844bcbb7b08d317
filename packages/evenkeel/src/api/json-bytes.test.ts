import fc from 'fast-check'
import { expect, test } from 'vitest'
import { skipString, skipValue } from './json-bytes.ts'

test('skipValue ends where a value ends, whatever is in it and follows it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(',', '}', ']'), (value, after) => {
      const text = JSON.stringify(value)
      const bytes = Buffer.from(`[${text}${after}"]}`)
      expect(skipValue(bytes, 1, bytes.length)).toBe(1 + Buffer.byteLength(text))
    }),
  )
})

test('skipString ends where a string ends', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('\\', '"', '\\"', 'a\\')), (value) => {
      const text = JSON.stringify(value)
      const bytes = Buffer.from(`${text}"`)
      expect(skipString(bytes, 0, bytes.length)).toBe(Buffer.byteLength(text))
    }),
  )
})

test.each(['"abc', '"abc\\"', '[1,[2]', '{"a":"}', '12', ''])('skipValue does not go beyond the end of %j', (text) => {
  const bytes = Buffer.from(`${text}"]},`)
  expect(skipValue(bytes, 0, Buffer.byteLength(text))).toBe(-1)
})

test('skipString and skipValue want one to begin where they are told', () => {
  expect(skipString(Buffer.from('a"b"'), 0, 4)).toBe(-1)
  expect(skipValue(Buffer.from(',1'), 0, 2)).toBe(-1)
})
