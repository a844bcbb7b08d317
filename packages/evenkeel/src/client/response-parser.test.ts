import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ResponseParser } from './response-parser.ts'

interface Read {
  readonly head: unknown
  readonly data: string
  readonly isDone: boolean
}

/** Reads an answer in pieces; the memory of each is used again. */
function read(
  text: string,
  { sizes = [Infinity], end = false }: { sizes?: readonly number[]; end?: boolean } = {},
): Read {
  const bytes = Buffer.from(text, 'latin1')
  let head: unknown
  let data = ''
  const reader = new ResponseParser({
    onHead: (given) => {
      head = given
    },
    onData: (given) => {
      data += Buffer.from(given).toString('latin1')
    },
  })
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const piece = Buffer.from(bytes.subarray(at, at + (sizes[index % sizes.length] ?? 1)))
    at += piece.length
    reader.feed(piece)
    piece.fill('?')
  }
  if (end) reader.end()
  return { head, data, isDone: reader.isDone }
}

const ok = 'HTTP/1.1 200 OK\r\n'

describe('ResponseParser', () => {
  test('gives the same response however the bytes are cut', () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0', ';'), minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.array(chunk),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        fc.boolean(),
        (chunks, sizes, isLong) => {
          const body = chunks
            .map((text) => `${text.length.toString(16)}${isLong ? ';name="x"' : ''}\r\n${text}\r\n`)
            .join('')
          const text = `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ok}Transfer-Encoding: chunked\r\nX-A:  one \r\nx-a: two\r\n\r\n${body}0\r\ntrailer: x\r\n\r\nnot ours`
          expect(read(text, { sizes })).toEqual({
            head: { status: 200, headers: { 'transfer-encoding': 'chunked', 'x-a': 'one, two' }, isPersistent: true },
            data: chunks.join(''),
            isDone: true,
          })
        },
      ),
    )
  })

  test('knows the end by a length, by the status, or by the end of the connection', () => {
    expect(read(`${ok}content-length: 3\r\n\r\nabcd`)).toMatchObject({ data: 'abc', isDone: true })
    expect(read(`${ok}content-length: 0\r\n\r\n`)).toMatchObject({ data: '', isDone: true })
    expect(read('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ data: '', isDone: true })
    expect(read('HTTP/1.0 200\r\n\r\nabc')).toMatchObject({ data: 'abc', isDone: false })
    expect(read('HTTP/1.0 200\r\n\r\nabc', { end: true })).toMatchObject({ data: 'abc', isDone: true })
  })

  test('a response that ends too early is an error', () => {
    expect(() => read('', { end: true })).toThrow('before it responded')
    for (const rest of [
      'content-length: 3\r\n\r\nab',
      'transfer-encoding: chunked\r\n\r\n5\r\nab',
      'transfer-encoding: chunked\r\n\r\n2\r\nab\r\n',
    ])
      expect(() => read(`${ok}${rest}`, { end: true })).toThrow('in the middle')
  })

  test.for([
    ['content-length: 0', true],
    ['connection: keep-alive\r\ncontent-length: 0', true],
    ['connection: close\r\ncontent-length: 0', false],
    ['connection: Upgrade, Close\r\ncontent-length: 0', false],
    ['x: until the end of the connection', false],
  ] as const)('knows from %j whether the connection can be used again', ([fields, isPersistent]) => {
    expect(read(`${ok}${fields}\r\n\r\n`)).toMatchObject({ head: { isPersistent } })
    expect(read(`HTTP/1.0 200 OK\r\n${fields}\r\n\r\n`)).toMatchObject({ head: { isPersistent: false } })
  })

  test('a response to HEAD has no body, whatever its head says', () => {
    for (const fields of ['content-length: 5', 'transfer-encoding: chunked', 'x: y']) {
      const parser = new ResponseParser({ onHead: () => undefined, onData: () => undefined }, { hasBody: false })
      const head = Buffer.from(`${ok}${fields}\r\n\r\n`)
      expect([parser.feed(Buffer.concat([head, Buffer.from('next')])), parser.isDone]).toEqual([head.length, true])
    }
  })

  test.each([
    ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['no status', 'HTTP/1.1 999 X\r\n\r\n'],
    ['a line that goes on', `${ok}a: b\r\n c\r\n\r\n`],
    ['a field without a name', `${ok}: b\r\n\r\n`],
    ['a bare line feed', `${ok}a: b\nc: d\r\n\r\n`],
    ['another coding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['two lengths', `${ok}content-length: 3\r\ncontent-length: 4\r\n\r\n`],
    ['a length and chunks', `${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a length below nothing', `${ok}content-length: -1\r\n\r\n`],
    ['a chunk without a size', `${ok}transfer-encoding: chunked\r\n\r\nx\r\n`],
    ['a chunk that is longer', `${ok}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n`],
    ['a size too large', `${ok}transfer-encoding: chunked\r\n\r\n1234567890abc\r\n`],
    ['a line without an end', `${ok}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(5000)}`],
    ['a size line without CR', `${ok}transfer-encoding: chunked\r\n\r\n1\nab`],
    ['a head without an end', `${ok}a: ${'x'.repeat(70_000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => read(text)).toThrow(Error)
    expect(() => read(text, { sizes: [7] })).toThrow(Error)
  })

  test('a header may be called anything', () => {
    expect(JSON.stringify(read(`${ok}__proto__: x\r\nconstructor: y\r\ncontent-length: 0\r\n\r\n`).head)).toBe(
      '{"status":200,"headers":{"__proto__":"x","constructor":"y","content-length":"0"},"isPersistent":true}',
    )
  })
})
