import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteLiteral, plainStringEnd } from './bytes.ts'

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

test('ByteLiteral matches exactly where the same bytes are', () => {
  const change = fc.record({ place: fc.nat(), by: fc.integer({ min: 1, max: 255 }) })
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 40 }), fc.nat(7), change, (bytes, before, { place, by }) => {
      const within = Buffer.concat([Buffer.alloc(before), bytes])
      const literal = new ByteLiteral(bytes)
      expect(literal.length).toBe(bytes.length)
      expect(literal.isAt(viewOf(within), before)).toBe(true)
      const index = before + (place % bytes.length)
      within[index] = ((within[index] ?? 0) + by) % 256
      expect(literal.isAt(viewOf(within), before)).toBe(false)
    }),
  )
  expect(() => new ByteLiteral(Buffer.from('abc'))).toThrow(RangeError)
})

test('plainStringEnd ends where a string without escapes ends, whatever is around it', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('!', '#', '[', ']', 'ä', '\u0122', 'a'), fc.constantFrom('"', '\\')),
    maxLength: 12,
  })
  fc.assert(
    fc.property(text, fc.constantFrom('', ',', '}', '"', '\\"'), fc.nat(3), (value, after, before) => {
      const json = JSON.stringify(value)
      const bytes = Buffer.from(`${'"'.repeat(before)}${json}${after}`)
      const end = before + Buffer.byteLength(json)
      const isPlain = !json.includes('\\')
      const found = plainStringEnd(viewOf(Buffer.concat([bytes, Buffer.alloc(4)])), before, bytes.length)
      expect(found).toBe(isPlain ? end : -1)
      // Without more behind it, it may not be found, but nothing else is.
      expect([found, -1]).toContain(plainStringEnd(viewOf(bytes), before, bytes.length))
      expect(plainStringEnd(viewOf(Buffer.concat([bytes, Buffer.alloc(4)])), before, end - 1)).toBe(-1)
    }),
    { numRuns: 500 },
  )
})

test('plainStringEnd requires a string at the start offset', () => {
  expect(plainStringEnd(viewOf(Buffer.from('a"b"     ')), 0, 5)).toBe(-1)
})
