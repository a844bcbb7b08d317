/**
 * Requests whose body never comes, against a whole server with sockets: the answer to a caller without credentials or
 * permission does not wait for it. Nobody without credentials makes the server gather a body.
 */
import { connect, type ClientHttp2Session } from 'node:http2'
import { once } from 'node:events'
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from './client.fixture.ts'
import { RawClient } from './listen/raw-client.fixture.ts'
import { quiet } from './listen/turns.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
/** Bodies up to 64 KiB were once gathered before the caller was known. */
const lengths = ['content-length: 60000', 'content-length: 3000000', 'transfer-encoding: chunked']

const callers: readonly (readonly [string, string | undefined, number])[] = [
  ['without a token', undefined, 401],
  ['with a wrong token', 'Bearer wrong', 401],
  ['without permission', 'Bearer secret', 403],
]

let plain: TestServer
let secure: TestServer
let session: ClientHttp2Session

beforeAll(async () => {
  const authentication = { tokens: { secret: { name: 'ada', groups: ['system:authenticated'] } } }
  plain = await TestServer.start({ listen: { tls: false }, authentication, authorization: 'rbac' })
  secure = await TestServer.start({ listen: {}, authentication, authorization: 'rbac' })
  const { url = '', caPem } = secure.server.address ?? {}
  session = connect(url, { ca: caPem })
})
afterAll(async () => {
  session.destroy()
  await Promise.all([plain, secure].map(({ server }) => server.stop({ graceMs: 0 })))
})

describe.each(callers)('row 13: a POST %s is answered while its body is unsent', (_, authorization, status) => {
  test.each(lengths)('over HTTP/1.1, with %s', async (length) => {
    const { url = '' } = plain.server.address ?? {}
    const credentials = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
    const client = new RawClient(url)
    client.send(
      `POST ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\n${credentials}Content-Type: application/json\r\n${length}\r\n\r\n`,
    )
    expect(await Promise.race([client.until('\r\n\r\n'), quiet()])).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    client.socket.destroy()
  })

  test.each(lengths.slice(0, 2))('over HTTP/2, with %s', async (length) => {
    const [name = '', value = ''] = length.split(': ')
    const stream = session.request({
      ':method': 'POST',
      ':path': maps,
      'content-type': 'application/json',
      [name]: value,
      ...(authorization !== undefined && { authorization }),
    })
    stream.on('error', () => undefined)
    const answered = once(stream, 'response') as Promise<[Record<string, unknown>]>
    const answer = await Promise.race([answered, quiet()])
    assert(answer, 'there is no answer')
    expect(answer[0][':status']).toBe(status)
    stream.close()
  })
})

test('row 13: the body of a caller with permission is waited for', async () => {
  const { url = '', token } = plain.server.address ?? {}
  const client = new RawClient(url)
  const text = JSON.stringify({ metadata: { name: 'late' } })
  client.send(
    `POST ${maps} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`,
  )
  expect(await Promise.race([client.until('\r\n\r\n'), quiet()])).toBe(false)
  client.send(text)
  expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 201 /)
  client.socket.destroy()
})
