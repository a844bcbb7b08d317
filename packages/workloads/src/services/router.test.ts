/** The router, by HTTP over connections in memory. */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { isServing, Peer, startServices, conditionIn, type ServicePlane } from './services.fixture.ts'

const routerAt = { address: '127.0.0.1', port: 8000 }

/** A plane with a router, and HTTP servers behind the Services of these names. */
async function withRouter(servers: Readonly<Record<string, RequestListener>>) {
  const world = await startServices({ router: { port: routerAt.port } })
  const made: Record<string, Server> = {}
  for (const [index, [name, listener]] of Object.entries(servers).entries()) {
    const server = createServer(listener)
    made[name] = server
    const at = { address: '10.0.0.1', port: 9000 + index }
    world.network.serve(at, (connection) => {
      server.emit('connection', connection)
      connection.resume()
    })
    await world.createService(name, { appProtocol: 'http' })
    await world.createEndpoint(name, { service: name, ...at })
    await world.untilService(name, isServing)
  }
  return { world, servers: made }
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** A request to the router. */
async function ask(
  world: ServicePlane,
  {
    host,
    ...options
  }: {
    readonly host: string
    readonly method?: string
    readonly body?: string
    readonly headers?: Record<string, string>
  },
): Promise<Answer> {
  let answer: Answer | undefined
  let failure: unknown
  const sent = httpRequest({
    createConnection: () => world.network.connect(routerAt),
    path: '/path?query=1',
    method: options.method ?? 'GET',
    headers: { ...options.headers, host },
  })
  sent.on('error', (error) => {
    failure = error
  })
  sent.on('response', (response) => {
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString()))
    response.on('end', () => (answer = { status: response.statusCode, headers: response.headers, text }))
  })
  sent.end(options.body)
  await world.plane.until(() => {
    if (failure) throw failure as Error
    return answer !== undefined
  })
  return answer as Answer
}

const echo =
  (name: string): RequestListener =>
  (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.end(`${name} ${request.method} ${request.url} ${request.headers.host} ${body}`)
    })
  }

