/** Frames and lines of a connection, however it is cut into pieces. */
import { expect, test } from 'vitest'
import { readFrames, readJsonLines } from './log-frames.ts'

const frame = (stream: number, text: string): Buffer => {
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test.each([1, 2, 3, 7, 8, 9, 1000])('frames are told apart in pieces of %s bytes', async (size) => {
  const bytes = Buffer.concat([frame(1, 'out\n'), frame(2, 'err'), frame(1, ''), frame(1, 'last')])
  const texts = { stdout: '', stderr: '' }
  for await (const { stream, bytes: part } of readFrames(piecesOf(bytes, size)))
    texts[stream] += Buffer.from(part).toString()
  expect(texts).toEqual({ stdout: 'out\nlast', stderr: 'err' })
})

test.each([1, 5, 1000])('lines of JSON are read in pieces of %s bytes; what is no JSON is skipped', async (size) => {
  const bytes = Buffer.from('{"a":"ä"}\nnonsense\n\n{"b":2}')
  const found: unknown[] = []
  for await (const line of readJsonLines(piecesOf(bytes, size))) found.push(line)
  expect(found).toEqual([{ a: 'ä' }, { b: 2 }])
})
