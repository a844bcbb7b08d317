import { afterEach, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { connect as connectHttp2 } from 'node:http2'
import { SimulatedClock } from '#base'
import { openMemoryStore, type Store, type Watch } from '#store'
import { TestServer } from './client.fixture.ts'
import { startServer } from './server.ts'
import type { Server, ServerAddress } from './server-options.ts'

const running: Server[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop({ graceMs: 0 })))
})

async function listening(): Promise<ServerAddress> {
  const server = await startServer({ listen: {} })
  running.push(server)
  if (!server.address) throw new Error('it does not listen')
  return server.address
}

interface Reply {
  readonly status: number
  readonly text: string
}

function ask(
  { url, caPem, token }: ServerAddress,
  path: string,
  headers: Record<string, string> = { authorization: `Bearer ${token}` },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      new URL(path, url),
      { ca: caPem, headers, agent: false, servername: 'localhost' },
      (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => {
            text += piece
          })
          .on('end', () => {
            resolve({ status: response.statusCode ?? 0, text })
          })
          .on('error', reject)
      },
    )
    request.on('error', reject).end()
  })
}

/** A store that keeps its open watches in a set. */
function withWatchesIn(open: Set<Watch>): Store {
  const store = openMemoryStore()
  return Object.assign(store, {
    watch: (
      (watchOf) =>
      (...parameters: Parameters<Store['watch']>) => {
        const watch = watchOf(...parameters)
        const close = watch.close.bind(watch)
        open.add(watch)
        return Object.assign(watch, {
          close: () => {
            open.delete(watch)
            close()
          },
        })
      }
    )(store.watch.bind(store)),
  })
}

describe('startServer', () => {
  test('makes the namespaces that everybody expects, once', async () => {
    const store = openMemoryStore()
    for (let start = 0; start < 2; start++) {
      const server = await TestServer.start({ store })
      const { json } = await server.ask('GET', '/api/v1/namespaces')
      expect(
        (json['items'] as unknown as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
      ).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
      expect(json).toMatchObject({ metadata: { resourceVersion: '9' } })
      await server.server.stop()
    }
    await store.close()
  })

  test('lets in who has the token, over HTTP/1.1, and says nothing to others', async () => {
    const address = await listening()
    expect(JSON.parse((await ask(address, '/api/v1/namespaces/default')).text)).toMatchObject({
      kind: 'Namespace',
      metadata: { name: 'default' },
    })
    expect(await ask(address, '/api/v1/namespaces', {})).toMatchObject({ status: 401 })
    expect(await ask(address, '/api/v1/namespaces', { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
    expect(await ask(address, '/nowhere', {})).toMatchObject({ status: 401 })
    expect(await ask(address, '/readyz', {})).toEqual({ status: 200, text: 'ok' })
  })

  test('speaks HTTP/2 on the same port', async () => {
    const { url, caPem, token } = await listening()
    const session = connectHttp2(url, caPem === undefined ? {} : { ca: caPem })
    const stream = session.request({ ':path': '/api/v1/namespaces/default', authorization: `Bearer ${token}` })
    let text = ''
    for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) text += piece
    // The server is about to go: nobody may be left talking to it.
    const closed = once(session, 'close')
    session.close()
    await closed
    expect(JSON.parse(text)).toMatchObject({ kind: 'Namespace' })
  })

  test('refuses calls that a web page of another site makes', async () => {
    const address = await listening()
    const headers = { authorization: `Bearer ${address.token}` }
    expect(await ask(address, '/api', { ...headers, origin: 'https://evil.example.com' })).toMatchObject({
      status: 403,
    })
    expect(await ask(address, '/api', { ...headers, host: 'evil.example.com' })).toMatchObject({ status: 421 })
  })

  test('leaves nothing behind when its port is taken', async () => {
    const { port } = await listening()
    const clock = new SimulatedClock()
    await expect(startServer({ listen: { port }, clock })).rejects.toThrow(/EADDRINUSE/)
    expect(clock.pending).toBe(0)
  })

  test('does not start with a cache of less than nothing', async () => {
    await expect(startServer({ compressedListBytesMax: -1 })).rejects.toThrow('bytesMax must be 0 or more, got -1')
  })

  test('leaves no watch open in a store that is not its own', async () => {
    const open = new Set<Watch>()
    const server = await startServer({ store: withWatchesIn(open), clock: new SimulatedClock() })
    expect(open.size).toBeGreaterThan(1)
    await server.stop()
    expect(open.size).toBe(0)
  })

  test('stops in order: watches end, the port is free, nobody is let in any more', async () => {
    const server = await startServer({ listen: {} })
    const address = server.address as ServerAddress
    const watching = ask(address, '/api/v1/namespaces?watch=true')
    await ask(address, '/api/v1/namespaces/default')
    await server.stop()
    expect((await watching).text.split('\n').filter(Boolean)).toHaveLength(4)
    await expect(ask(address, '/readyz', {})).rejects.toThrow(/ECONNREFUSED/)
  })
})

test('a server that is stopping is not ready, and still alive', async () => {
  const server = await TestServer.start()
  expect(await server.ask('GET', '/readyz')).toMatchObject({ status: 200, text: 'ok' })
  const stopping = server.server.stop()
  expect(await server.ask('GET', '/readyz')).toMatchObject({
    status: 500,
    text: expect.stringContaining('[-]shutdown failed') as unknown,
  })
  expect(await server.ask('GET', '/livez')).toMatchObject({ status: 200 })
  await stopping
})
