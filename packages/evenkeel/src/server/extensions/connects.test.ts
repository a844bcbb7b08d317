import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { ApiError, defineKind } from '#api'
import { deferred, nextTurn, SystemClock } from '#base'
import { webSocketMessage } from '#wire'
import { TestServer } from '../client.fixture.ts'
import type { ServerOptions } from '../server-options.ts'
import type { ConnectRequest, TerminalSize } from './command-connection.ts'
import { RawConnection } from './connects.fixture.ts'
import type { ConnectHandler } from './connects.ts'

const Website = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Website',
  spec: { type: 'object', properties: { image: { type: 'string' } } },
})
const websites = '/apis/demo.example.com/v1/namespaces/default/websites'
const home = { apiVersion: 'demo.example.com/v1', kind: 'Website', metadata: { name: 'home' }, spec: { image: 'a' } }
const mask = Uint8Array.of(1, 2, 3, 4)

const servers: TestServer[] = []
afterEach(async () => {
  for (const { server } of servers.splice(0)) await server.stop({ graceMs: 0 })
})

interface Served {
  readonly server: TestServer
  open(query?: string, more?: Partial<ConstructorParameters<typeof RawConnection>[0]>): RawConnection
}

async function serve(exec: ConnectHandler, options: ServerOptions = {}): Promise<Served> {
  const server = await TestServer.start({
    kinds: [Website],
    customResources: [{ kind: Website, connects: { exec } }],
    listen: { tls: false },
    ...options,
  })
  servers.push(server)
  await server.ask('POST', websites, { body: home })
  const { port = 0, token = '' } = server.server.address ?? {}
  return {
    server,
    open: (query = '', more = {}) =>
      new RawConnection({ port, token, path: `${websites}/home/exec?${query}`, ...more }),
  }
}

/** Writes its input in capitals; the exit code is the number of its bytes. */
const shout: ConnectHandler = async (_, { stdin, stdout }) => {
  let exitCode = 0
  for await (const piece of stdin) {
    exitCode += piece.length
    await stdout.write(Buffer.from(Buffer.from(piece).toString().toUpperCase()))
  }
  return { exitCode }
}

async function connectsOf({ server }: Served): Promise<string | undefined> {
  const { text } = await server.ask('GET', '/metrics')
  return /^apiserver_longrunning_requests\{verb="CONNECT"\} (\d+)$/m.exec(text)?.[1]
}

test('a handler gets the object and the options, and its exit code is the outcome', async () => {
  let asked: ConnectRequest | undefined
  let image: unknown
  const served = await serve(async (object, request) => {
    asked = request
    image = (object['spec'] as { image?: unknown }).image
    await request.stdout.write(Buffer.from('out'))
    await request.stderr.write(Buffer.from('err'))
    return { exitCode: 7 }
  })
  const client = served.open('command=ls&command=-l&container=main')
  expect(await client.outcome()).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: exit status 7',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '7' }] },
  })
  expect([client.text(1), client.text(2)]).toEqual(['out', 'err'])
  expect(client.head).toMatch(/^HTTP\/1\.1 101 /)
  expect(client.head).toContain('sec-websocket-protocol: v5.channel.k8s.io')
  expect([asked?.command, asked?.container, asked?.tty, image]).toEqual([['ls', '-l'], 'main', false, 'a'])
  expect(asked?.user.groups).toContain('system:masters')
})

test('the exit code 0 is a success, an ApiError its own Status, and any other error an InternalError', async () => {
  let outcome: () => Promise<{ exitCode: number }> = () => Promise.resolve({ exitCode: 0 })
  const served = await serve(() => outcome())
  expect(await served.open().outcome()).toMatchObject({ status: 'Success' })
  outcome = () => Promise.reject(new ApiError('BadRequest', 'home has no shell'))
  expect(await served.open().outcome()).toMatchObject({ code: 400, message: 'home has no shell' })
  outcome = () => Promise.reject(new Error('a bug'))
  expect(await served.open().outcome()).toMatchObject({ code: 500, reason: 'InternalError' })
})

