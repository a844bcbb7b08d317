import { describe, expect, test } from 'vitest'
import { isWrittenBy, openValue, valueHeader } from './keyspace.ts'

const nonce = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const other = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 9)

function stored(value: string, stamp?: number): Uint8Array {
  return Buffer.concat([valueHeader(nonce, stamp), Buffer.from(value)])
}

function opened(bytes: Uint8Array, revision: number): string {
  return Buffer.from(openValue('k', bytes, revision)).toString()
}

describe('openValue', () => {
  test('returns the stored value without the header', () => {
    expect(opened(stored('hello'), 7)).toBe('hello')
    expect(opened(stored(''), 7)).toBe('')
  })

  test.each([0, 1, 5])('puts the revision in at %i', (stamp) => {
    expect(opened(stored('hello', stamp), 1234)).toBe(`${'hello'.slice(0, stamp)}1234${'hello'.slice(stamp)}`)
  })

  test.each([126, 127, 128, 16_382, 16_383, 16_384, 3 * 1024 * 1024])(
    'finds a stamp far into the value, at %i',
    (stamp) => {
      const bytes = Buffer.concat([valueHeader(nonce, stamp), new Uint8Array(3 * 1024 * 1024).fill(0x61)])
      const value = openValue('k', bytes, 42)
      expect(value.length).toBe(3 * 1024 * 1024 + 2)
      expect(Buffer.from(value.subarray(stamp, stamp + 2)).toString()).toBe('42')
    },
  )

  test('shares no memory with the message and is a plain array of bytes', () => {
    const bytes = stored('hello')
    const value = openValue('k', bytes, 7)
    bytes.fill(0)
    expect(Buffer.from(value).toString()).toBe('hello')
    expect(Object.getPrototypeOf(value)).toBe(Uint8Array.prototype)
  })

  test('refuses foreign values and values of a newer release, naming the key', () => {
    expect(() => openValue('a/b', Buffer.from('{"foreign":"json, long enough to have a header"}'), 7)).toThrow(
      expect.objectContaining({ reason: 'Damaged', message: expect.stringContaining('a/b') as string }),
    )
    expect(() => openValue('a/b', new Uint8Array(0), 7)).toThrow(expect.objectContaining({ reason: 'Damaged' }))
    const newer = stored('hello')
    newer[3] = 2
    expect(() => openValue('a/b', newer, 7)).toThrow(
      expect.objectContaining({ reason: 'NewerFormat', message: expect.stringContaining('a/b') as string }),
    )
  })

  test('refuses a value truncated before its stamp', () => {
    expect(() => openValue('a/b', stored('hello', 5).subarray(0, 15), 7)).toThrow(
      expect.objectContaining({ reason: 'Damaged' }),
    )
  })
})

describe('isWrittenBy', () => {
  test('recognizes its own nonce only', () => {
    expect(isWrittenBy(nonce, stored('hello'))).toBe(true)
    expect(isWrittenBy(nonce, stored(''))).toBe(true)
    expect(isWrittenBy(other, stored('hello'))).toBe(false)
    expect(isWrittenBy(nonce, new Uint8Array(0))).toBe(false)
  })
})
