import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter, textLines } from './watch-stream.ts'

test('Lines gives the same lines for any way to cut the bytes into pieces (74)', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ä', '€', '😀', '"'), minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 10 }),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 10 }),
      (whole, sizes) => {
        const bytes = Buffer.from(whole.map((text) => `${text}\n`).join(''))
        const reader = new LineSplitter(1_000_000)
        const seen: string[] = []
        let at = 0
        for (let index = 0; at < bytes.length; index++) {
          const size = (sizes[index % sizes.length] ?? 0) + 1
          seen.push(...reader.push(bytes.subarray(at, at + size)).flatMap(textLines))
          at += size
        }
        expect(seen).toEqual(whole)
        expect(reader.partial).toBe(false)
      },
    ),
  )
})

test('Lines waits for the rest of a character that was cut in two (74)', () => {
  const reader = new LineSplitter(100)
  const bytes = Buffer.from('"€"\n')
  expect(reader.push(bytes.subarray(0, 2))).toEqual([])
  expect(reader.partial).toBe(true)
  expect(reader.push(bytes.subarray(2)).map(String)).toEqual(['"€"'])
})

test('Lines keeps what waits even when the sender uses the memory again', () => {
  const reader = new LineSplitter(100)
  const memory = Buffer.from('abc')
  reader.push(memory)
  memory.fill('x')
  expect(reader.push(Buffer.from('d\n')).map(String)).toEqual(['abcd'])
})

test('Lines gives lines where they lie: only the one that was cut is put together', () => {
  const reader = new LineSplitter(100)
  reader.push(Buffer.from('a'))
  const piece = Buffer.from('b\nc\nd\ne')
  const [first, rest] = reader.push(piece)
  expect([first?.toString(), rest?.toString()]).toEqual(['ab', 'c\nd'])
  expect(rest?.buffer).toBe(piece.buffer)
})

test('Lines refuses a line that is too long, and bytes that are no UTF-8', () => {
  expect(() => {
    new LineSplitter(10).push(Buffer.from('x'.repeat(11)))
  }).toThrow('more than 10 bytes')
  expect(() => {
    new LineSplitter(10).push(Uint8Array.of(0xc3, 0x28, 0x0a))
  }).toThrow('not UTF-8')
  expect(() => new LineSplitter(0)).toThrow(RangeError)
})
