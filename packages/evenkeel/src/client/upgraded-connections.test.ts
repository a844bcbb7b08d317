import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { SystemClock } from '#base'
import { Dialer } from './dialer.ts'
import { UpgradedConnections } from './upgraded-connections.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function connectionsTo(server: Server): Promise<UpgradedConnections> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const dialer = new Dialer({ origin, tls: {}, connectTimeoutMs: 10_000, clock: new SystemClock() })
  const connections = new UpgradedConnections(dialer)
  stops.push(() => {
    connections.destroy()
    server.close()
  })
  return connections
}

const request = (signal = new AbortController().signal) => ({
  method: 'GET',
  target: '/a?b=c',
  headers: { connection: 'Upgrade', upgrade: 'echo' },
  signal,
})

test('bytes go both ways after an upgrade, also those that came with the head', async () => {
  const server = createServer()
  server.on('upgrade', ({ url, headers }, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n${url} ${headers.upgrade};`,
    )
    socket.pipe(socket)
  })
  const { status, body, upgrade } = await (await connectionsTo(server)).request(request())
  expect(status).toBe(101)
  upgrade?.receive(Buffer.from('hello'))
  let text = ''
  for await (const piece of body as AsyncIterable<Uint8Array>)
    if ((text += Buffer.from(piece).toString()).endsWith('hello')) break
  expect(text).toBe('/a?b=c echo;hello')
})

test('a refusal is a response like others, and a signal ends the wait for one', async () => {
  const connections = await connectionsTo(createServer((_, response) => response.writeHead(403).end('no')))
  const { status, upgrade } = await connections.request(request())
  expect([status, upgrade]).toEqual([403, undefined])
  const silent = await connectionsTo(createServer(() => undefined))
  const stop = new AbortController()
  const waiting = silent.request(request(stop.signal))
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})
