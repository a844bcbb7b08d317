/** Services with real sockets, on a real plane. */
import { createHash } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Process } from '../process-kind.ts'
import { ProcessSet } from '../sets/set-kind.ts'
import { startReal } from '../plane.fixture.ts'
import { joinConnections } from './connection-pair.ts'
import type { Connection } from './network.ts'
import { OsNetwork } from './os-network.ts'
import { Endpoint, Service, type ServiceObject } from './service-kind.ts'

const keyOf = (name: string) => ({ name, namespace: 'default' })
const clock = new SystemClock()
const patience = { timeoutMs: 60_000 }

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A Service on this machine, with an endpoint in this process. */
async function serviceFor(server: Server | undefined, spec: object = {}) {
  const world = await startReal()
  await world.client.create(Service, { metadata: keyOf('web'), spec } as never)
  if (server)
    await world.client.create(Endpoint, {
      metadata: keyOf('web'),
      spec: { service: 'web', port: await portOf(server) },
    } as never)
  let service: ServiceObject | undefined
  await world.plane.until(async () => {
    service = (await world.client.get(Service, keyOf('web'))) as ServiceObject
    return service.status?.url !== undefined && service.status.endpoints === (server ? 1 : 0)
  }, patience)
  const { address = '', port = 0, url = '' } = service?.status ?? {}
  return { world, url, connect: () => connect({ host: address, port, allowHalfOpen: true }) }
}

/** What a socket receives until its end. */
function readAll(socket: Duplex): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('end', () => {
      resolve(Buffer.concat(chunks).toString())
    })
  })
}