describe('stdin', () => {
  test('v5: ends alone, and the output goes on', async () => {
    const client = (await serve(shout)).open('stdin=true')
    client.send(0, 'abc')
    client.send(0, 'de')
    client.send(255, Uint8Array.of(0))
    expect(await client.outcome()).toMatchObject({ details: { causes: [{ message: '5' }] } })
    expect(client.text(1)).toBe('ABCDE')
  })

  test('v4: has no end of its own, so it ends with the connection', async () => {
    const ended = deferred<string>()
    const served = await serve(async (_, { stdin, stdout }) => {
      for await (const piece of stdin) await stdout.write(piece)
      ended.resolve('ended')
      return { exitCode: 0 }
    })
    const client = served.open('stdin=true', { protocol: 'base64.channel.k8s.io, v4.channel.k8s.io' })
    client.send(0, 'abc')
    client.send(255, Uint8Array.of(0))
    client.send(0, 'd')
    await client.until(() => client.text(1) === 'abcd')
    expect(client.head).toContain('sec-websocket-protocol: v4.channel.k8s.io')
    client.socket.destroy()
    expect(await ended.promise).toBe('ended')
  })

  test('is empty when the client did not ask for it, and its bytes are dropped', async () => {
    const client = (await serve(shout)).open('stdin=false')
    client.send(0, 'abc')
    expect(await client.outcome()).toMatchObject({ status: 'Success' })
  })

  test('a message in fragments, with a ping in between, is one message', async () => {
    const client = (await serve(shout)).open('stdin=true')
    const first = webSocketMessage(Buffer.from('\0he'), 'binary', mask)
    first[0] = 0x02
    const last = webSocketMessage(Buffer.from('llo'), 'binary', mask)
    last[0] = 0x80
    for (const byte of Buffer.concat([first, webSocketMessage(Buffer.from('p'), 'ping', mask), last]))
      client.sendRaw(Uint8Array.of(byte))
    await client.until(() => client.text(1) === 'HELLO')
  })

  test('a handler that does not read holds back the client, and not the memory of the server', async () => {
    const opened = deferred<ConnectRequest>()
    const served = await serve(async (_, request) => {
      opened.resolve(request)
      await new Promise((resolve) => {
        request.signal.addEventListener('abort', resolve)
      })
      return { exitCode: 0 }
    })
    const client = served.open('stdin=true')
    const { stdin } = await opened.promise
    const piece = webSocketMessage(Buffer.alloc(60_001), 'binary', mask)
    // More than any buffer of the system holds: the socket of the client fills up.
    while (client.socket.writableLength < 2_000_000) {
      client.sendRaw(piece)
      await soon()
    }
    let taken = 0
    for await (const bytes of stdin) {
      taken += bytes.length
      if (client.socket.writableLength === 0) break
    }
    expect(taken).toBeGreaterThan(2_000_000)
  })
})

test('a client that does not read holds back the handler', async () => {
  let written = 0
  const stalled = deferred<void>()
  const served = await serve(
    async (_, { stdout, signal }) => {
      for (; !signal.aborted; written++) {
        const writing = stdout.write(Buffer.alloc(100_000, 'x'))
        if (written > 0 && !(await isSoonDone(writing))) stalled.resolve()
        await writing
      }
      return { exitCode: 0 }
    },
    { clock: new SystemClock() },
  )
  const client = served.open()
  await client.until(() => client.messages.length > 0)
  client.socket.pause()
  await stalled.promise
  const before = written
  for (let turn = 0; turn < 50; turn++) await soon()
  expect(written - before).toBeLessThan(50)
  client.socket.resume()
  await client.until(() => written > before + 100)
  client.socket.destroy()
})

/** Whether a promise settles within a few turns of the event loop. */
async function isSoonDone(writing: Promise<void>): Promise<boolean> {
  const settled = { isDone: false }
  const settle = (): void => {
    settled.isDone = true
  }
  writing.then(settle, settle)
  for (let turn = 0; turn < 100 && !settled.isDone; turn++) await soon()
  return settled.isDone
}

const soon = (): Promise<void> => nextTurn(new SystemClock())

