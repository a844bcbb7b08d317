import { describe, expect, test } from 'vitest'
import { countLines, lineStartFrom, offsetOfLastLines, prefixLines, withoutLines } from './log-lines.ts'

const handleOf = (text: string) => ({
  read: ({ offset, length }: { readonly offset: number; readonly length: number }) =>
    Promise.resolve(Buffer.from(text).subarray(offset, offset + length)),
  close: () => Promise.resolve(),
})

/** The straightforward way. */
function lastLines(text: string, count: number): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return lines.slice(Math.max(0, lines.length - count)).join('')
}

describe('lines of a log', () => {
  test.each(['', 'a', '\n', 'a\n', 'a\nb', 'a\n\n\nb\n', `${'x'.repeat(300_000)}\ny\n`, 'ab\n'.repeat(200_000)])(
    'the last ones are found from the end, whatever the pieces (case %#)',
    async (text) => {
      for (const count of [0, 1, 2, 3, 150_000, 1_000_000]) {
        const from = await offsetOfLastLines(handleOf(text), count, { start: 0, end: text.length })
        expect(text.slice(from)).toBe(lastLines(text, count))
      }
      expect(await countLines(handleOf(text), { start: 0, end: text.length })).toBe(
        (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).length,
      )
    },
  )

  test('nothing before the start is read', async () => {
    const handle = handleOf('aaa\nbbb\nccc\n')
    expect(await offsetOfLastLines(handle, 10, { start: 4, end: 12 })).toBe(4)
    expect(await lineStartFrom(handle, 2, { start: 4, end: 12 })).toBe(4)
  })

  test('the first line from an offset on: that one if a line begins there', async () => {
    const handle = handleOf('aaa\nbbb\nccc')
    const starts = await Promise.all([0, 1, 4, 5, 9].map((at) => lineStartFrom(handle, at, { start: 0, end: 11 })))
    expect(starts).toEqual([0, 4, 4, 8, 11])
  })

  test('a text before each line, and lines that are left out', () => {
    const bytes = Buffer.from('a\n\nb')
    expect(Buffer.from(prefixLines(bytes, (from, to) => `${from}-${to} `, { prefixMax: 10 })).toString()).toBe(
      '0-2 a\n2-3 \n3-4 b',
    )
    expect(withoutLines(bytes, 2)).toMatchObject({ rest: Buffer.from('b'), left: 0 })
    expect(withoutLines(bytes, 5)).toMatchObject({ rest: Buffer.from(''), left: 2 })
  })
})
