import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { SystemClock, SystemRandom } from '#base'
import { issueServerCertificate, makeAuthority } from './certificates.ts'
import { connectHttps, describeFailure, type HttpsConnection, type HttpsOptions } from './https-client.ts'
import type { WireResponse } from './transport.ts'

const made = { clock: new SystemClock(), random: new SystemRandom() }
const authority = makeAuthority(made)
const { keyPem: key, certificatePem: cert } = issueServerCertificate(authority, {
  ...made,
  names: ['localhost', '127.0.0.1', 'hook.default.svc'],
})
let server: Server | undefined
const connections = new Map<string, HttpsConnection>()

afterEach(() => {
  for (const connection of connections.values()) connection.close()
  connections.clear()
  server?.closeAllConnections()
  server?.close()
})

async function serve(answer: RequestListener): Promise<number> {
  const begun = (server = createServer({ key, cert }, answer))
  await new Promise<void>((resolve) => {
    begun.listen(0, '127.0.0.1', resolve)
  })
  return (begun.address() as AddressInfo).port
}

function call(
  options: Partial<HttpsOptions> & { origin: string },
  signal = new AbortController().signal,
): Promise<WireResponse> {
  const key = JSON.stringify(options)
  const connection = connections.get(key) ?? connectHttps({ caPem: authority.certificatePem, ...options })
  connections.set(key, connection)
  return connection.transport({
    method: 'POST',
    target: '/x?y=1',
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from('hello'),
    signal,
  })
}

const echo: RequestListener = (request, response) => {
  request.on('data', (piece: Buffer) => {
    response.end(
      `${request.method ?? ''} ${request.url ?? ''} ${request.headers.host?.split(':')[0] ?? ''} ${piece.toString()}`,
    )
  })
}

describe('connectHttps', () => {
  test.each(['127.0.0.1', 'localhost'])('calls %s and keeps the connection for the next call', async (host) => {
    const sockets = new Set()
    const port = await serve((request, response) => {
      sockets.add(request.socket)
      echo(request, response)
    })
    for (let round = 0; round < 3; round++) {
      const { status, body } = await call({ origin: `https://${host}:${port}` })
      expect([status, Buffer.from(body as Uint8Array).toString()]).toEqual([200, `POST /x?y=1 ${host} hello`])
    }
    expect(sockets.size).toBe(1)
  })

  test('connects to another address, and checks the certificate against the name', async () => {
    const port = await serve(echo)
    const { body } = await call({ origin: 'https://hook.default.svc', address: { host: '127.0.0.1', port } })
    expect(Buffer.from(body as Uint8Array).toString()).toContain(' hook.default.svc ')
    await expect(call({ origin: 'https://other.default.svc', address: { host: '127.0.0.1', port } })).rejects.toThrow(
      'x509: certificate is not valid',
    )
  })

  test('trusts the given server certificate itself, and no other of its authority', async () => {
    const port = await serve(echo)
    const other = issueServerCertificate(authority, { ...made, names: ['localhost', '127.0.0.1'] })
    expect((await call({ origin: `https://127.0.0.1:${port}`, caPem: cert })).status).toBe(200)
    await expect(call({ origin: `https://127.0.0.1:${port}`, caPem: other.certificatePem })).rejects.toThrow(
      'x509: certificate signed by unknown authority',
    )
  })

  test('follows no redirect, limits the response size and checks certificates', async () => {
    const port = await serve((_, response) => {
      response.writeHead(302, { location: 'https://localhost:1/' })
      response.end('x'.repeat(1000))
    })
    const origin = `https://127.0.0.1:${port}`
    expect((await call({ origin, bytesMax: 1000 })).status).toBe(302)
    await expect(call({ origin, bytesMax: 999 })).rejects.toThrow('the response is larger than 999 bytes')
    await expect(call({ origin, caPem: makeAuthority(made).certificatePem })).rejects.toThrow(
      'x509: certificate signed by unknown authority',
    )
    expect(() => connectHttps({ origin: 'http://127.0.0.1' })).toThrow('the origin must be an https URL')
  })

  test('ends a call with the signal, and describes other failures', async () => {
    const stop = new AbortController()
    const port = await serve((_, response) => {
      response.flushHeaders()
      stop.abort(new Error('enough'))
    })
    await expect(call({ origin: `https://127.0.0.1:${port}` }, stop.signal)).rejects.toThrow('enough')
    await expect(call({ origin: `https://127.0.0.1:${port}` }, stop.signal)).rejects.toThrow('enough')
    server?.closeAllConnections()
    server?.close()
    connections.clear()
    await expect(call({ origin: `https://127.0.0.1:${port}` })).rejects.toThrow(
      `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    )
  })

  test('retries once when the server closed an idle connection', async () => {
    let calls = 0
    const port = await serve((request, response) => {
      if (++calls === 2) request.socket.destroy()
      else echo(request, response)
    })
    const origin = `https://127.0.0.1:${port}`
    expect([(await call({ origin })).status, (await call({ origin })).status]).toEqual([200, 200])
    expect(calls).toBe(3)
  })
})

describe('row 11: calls cannot reach addresses that only this machine may reach', () => {
  const sockets: string[] = []

  test.each([
    '169.254.169.254',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::169.254.169.254]',
    '[2002:a9fe:a9fe::1]',
    '[::a9fe:a9fe]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '0.0.0.0',
    '[::]',
  ])('%s is not called', async (host) => {
    await expect(call({ origin: `https://${host}` })).rejects.toThrow(
      'link-local and metadata addresses are not called',
    )
    await expect(
      call({ origin: 'https://hook.default.svc', address: { host: host.replace(/[[\]]/g, ''), port: 443 } }),
    ).rejects.toThrow('are not called')
  })

  test('a name that resolves to such an address is refused, also after DNS rebinding', async () => {
    const port = await serve((request, response) => {
      sockets.push(request.url ?? '')
      response.setHeader('connection', 'close')
      echo(request, response)
    })
    const answers = ['127.0.0.1', '169.254.169.254']
    const resolveName = (): Promise<string> => Promise.resolve(answers.shift() ?? '')
    const connection = connectHttps({
      origin: `https://localhost:${port}`,
      caPem: authority.certificatePem,
      resolveName,
    })
    const ask = (): Promise<WireResponse> =>
      connection.transport({
        method: 'POST',
        target: '/',
        headers: {},
        body: Buffer.from('x'),
        signal: new AbortController().signal,
      })
    expect((await ask()).status).toBe(200)
    expect(answers).toEqual(['169.254.169.254'])
    await expect(ask()).rejects.toThrow('dial tcp 169.254.169.254: link-local and metadata addresses are not called')
    expect(sockets).toEqual(['/'])
    connection.close()
  })
})

test('describeFailure has the wording of Go', () => {
  const described = (code: string, message = ''): string =>
    describeFailure(Object.assign(new Error(message), { code }), { host: 'a', port: 1 })
  expect(described('ENOTFOUND')).toBe('dial tcp: lookup a: no such host')
  expect(described('ECONNRESET', 'socket hang up')).toBe('EOF')
  expect(described('CERT_HAS_EXPIRED')).toBe(
    'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
  )
  expect(described('EOTHER', 'else')).toBe('else')
})