describe('the router', () => {
  test('serves a Service by its host name, and shows that in its status', async () => {
    const { world } = await withRouter({ web: echo('web') })
    const service = await world.getService('web')
    expect(service.status?.hostUrl).toBe('http://web.default.localhost:8000')
    expect(conditionIn(service, 'Routed')?.status).toBe('True')
    const { status, text, headers } = await ask(world, {
      host: 'web.default.localhost:8000',
      method: 'POST',
      body: 'hello',
    })
    expect([status, text]).toEqual([200, 'web POST /path?query=1 web.default.localhost:8000 hello'])
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2'])
  })

  test('of one connection each request goes to the Service of its own host', async () => {
    const { world } = await withRouter({ web: echo('web'), api: echo('api') })
    const client = new Peer(world.network.connect(routerAt))
    const hosts = {
      'web.default.localhost': 'web',
      'api.default.localhost': 'api',
      'WEB.default.localhost.:8000': 'web',
    }
    for (const [host, name] of Object.entries(hosts)) {
      client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      await world.plane.until(() => client.received.includes(`${name} GET / ${host}`))
    }
    expect(client.hasEnded).toBe(false)
  })

  test('tells the client who it is, to the endpoint, without headers of the connection', async () => {
    let seen: IncomingMessage['headers'] = {}
    const { world } = await withRouter({
      web: (request, response) => {
        seen = request.headers
        response.end()
      },
    })
    await ask(world, {
      host: 'web.default.localhost',
      headers: {
        connection: 'close, x-private',
        'x-private': 'secret',
        'x-public': 'yes',
        'x-forwarded-for': '10.1.1.1',
      },
    })
    expect(seen).toMatchObject({
      'x-public': 'yes',
      'x-forwarded-host': 'web.default.localhost',
      'x-forwarded-proto': 'http',
    })
    expect(seen['x-private']).toBeUndefined()
    expect(seen['x-forwarded-for']).toMatch(/^10\.1\.1\.1/)
  })

  test('an unknown host gets 404 with what exists; a foreign one learns nothing', async () => {
    const { world } = await withRouter({ web: echo('web') })
    const unknown = await ask(world, { host: 'wep.default.localhost' })
    expect([unknown.status, unknown.text]).toEqual([
      404,
      'No Service is served at "wep.default.localhost". These exist:\n  http://web.default.localhost:8000\n',
    ])
    const foreign = await ask(world, { host: 'attacker.example' })
    expect([foreign.status, foreign.text]).toEqual([
      404,
      '"attacker.example" is not served here: use NAME.NAMESPACE.localhost\n',
    ])
  })

  test('a request waits for an endpoint, and gets 503 after 30 s', async () => {
    const world = await startServices({ router: { port: routerAt.port } })
    await world.createService('web', { appProtocol: 'http' })
    await world.untilService('web', ({ status }) => status?.hostUrl !== undefined)
    const early = ask(world, { host: 'web.default.localhost' })
    await world.plane.advance(31_000)
    expect(await early).toMatchObject({
      status: 503,
      text: expect.stringContaining('waited 30 s for an endpoint') as string,
    })
  })

  test('an endpoint that ends the connection is 502 with the cause', async () => {
    const { world } = await withRouter({ web: (request) => request.socket.destroy() })
    const { status, text } = await ask(world, { host: 'web.default.localhost' })
    expect(status).toBe(502)
    expect(text).toContain('web.default.localhost: its endpoint ended the connection')
  })

  test('an upgrade is passed on in both directions, and a refused one is an answer', async () => {
    const { world, servers } = await withRouter({ web: echo('web') })
    servers['web']?.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.url === '/refused') socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      else {
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhi;`,
        )
        socket.write(head)
        socket.pipe(socket)
      }
    })
    const upgrade = (path: string): Peer =>
      new Peer(world.network.connect(routerAt)).send(
        `GET ${path} HTTP/1.1\r\nHost: web.default.localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\nearly;`,
      )
    const client = upgrade('/')
    await world.plane.until(() => client.received.includes('early;'))
    client.send('later;')
    await world.plane.until(() => client.received.includes('later;'))
    expect(client.received).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n(?:.*\r\n)*\r\nhi;early;later;$/)
    const refused = upgrade('/refused')
    await world.plane.until(() => refused.hasEnded)
    expect(refused.received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n(?:.*\r\n)*\r\nno$/)
    const unknown = new Peer(world.network.connect(routerAt)).send(
      'GET / HTTP/1.1\r\nHost: nothing.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    await world.plane.until(() => unknown.hasEnded)
    expect(unknown.received).toMatch(/^HTTP\/1\.1 404 Not Found/)
  })

  test('a port that is taken is named by its Services, and used when it is free', async () => {
    const world = await startServices({ router: { port: routerAt.port } })
    world.network.serve(routerAt, () => undefined)
    world.host.setListener(routerAt.port, { pid: 7, command: 'nginx' })
    await world.createService('web', { appProtocol: 'http' })
    const service = await world.untilService('web', (one) => conditionIn(one, 'Routed') !== undefined)
    expect(conditionIn(service, 'Routed')).toMatchObject({
      status: 'False',
      reason: 'PortTaken',
      message:
        'the router cannot listen on 127.0.0.1:8000: port 8000 is taken by process 7 (nginx): end it, or choose another port',
    })
    expect(conditionIn(service, 'Listening')?.status).toBe('True')
    world.network.serve(routerAt, undefined)
    await world.plane.advance(2000)
    await world.untilService('web', (one) => conditionIn(one, 'Routed')?.status === 'True')
    await world.createService('own', { port: routerAt.port })
    const refused = await world.untilService('own', (one) => conditionIn(one, 'Listening') !== undefined)
    expect(conditionIn(refused, 'Listening')?.message).toBe('port 8000 belongs to the router: choose another port')
  })
})
