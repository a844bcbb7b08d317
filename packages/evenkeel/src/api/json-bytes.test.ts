import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteLiteral } from '#base'
import { JsonScanner } from './json-bytes.ts'

test('valueEnd ends where a value ends, whatever is in it and follows it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(',', '}', ']'), (value, after) => {
      const text = JSON.stringify(value)
      const bytes = Buffer.from(`[${text}${after}"]}`)
      expect(new JsonScanner(bytes).valueEnd(1, bytes.length)).toBe(1 + Buffer.byteLength(text))
    }),
  )
})

test('stringEnd ends where a string ends', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('\\', '"', '\\"', 'a\\')), (value) => {
      const text = JSON.stringify(value)
      const bytes = Buffer.from(`${text}"`)
      expect(new JsonScanner(bytes).stringEnd(0, bytes.length)).toBe(Buffer.byteLength(text))
    }),
  )
})

test.each(['"abc', '"abc\\"', '[1,[2]', '{"a":"}', '12', ''])('valueEnd does not go beyond the end of %j', (text) => {
  const bytes = Buffer.from(`${text}"]},`)
  expect(new JsonScanner(bytes).valueEnd(0, Buffer.byteLength(text))).toBe(-1)
})

test('stringEnd and valueEnd want one to begin at the start', () => {
  expect(new JsonScanner(Buffer.from('a"b"')).stringEnd(0, 4)).toBe(-1)
  expect(new JsonScanner(Buffer.from(',1')).valueEnd(0, 2)).toBe(-1)
})

test('findMember finds a member whatever comes before it, and only at the top', () => {
  const key = new ByteLiteral(Buffer.from('"wanted":'))
  const before = fc.dictionary(fc.string(), fc.jsonValue()).filter((object) => !Object.hasOwn(object, 'wanted'))
  fc.assert(
    fc.property(before, fc.jsonValue(), (object, value) => {
      const text = JSON.stringify({ ...object, inner: { wanted: 1 }, wanted: value })
      const bytes = Buffer.from(text)
      const scanner = new JsonScanner(bytes)
      const at = scanner.findMember(1, bytes.length, key)
      const end = scanner.valueEnd(at + key.length, bytes.length)
      expect(JSON.parse(bytes.subarray(at + key.length, end).toString())).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
  const without = Buffer.from('{"a":{"wanted":1}}')
  expect(new JsonScanner(without).findMember(1, without.length, key)).toBe(-1)
})