describe('a Service on this machine', () => {
  test('W18: a client that connects before the process is up gets its answer', async () => {
    const { world, url } = await serviceFor(undefined, {
      appProtocol: 'http',
      selector: { matchLabels: { app: 'web' } },
    })
    const early = fetch(`${url}/early`)
    const program = `
      const server = require('node:http').createServer((request, response) => response.end('answered ' + request.url))
      server.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'))`
    await world.client.create(Process, {
      metadata: { ...keyOf('web-1'), labels: { app: 'web' } },
      spec: {
        command: [process.execPath, '-e', program],
        ports: [{ name: 'http', env: 'PORT' }],
        probes: { readiness: { logLine: { contains: 'listening' }, periodSeconds: 0.05 } },
      },
    } as never)
    expect(await (await early).text()).toBe('answered /early')
  })

  test('200 connections at once are passed on, each with its own answer', async () => {
    const server = createHttpServer((request, response) => response.end(request.url))
    const { url } = await serviceFor(server, { appProtocol: 'http' })
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`)
    const texts = await Promise.all(paths.map(async (path) => (await fetch(url + path)).text()))
    expect(texts).toEqual(paths)
  })

  test('a WebSocket upgrade and what follows is passed on', async () => {
    const server = createHttpServer()
    server.on('upgrade', (_: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      socket.write(head)
      socket.pipe(socket)
    })
    const { connect: open } = await serviceFor(server, { appProtocol: 'http' })
    const client = open()
    client.end('GET / HTTP/1.1\r\nHost: web\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframes')
    expect(await readAll(client)).toMatch(/^HTTP\/1\.1 101 (?:.*\r\n)+\r\nframes$/)
  })

  test('a client that has ended its direction still gets the whole answer', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      void readAll(socket).then((question) => socket.end(`${question} answered`))
    })
    const { connect: open } = await serviceFor(server)
    const client = open()
    client.end('question')
    expect(await readAll(client)).toBe('question answered')
  })

  test('64 MiB reach a slow reader unchanged', async () => {
    const sent = Buffer.alloc(64 << 20, 'evenkeel ')
    const server = createServer((socket) => {
      socket.end(sent)
    })
    const { connect: open } = await serviceFor(server)
    const digest = createHash('sha256')
    // An iterator reads when it is asked: each turn of the loop lets others run first.
    for await (const chunk of open() as AsyncIterable<Buffer>) {
      digest.update(chunk)
      await nextTurn(clock)
    }
    expect(digest.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'))
  })
})

describe('joined connections', () => {
  test('hold back a writer that is faster than its reader: memory is bounded', async () => {
    const sent = 64 << 20
    const endpoint = createServer((socket) => {
      socket.end(Buffer.alloc(sent))
    })
    const port = await portOf(endpoint)
    const dialled = await new OsNetwork().connections.dial(
      { address: '127.0.0.1', port },
      { signal: new AbortController().signal },
    )
    const accepted = await new Promise<{ readonly client: Socket; readonly server: Connection }>((resolve) => {
      const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
        resolve({ client, server: socket })
      })
      let client: Socket
      void portOf(server).then((own) => {
        client = connect(own, '127.0.0.1')
      })
    })
    const isHeldBack = new Promise((resolve) => dialled.once('pause', resolve))
    joinConnections(accepted.server, dialled)
    let held = 0
    dialled.on('data', () => {
      held = Math.max(held, accepted.server.writableLength + dialled.readableLength)
    })
    // Nothing reads: the buffers of the kernel get full, then ours.
    await isHeldBack
    let received = 0
    for await (const chunk of accepted.client as AsyncIterable<Buffer>) received += chunk.length
    expect(received).toBe(sent)
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(1 << 20)
  })
})

describe('OsNetwork', () => {
  test('names a port that is taken, and listens again where it listens already', async () => {
    const taken = createServer()
    const at = { address: '127.0.0.1', port: await portOf(taken) }
    const network = new OsNetwork()
    expect(await network.listen(at)).toMatchObject({ reason: 'PortTaken' })
    await new Promise((resolve) => taken.close(resolve))
    expect(await network.listen(at)).toBeUndefined()
    expect(await network.listen(at)).toBeUndefined()
    await network.unlisten(at)
    await network.unlisten(at)
    expect(await network.listen({ address: '192.0.2.1', port: at.port })).toMatchObject({
      reason: 'AddressNotAvailable',
    })
  })
})

/** Answers with its version. After SIGTERM it goes on until its endpoint is withdrawn, as a server behind any proxy has to. */
const versioned = `
const { createServer } = require('node:http')
const server = createServer((_, response) => response.end(process.env.VERSION)).listen(process.env.PORT, '127.0.0.1')
process.on('SIGTERM', () => setTimeout(() => server.close(() => process.exit(0)), 300))`

test('W21: four replicas that roll behind a Service under requests: none fails', async () => {
  const { client, plane } = await startReal()
  const template = (version: string) => ({
    metadata: { labels: { app: 'web' } },
    spec: {
      command: [process.execPath, '-e', versioned],
      env: [{ name: 'VERSION', value: version }],
      ports: [{ name: 'http', env: 'PORT' }],
      probes: { readiness: { http: { port: 'http' }, periodSeconds: 0.05 } },
    },
  })
  await client.create(ProcessSet, { metadata: keyOf('web'), spec: { replicas: 4, template: template('one') } } as never)
  await client.create(Service, {
    metadata: keyOf('web'),
    spec: { selector: { matchLabels: { app: 'web' } }, targetPort: 'http', appProtocol: 'http' },
  } as never)
  const service = async () => (await client.get(Service, keyOf('web'))).status
  await plane.until(async () => (await service())?.endpoints === 4, patience)
  const url = (await service())?.url ?? ''
  const versions = new Set<string>()
  const failures: string[] = []
  const over = new AbortController()
  const ask = async (): Promise<void> => {
    while (!over.signal.aborted)
      try {
        versions.add(await (await fetch(url, { headers: { connection: 'close' } })).text())
      } catch (error) {
        failures.push(String((error as Error).cause ?? error))
      }
  }
  const clients = [ask(), ask(), ask(), ask()]
  await client.patch(await client.get(ProcessSet, keyOf('web')), { spec: { template: template('two') } } as never)
  await plane.until(async () => {
    const { status, metadata } = await client.get(ProcessSet, keyOf('web'))
    const { observedGeneration, updatedReplicas, readyReplicas, replicas } = status ?? {}
    return (
      observedGeneration === metadata.generation && [updatedReplicas, readyReplicas, replicas].every((n) => n === 4)
    )
  }, patience)
  over.abort()
  await Promise.all(clients)
  expect(failures).toEqual([])
  expect([...versions].sort()).toEqual(['one', 'two'])
}, 120_000)
