import { expect, test } from 'vitest'
import { Warnings } from './request-context.ts'

function headerOf(...texts: readonly string[]): string | undefined {
  const warnings = new Warnings()
  for (const text of texts) warnings.add(text)
  return warnings.header()
}

test.each([
  [[], undefined],
  [['a'], '299 - "a"'],
  [['a', 'b', 'a'], '299 - "a", 299 - "b"'],
  [['say "x" \\ y'], '299 - "say \\"x\\" \\\\ y"'],
  [['one\r\ntwo\u0000'], '299 - "one  two "'],
])('Warnings of %j', (texts, header) => {
  expect(headerOf(...texts)).toBe(header)
})

test('Warnings cut every text short when all together are too long, and leave out what still does not fit', () => {
  const header = headerOf(...Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(300, 'x')))
  const texts = [...(header?.matchAll(/299 - "([^"]*)"/g) ?? [])].map(([, text = '']) => text)
  expect(texts).toHaveLength(16)
  expect(texts.every((text) => text.length === 256)).toBe(true)
})

test('Warnings write what is outside ASCII as bytes', () => {
  expect(Buffer.from(headerOf('ä') ?? '', 'latin1').toString()).toBe('299 - "ä"')
})
