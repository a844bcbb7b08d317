import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HttpProtocolError } from './http-message.ts'
import { ChunkedDecoder } from './http1-body.ts'

interface Decoded {
  readonly data: string
  readonly taken: number
  readonly isDone: boolean
}

/** Feeds the text cut at the given places. */
function decode(text: string, cuts: readonly number[] = []): Decoded {
  const decoder = new ChunkedDecoder()
  const bytes = Buffer.from(text, 'latin1')
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  let [data, taken] = ['', 0]
  for (const [index, from] of places.slice(0, -1).entries()) {
    if (decoder.isDone) break
    taken += decoder.feed(bytes.subarray(from, places[index + 1]), (piece) => {
      data += piece.toString('latin1')
    })
  }
  return { data, taken, isDone: decoder.isDone }
}

const body = '5\r\nhello\r\n00001; a="b;c"\r\n \r\nA\r\n\r\n0123456\n\r\n0;x\r\nTrailer: 1\r\nOther:2\r\n\r\n'

describe('ChunkedDecoder', () => {
  test('takes a body apart and leaves what comes after it', () => {
    expect(decode(`${body}GET / HTTP/1.1`)).toEqual({ data: 'hello \r\n0123456\n', taken: body.length, isDone: true })
    expect(decode(body.slice(0, -2)).isDone).toBe(false)
  })

  test('gives the same for every way of cutting the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(decode(`${body}rest`, cuts)).toEqual(decode(`${body}rest`))
      }),
    )
  })

  test('gives back what was put in', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })), fc.array(fc.nat()), (pieces, cuts) => {
        const texts = pieces.map((piece) => Buffer.from(piece).toString('latin1'))
        const text = `${texts.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`
        expect(decode(text, cuts)).toEqual({ data: texts.join(''), taken: text.length, isDone: true })
      }),
    )
  })

  describe('refuses', () => {
    const table: Record<string, string> = {
      'no size': '\r\n',
      'a size with a sign': '+5\r\nhello\r\n',
      'a size with 0x': '0x5\r\nhello\r\n',
      'a blank before the size': ' 5\r\nhello\r\n',
      'an underscore in the size': '1_0\r\n',
      'a size beyond counting': 'fffffffff\r\n',
      'a bare LF after the size': '5\nhello\r\n',
      'a bare CR after the size': '5\rhello\r\n',
      'a bare LF in an extension': '5;a\nhello\r\n',
      'a bare CR in an extension': '5;a\rb\r\nhello\r\n',
      'a NUL in an extension': '5;\0\r\nhello\r\n',
      'text behind the size': '5 x\r\nhello\r\n',
      'data longer than its size': '4\r\nhello\r\n',
      'a bare LF after data': '5\r\nhello\n',
      'two bytes after data that are no line end': '5\r\nhelloxx',
      'a trailer that is no field': '0\r\nnonsense\r\n\r\n',
      'a folded trailer': '0\r\na: b\r\n c\r\n\r\n',
      'a bare LF in trailers': '0\r\na: b\n\r\n',
      'an endless line': `5;${'x'.repeat(5000)}`,
      'endless extensions': '1;xxxxxxxxxxxxxxxxxxxxxxxx\r\na\r\n'.repeat(1000),
      'endless trailers': `0\r\n${'a: b\r\n'.repeat(200)}`,
    }
    for (const [name, text] of Object.entries(table)) {
      test(name, () => {
        const cuts = [undefined, text.split('').map((_, index) => index)]
        for (const cut of cuts) expect(() => decode(`${text}\r\n\r\n0\r\n\r\n`, cut)).toThrow(HttpProtocolError)
      })
    }
  })

  test('never fails in another way on garbage', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('0', '5', 'a', ';', '\r\n', '\r', '\n', ' ', ':', '\0', '\xff'),
          maxLength: 60,
        }),
        fc.array(fc.nat()),
        (text, cuts) => {
          try {
            decode(text, cuts)
          } catch (error) {
            expect(error).toBeInstanceOf(HttpProtocolError)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
