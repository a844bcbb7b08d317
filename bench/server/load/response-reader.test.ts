import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { ResponseReader } from './response-reader.ts'

interface Read {
  status: number
  body: string
  isEnded: boolean
}

function readAll(pieces: readonly Buffer[]): Read[] {
  const responses: Read[] = []
  const last = (): Read => responses.at(-1) as Read
  const reader = new ResponseReader({
    head: (status) => {
      responses.push({ status, body: '', isEnded: false })
    },
    body: (bytes, start, end) => {
      last().body += bytes.toString('latin1', start, end)
    },
    end: () => {
      last().isEnded = true
    },
  })
  for (const piece of pieces) reader.push(piece)
  return responses
}

function withLength(status: number, body: string): string {
  return `HTTP/1.1 ${status} Some Text\r\nX-A: b\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function inChunks(status: number, pieces: readonly string[]): string {
  const chunks = pieces
    .filter((piece) => piece !== '')
    .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
    .join('')
  return `HTTP/1.1 ${status} OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
}

/** Splits a text at the given positions. */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const sorted = [...places.map((place) => place % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

describe('ResponseReader', () => {
  test('reads several responses from one chunk', () => {
    const text = withLength(200, 'one') + inChunks(201, ['tw', 'o']) + withLength(204, '')
    expect(readAll([Buffer.from(text)])).toEqual([
      { status: 200, body: 'one', isEnded: true },
      { status: 201, body: 'two', isEnded: true },
      { status: 204, body: '', isEnded: true },
    ])
  })

  test('reads the same responses from any chunks', () => {
    const body = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0', ' '), maxLength: 40 })
    const response = fc.oneof(
      body.map((text) => ({ text: withLength(200, text), body: text })),
      fc.array(body, { maxLength: 4 }).map((pieces) => ({ text: inChunks(200, pieces), body: pieces.join('') })),
    )
    fc.assert(
      fc.property(fc.array(response, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 12 }), (responses, places) => {
        const read = readAll(cut(responses.map(({ text }) => text).join(''), places))
        expect(read).toEqual(responses.map((one) => ({ status: 200, body: one.body, isEnded: true })))
      }),
    )
  })

  test('returns the received part of a stream before it ends', () => {
    const [read] = readAll([Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab\ncd')])
    expect(read).toEqual({ status: 200, body: 'ab\nc', isEnded: false })
  })

  test('skips trailers', () => {
    const text =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-End: yes\r\n\r\n' + withLength(200, 'next')
    expect(readAll([Buffer.from(text)]).map(({ body }) => body)).toEqual(['a', 'next'])
  })

  test('rejects a response with neither a length nor chunks', () => {
    expect(() => readAll([Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc')])).toThrow(
      'neither length nor chunks',
    )
    expect(() => readAll([Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n')])).toThrow(
      'invalid chunk size',
    )
  })
})