test('resizes are the sizes of the terminal, and mistakes in them are ignored', async () => {
  const sizes: TerminalSize[] = []
  const served = await serve(async (_, { resizes, stdout, tty }) => {
    await stdout.write(Buffer.from(`tty ${tty}`))
    for await (const size of resizes) {
      sizes.push(size)
      if (size.width === 100) return { exitCode: 0 }
    }
    return { exitCode: 1 }
  })
  const client = served.open('tty=true')
  for (const text of ['{', '[]', '{"Width":-1,"Height":2}', '{"Width":1e9,"Height":2}', '{"Width":80,"Height":24}'])
    client.send(4, text)
  await client.until(() => client.text(1) === 'tty true')
  client.send(4, '{"Width":100,"Height":50}')
  expect(await client.outcome()).toMatchObject({ status: 'Success' })
  expect(sizes.at(-1)).toEqual({ width: 100, height: 50 })
  expect(sizes.length).toBeLessThanOrEqual(2)
})

describe('a connection ends', () => {
  const waiting = async (): Promise<Served & { request: Promise<ConnectRequest>; aborted: Promise<void> }> => {
    const request = deferred<ConnectRequest>()
    const aborted = deferred<void>()
    const served = await serve((_, asked) => {
      request.resolve(asked)
      asked.signal.addEventListener('abort', () => {
        aborted.resolve()
      })
      return new Promise(() => undefined)
    })
    return { ...served, request: request.promise, aborted: aborted.promise }
  }

  test.each<[string, (client: RawConnection) => void]>([
    ['the client closes it', (client) => client.sendRaw(webSocketMessage(new Uint8Array(), 'close', mask))],
    ['the client vanishes', (client) => client.socket.destroy()],
    ['the client ends its side', (client) => client.socket.end()],
    [
      'the client sends a frame without a mask',
      (client) => client.sendRaw(webSocketMessage(Buffer.from('\0a'), 'binary')),
    ],
    [
      'the client continues a message that has not begun',
      (client) => {
        const frame = webSocketMessage(Buffer.from('\0a'), 'binary', mask)
        frame[0] = 0x80
        client.sendRaw(frame)
      },
    ],
  ])('when %s, also when the handler ignores it', async (_, leave) => {
    const served = await waiting()
    const client = served.open('stdin=true')
    await served.request
    expect(await connectsOf(served)).toBe('1')
    leave(client)
    await served.aborted
    expect(await connectsOf(served)).toBe('0')
  })

  test('with the code 1009 when a message is too large, before all of it has come', async () => {
    const served = await waiting()
    const client = served.open('stdin=true')
    await client.until(() => client.head.endsWith('\r\n\r\n'))
    client.sendRaw(webSocketMessage(Buffer.alloc(1_048_577), 'binary', mask).subarray(0, 1000))
    let all = Buffer.alloc(0)
    client.socket.on('data', (piece: Buffer) => {
      all = Buffer.concat([all, piece])
    })
    await served.aborted
    await client.until(() => client.isClosed)
    expect(all.subarray(0, 4)).toEqual(Buffer.from([0x88, 2, 0x03, 0xf1]))
  })

  test('with a Status when the server stops', async () => {
    const served = await waiting()
    const client = served.open()
    await served.request
    const stopped = served.server.server.stop({ graceMs: 60_000 })
    expect(await client.outcome()).toMatchObject({ code: 503, message: 'the server is stopping: connect again' })
    await served.aborted
    await stopped
  })

  test('when the client is silent and gone: it is pinged', async () => {
    const served = await waiting()
    const client = served.open()
    await client.until(() => client.head.endsWith('\r\n\r\n'))
    const pinged = once(client.socket, 'data')
    await served.server.clock.advance(16_000)
    expect((await pinged)[0]).toEqual(Buffer.from([0x89, 0]))
  })

  test('when the client is gone and its input waits for the command: nothing is read then, so it is pinged often', async () => {
    const served = await waiting()
    const client = served.open('stdin=true')
    await served.request
    const left = { isSeen: false }
    void served.aborted.then(() => (left.isSeen = true))
    const pinged = once(client.socket, 'data')
    client.sendRaw(webSocketMessage(Buffer.alloc(100_000), 'binary', mask))
    // Each second one, as soon as the input has come.
    const { clock } = served.server
    const begunMs = clock.monotonic()
    const until = async (isTrue: () => boolean): Promise<void> => {
      for (; !isTrue() && clock.monotonic() - begunMs < 12_000; await clock.advance(100)) await soon()
    }
    let isPinged = false
    void pinged.then(() => (isPinged = true))
    await until(() => isPinged)
    client.socket.destroy()
    await until(() => left.isSeen)
    expect(left.isSeen).toBe(true)
  })
})

