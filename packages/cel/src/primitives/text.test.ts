import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareText, compareUtf8, quote, utf8Length } from './text.ts'

test('utf8Length counts what TextEncoder writes, lone surrogates included', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '€', '😀', '\ud800', '\udc00', '\0')).map((parts) => parts.join('')),
      (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
      },
    ),
  )
})

describe("quote writes Go's %q", () => {
  test.each([
    ['', '""'],
    ['web', '"web"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['back\\slash', '"back\\\\slash"'],
    ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\0\x1f\x7f', '"\\x00\\x1f\\x7f"'],
    ['grün 世界 😀', '"grün 世界 😀"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\uFFFD"'],
  ])('%j', (text, quoted) => expect(quote(text)).toBe(quoted))
})

test('compareText orders by code units', () => {
  expect(['b', 'a', 'B', 'ab', ''].sort(compareText)).toEqual(['', 'B', 'a', 'ab', 'b'])
  expect(compareText('a', 'a')).toBe(0)
})

test('compareUtf8 orders by the bytes of UTF-8', () => {
  const texts = ['', 'a', 'ab', 'b', '\ud7ff', '\ue000', '\uffff', '😀', '😁', '😀a']
  const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect(texts.toReversed().sort(compareUtf8)).toEqual(byBytes)
  expect(compareUtf8('😀', '😀')).toBe(0)
})
