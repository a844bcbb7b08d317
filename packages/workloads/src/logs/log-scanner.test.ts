import { describe, expect, test } from 'vitest'
import { LogScanner } from './log-scanner.ts'

/** A log that grows; scans see what was added. */
function growing() {
  let bytes = new Uint8Array()
  const scanner = new LogScanner({
    path: 'log',
    contains: 'Server ready',
    files: { findBytes: (_, { offset, length }) => Promise.resolve(bytes.subarray(offset, offset + length)) },
  })
  return {
    async add(piece: string | Uint8Array): Promise<boolean> {
      bytes = Buffer.concat([bytes, typeof piece === 'string' ? Buffer.from(piece) : piece])
      return (await scanner.scan()).isOk
    },
  }
}

describe('LogScanner', () => {
  test('W24: finds a text that was written in two pieces', async () => {
    const log = growing()
    expect(await log.add('starting\nServer re')).toBe(false)
    expect(await log.add('ady on 8080\n')).toBe(true)
  })

  test('W24: finds a text with colour codes in it, cut anywhere', async () => {
    const text = '\u001b[1m\u001b[32mServer\u001b[0m \u001b]8;;http://x\u0007ready\u001b]8;;\u0007\n'
    for (let cut = 0; cut <= text.length; cut++) {
      const log = growing()
      await log.add(text.slice(0, cut))
      expect(await log.add(text.slice(cut)), `cut at ${cut}`).toBe(true)
    }
  })

  test.each([
    ['little endian, with a mark', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['little endian, without a mark', (text: string) => Buffer.from(text, 'utf16le')],
    ['big endian, with a mark', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
  ])('W24: finds a text in UTF-16, %s, cut in the middle of a letter', async (_, encode) => {
    const encoded = encode('x\nServer ready\n')
    const log = growing()
    expect(await log.add(encoded.subarray(0, 9))).toBe(false)
    expect(await log.add(encoded.subarray(9))).toBe(true)
  })

  test('does not find a text across two lines, and finds one behind much else', async () => {
    const log = growing()
    expect(await log.add('Server\nready\n')).toBe(false)
    expect(await log.add('x'.repeat(1_000_000))).toBe(false)
    expect(await log.add('\nServer ready')).toBe(true)
    expect(await log.add('')).toBe(true)
  })
})