describe('row 10: a connection is refused', () => {
  const status = async (client: RawConnection): Promise<string> => {
    await client.until(() => client.head.endsWith('\r\n\r\n'))
    return client.head.slice(9, 12)
  }

  test('without a WebSocket, and with a subprotocol that is not known', async () => {
    const { server, open } = await serve(shout)
    for (const method of ['GET', 'POST'])
      expect((await server.ask(method, `${websites}/home/exec?command=ls`)).json).toMatchObject({
        code: 400,
        message: 'websites/exec needs a connection in both directions: use a WebSocket (GET with Upgrade: websocket)',
      })
    for (const protocol of ['', 'v1.other']) expect(await status(open('', { protocol }))).toBe('400')
    expect((await server.ask('PUT', `${websites}/home/exec`)).status).toBe(405)
  })

  test('without the object, without credentials, and from a foreign web page', async () => {
    const { open } = await serve(shout)
    expect(await status(open('', { path: `${websites}/none/exec` }))).toBe('404')
    expect(await status(open('', { path: `${websites}/home/other` }))).toBe('404')
    expect(await status(open('', { path: `${websites}/home/exec/more` }))).toBe('404')
    expect(await status(open('', { token: 'wrong' }))).toBe('401')
    expect(await status(open('', { more: ['Origin: https://evil.example'] }))).toBe('403')
  })

  test.each([
    [['get'], '403'],
    [['create'], '403'],
    [['get', 'create'], '101'],
  ])('with the permissions %j: %s', async (verbs, expected) => {
    let calls = 0
    const served = await serve(() => Promise.resolve({ exitCode: calls++ }))
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    await served.server.ask('POST', `${roles}/roles`, {
      body: {
        metadata: { name: 'runner' },
        rules: [{ apiGroups: ['demo.example.com'], resources: ['websites/exec'], verbs }],
      },
    })
    await served.server.ask('POST', `${roles}/rolebindings`, {
      body: {
        metadata: { name: 'runner' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'runner' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
      },
    })
    expect(await status(served.open('', { more: ['Impersonate-User: ann'] }))).toBe(expected)
    expect(calls).toBe(expected === '101' ? 1 : 0)
  })
})

test('without a connection of its own a command does not run', async () => {
  let calls = 0
  const served = await serve(() => Promise.resolve({ exitCode: calls++ }), { listen: { tls: false, http: 'node' } })
  const client = served.open()
  await once(client.socket, 'close')
  expect([client.head.slice(9, 12), calls, await connectsOf(served)]).toEqual(['200', 0, '0'])
})

test('discovery and OpenAPI have it, and the audit log its begin and its end', async () => {
  const events: { stage?: string; objectRef?: { subresource?: string } }[] = []
  const { server, open } = await serve(shout, {
    audit: { policy: { rules: [{ level: 'Metadata' }] }, write: (line) => events.push(JSON.parse(line) as object) },
  })
  const { json } = await server.ask('GET', '/apis/demo.example.com/v1')
  expect(json).toMatchObject({
    resources: [
      { name: 'websites' },
      { name: 'websites/exec', kind: 'ConnectOptions', verbs: ['create', 'get'], namespaced: true },
    ],
  })
  const { text } = await server.ask('GET', '/openapi/v3/apis/demo.example.com/v1')
  const paths = (JSON.parse(text) as { paths: Record<string, object> }).paths
  expect(Object.keys(paths[`/apis/demo.example.com/v1/namespaces/{namespace}/websites/{name}/exec`] ?? {})).toEqual(
    expect.arrayContaining(['get', 'post']),
  )
  await open().outcome()
  const stages = events.filter(({ objectRef }) => objectRef?.subresource === 'exec').map(({ stage }) => stage)
  expect(stages).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
})

test('a name that a subresource cannot have is refused at the start', async () => {
  const start = (connects: Record<string, ConnectHandler>, streams = {}): Promise<TestServer> =>
    TestServer.start({ kinds: [Website], customResources: [{ kind: Website, connects, streams }] })
  await expect(start({ status: shout })).rejects.toThrow(
    'Website of demo.example.com cannot have a connection named "status"',
  )
  await expect(start({ log: shout }, { log: () => ({}) })).rejects.toThrow('has log as a stream and as a connection')
})
