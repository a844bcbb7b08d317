import { describe, expect, test } from 'vitest'
import { HttpProtocolError } from './http-message.ts'
import { checkUnfinished, parseFields, parseHead, skipEmptyLines } from './http1-head.ts'

const limits = { requestLineBytesMax: 100, headFieldsMax: 4, headBytesMax: 400 }
const parse = (...lines: string[]) => parseHead(lines.join('\r\n'), limits)
const host = 'Host: a'

function statusOf(act: () => unknown): number | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof HttpProtocolError) return error.status
    throw error
  }
}

describe('parseHead', () => {
  test('takes the targets that the RFC knows', () => {
    const table: [string, string, string][] = [
      ['GET /a%20b?c=d&e HTTP/1.1', '/a%20b?c=d&e', 'a'],
      ['GET //a/../b HTTP/1.1', '//a/../b', 'a'],
      ['OPTIONS * HTTP/1.1', '*', 'a'],
      ['GET http://other:80/x?y HTTP/1.1', '/x?y', 'other:80'],
      ['GET HTTPS://other HTTP/1.1', '/', 'other'],
      ['GET http://other?y HTTP/1.1', '/?y', 'other'],
    ]
    for (const [line, target, expectedHost] of table) {
      const head = parse(line, host)
      expect([head.target, head.headers['host']], line).toEqual([target, expectedHost])
    }
  })

  test('joins repeated fields, trims blanks, keeps strange names and bytes', () => {
    const { headers } = parse('GET / HTTP/1.1', 'HOST: \t a\t ', 'X:', 'x: \xfc', '__proto__: 1')
    expect(Object.entries(headers)).toEqual([
      ['host', 'a'],
      ['x', ', \xfc'],
      ['__proto__', '1'],
    ])
    expect(headers['constructor']).toBeUndefined()
    expect(parse('GET / HTTP/1.1', host, 'Cookie: a=1', 'Cookie: b=2').headers['cookie']).toBe('a=1; b=2')
  })

  test('knows whether the connection goes on', () => {
    const table: [string, string, boolean][] = [
      ['HTTP/1.1', 'X: 1', true],
      ['HTTP/1.1', 'Connection: Close', false],
      ['HTTP/1.1', 'Connection: te, close', false],
      ['HTTP/1.1', 'Connection: keep-alive', true],
      ['HTTP/1.0', 'X: 1', false],
      ['HTTP/1.0', 'Connection: Keep-Alive', true],
    ]
    for (const [version, field, expected] of table)
      expect(parse(`GET / ${version}`, host, field).isKeepAlive, `${version} ${field}`).toBe(expected)
  })

  test('knows how long the body is', () => {
    expect(parse('GET / HTTP/1.1', host).length).toBe(0)
    expect(parse('GET / HTTP/1.1', host, 'Content-Length: 007').length).toBe(7)
    expect(parse('GET / HTTP/1.1', host, 'Transfer-Encoding: Chunked').length).toBe('chunked')
  })

  test('knows who waits for a word', () => {
    expect(parse('PUT / HTTP/1.1', host, 'Expect: 100-Continue').expectsContinue).toBe(true)
    expect(parse('PUT / HTTP/1.0', host, 'Expect: 100-continue').expectsContinue).toBe(false)
  })

  describe('refuses what two readers could take differently', () => {
    const table: Record<string, [number, ...string[]]> = {
      'length and chunks': [400, 'POST / HTTP/1.1', host, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
      'chunks and length': [400, 'POST / HTTP/1.1', host, 'Transfer-Encoding: chunked', 'Content-Length: 5'],
      'two lengths': [400, 'POST / HTTP/1.1', host, 'Content-Length: 5', 'Content-Length: 6'],
      'two equal lengths': [400, 'POST / HTTP/1.1', host, 'Content-Length: 5', 'Content-Length: 5'],
      'a list of lengths': [400, 'POST / HTTP/1.1', host, 'Content-Length: 5, 5'],
      'a length with a sign': [400, 'POST / HTTP/1.1', host, 'Content-Length: +5'],
      'a negative length': [400, 'POST / HTTP/1.1', host, 'Content-Length: -1'],
      'a hexadecimal length': [400, 'POST / HTTP/1.1', host, 'Content-Length: 0x5'],
      'an empty length': [400, 'POST / HTTP/1.1', host, 'Content-Length: '],
      'a length beyond counting': [400, 'POST / HTTP/1.1', host, 'Content-Length: 9999999999999999'],
      'a length with a blank inside': [400, 'POST / HTTP/1.1', host, 'Content-Length: 1 2'],
      'another coding': [501, 'POST / HTTP/1.1', host, 'Transfer-Encoding: gzip'],
      'another coding, then chunks': [501, 'POST / HTTP/1.1', host, 'Transfer-Encoding: gzip, chunked'],
      'chunks, then another coding': [501, 'POST / HTTP/1.1', host, 'Transfer-Encoding: chunked, identity'],
      'chunks twice': [400, 'POST / HTTP/1.1', host, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      'a coding that looks like chunks': [501, 'POST / HTTP/1.1', host, 'Transfer-Encoding: xchunked'],
      'a coding with a vertical tab': [400, 'POST / HTTP/1.1', host, 'Transfer-Encoding: \vchunked'],
      'an empty coding': [501, 'POST / HTTP/1.1', host, 'Transfer-Encoding: '],
      'chunks in HTTP/1.0': [400, 'POST / HTTP/1.0', host, 'Transfer-Encoding: chunked'],
      'a blank before the colon': [400, 'POST / HTTP/1.1', host, 'Content-Length : 5'],
      'a folded line': [400, 'GET / HTTP/1.1', host, 'X: 1', ' folded'],
      'a folded first line': [400, 'GET / HTTP/1.1', ' Host: a'],
      'a line without a colon': [400, 'GET / HTTP/1.1', host, 'nonsense'],
      'a line whose colon is on the next': [400, 'GET / HTTP/1.1', 'nonsense', host],
      'a field without a name': [400, 'GET / HTTP/1.1', host, ': x'],
      'a name with a strange byte': [400, 'GET / HTTP/1.1', host, 'X\xfc: 1'],
      'a bare LF in a value': [400, 'GET / HTTP/1.1', host, 'X: 1\nContent-Length: 5'],
      'a bare CR in a value': [400, 'GET / HTTP/1.1', host, 'X: 1\rContent-Length: 5'],
      'a NUL in a value': [400, 'GET / HTTP/1.1', host, 'X: 1\0'],
      'a bare LF after the request line': [400, 'GET / HTTP/1.1\nHost: a'],
      'no host': [400, 'GET / HTTP/1.1', 'X: 1'],
      'two hosts': [400, 'GET / HTTP/1.1', host, 'Host: b'],
      'two tokens': [400, 'GET / HTTP/1.1', host, 'Authorization: a', 'Authorization: b'],
    }
    for (const [name, [status, ...lines]] of Object.entries(table))
      test(name, () => {
        expect(statusOf(() => parse(...lines))).toBe(status)
      })
  })

  describe('refuses request lines that are not exactly right', () => {
    const table: Record<string, number> = {
      '': 400,
      GET: 400,
      'GET /': 400,
      'GET / ': 400,
      'GET  / HTTP/1.1': 400,
      'GET / HTTP/1.1 ': 400,
      ' GET / HTTP/1.1': 400,
      'GET /a b HTTP/1.1': 400,
      'GET\t/\tHTTP/1.1': 400,
      'get / HTTP/1.1': 400,
      'G@T / HTTP/1.1': 400,
      'GET / http/1.1': 400,
      'GET / HTTP/11': 400,
      'GET / HTTP/1.1x': 400,
      'GET / HTTP/1.2': 505,
      'GET / HTTP/2.0': 505,
      'PRI * HTTP/2.0': 505,
      'GET a HTTP/1.1': 400,
      'GET * HTTP/1.1': 400,
      'GET /#x HTTP/1.1': 400,
      'GET /\xfc HTTP/1.1': 400,
      'GET ftp://a/ HTTP/1.1': 400,
      'GET http:/// HTTP/1.1': 400,
      'CONNECT a:80 HTTP/1.1': 405,
      [`GET /${'x'.repeat(100)} HTTP/1.1`]: 414,
      [`${'A'.repeat(40)} / HTTP/1.1`]: 400,
    }
    for (const [line, status] of Object.entries(table))
      test(JSON.stringify(line.slice(0, 40)), () => {
        expect(statusOf(() => parse(line, host))).toBe(status)
      })
  })

  test('bounds the number of fields', () => {
    expect(statusOf(() => parse('GET / HTTP/1.1', host, 'a: 1', 'b: 1', 'c: 1'))).toBeUndefined()
    expect(statusOf(() => parse('GET / HTTP/1.1', host, 'a: 1', 'b: 1', 'c: 1', 'd: 1'))).toBe(431)
    expect(statusOf(() => parse('GET / HTTP/1.1', host, 'Expect: a-miracle'))).toBe(417)
  })
})

test('parseFields reads the lines from where it is told', () => {
  expect({ ...parseFields('xx a: b', 3, 1) }).toEqual({ a: 'b' })
})

test('skipEmptyLines skips whole line ends only', () => {
  expect(skipEmptyLines(Buffer.from('\r\n\r\nGET')).toString()).toBe('GET')
  expect(skipEmptyLines(Buffer.from('\rGET')).toString()).toBe('\rGET')
})

test('checkUnfinished refuses as soon as no end can make it right', () => {
  const check = (text: string): number | undefined =>
    statusOf(() => {
      checkUnfinished(Buffer.from(text), limits)
    })
  expect(check('GET / HTT')).toBeUndefined()
  expect(check('GET / HTTP/1.1\r\nHost: a\r\n')).toBeUndefined()
  expect(check('GET / HTTP/1.1\n')).toBe(400)
  expect(check('\n')).toBe(400)
  expect(check('G'.repeat(101))).toBe(414)
  expect(check(`GET /${'x'.repeat(100)}\r\n`)).toBe(414)
  expect(check(`GET / HTTP/1.1\r\n${'x'.repeat(400)}`)).toBe(431)
})
