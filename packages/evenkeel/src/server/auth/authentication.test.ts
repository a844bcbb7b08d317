import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ConnectionOptions } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { createLogger, SimulatedClock } from '#base'
import { TestServer } from '../client.fixture.ts'
import { Listening } from './callers.fixture.ts'
import { issueClient, makeIdentity } from './identity.ts'

const running: { readonly server: { stop(options?: { graceMs?: number }): Promise<void> } }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop({ graceMs: 0 })))
})

async function start(options: Parameters<typeof Listening.start>[0] = {}): Promise<Listening> {
  const listening = await Listening.start(options)
  running.push(listening)
  return listening
}

const bearer = (token: string): { headers: { authorization: string } } => ({
  headers: { authorization: `Bearer ${token}` },
})

describe('row 4: nobody is anonymous', () => {
  const paths = [
    '/',
    '/api',
    '/apis',
    '/api/v1',
    '/api/v1/namespaces',
    '/api/v1/namespaces/default/secrets',
    '/api/v1/nodes?watch=true',
    '/version',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openid/v1/jwks',
    '/.well-known/openid-configuration',
    '/healthzz',
    '/nowhere',
    '/apis/none.example.com/v1/things',
    '//healthz',
    '/api/v1/../../healthz',
  ]
  const wellPaths = ['/healthz', '/livez', '/readyz', '/livez/ping']

  test('every path but those that say whether the server is well is 401 without credentials', async () => {
    const listening = await start()
    for (const path of paths) expect((await listening.ask({ path })).status, path).toBe(401)
    for (const path of wellPaths) expect(await listening.ask({ path }), path).toMatchObject({ status: 200, text: 'ok' })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect((await listening.ask({ path: '/api/v1/namespaces/default', method })).status, method).toBe(401)
  })

  test('every path is 401 with credentials that nobody knows', async () => {
    const listening = await start()
    for (const authorization of [
      'Bearer wrong',
      'Bearer',
      'Basic YTpi',
      'wrong',
      `Bearer ${listening.identity.token.slice(0, -1)}`,
      `Bearer ${listening.identity.token}x`,
    ]) {
      for (const path of [...paths, ...wellPaths])
        expect((await listening.ask({ path, headers: { authorization } })).status, `${authorization} ${path}`).toBe(401)
    }
  })

  test('when the server lets anonymous callers in, they may do what they were given, and wrong credentials are still wrong', async () => {
    const listening = await start({ authentication: { anonymous: true } })
    expect(await listening.ask({ path: '/api/v1/namespaces' })).toMatchObject({
      status: 403,
      message: expect.stringContaining('User "system:anonymous" cannot list resource "namespaces"'),
    })
    expect((await listening.ask({ path: '/version' })).status).toBe(200)
    expect((await listening.ask({ path: '/version', ...bearer('wrong') })).status).toBe(401)
    expect(
      (await listening.ask({ path: '/version', client: await issueClient(makeIdentity(), { user: 'jane' }) })).status,
    ).toBe(401)
    const open = await start({
      authentication: { anonymous: true },
      authorization: [() => ({ allowed: true, reason: '' })],
    })
    expect((await open.who()).user).toEqual({ username: 'system:anonymous', groups: ['system:unauthenticated'] })
  })
})

test('row 2: a client that trusts this installation alone talks to no other, nor to one past its end or under another name', async () => {
  const past = new SimulatedClock({ startMs: 1_577_836_800_000 })
  const [good, old] = [await start(), await start({ listen: { identity: makeIdentity({ clock: past }) } })]
  const handshake = async (port: number, options: ConnectionOptions): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port, ...options })
    const outcome = await once(socket, 'secureConnect').then(
      () => 'ok',
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    )
    socket.destroy()
    return outcome
  }
  const ca = good.identity.authority.certificatePem
  expect(await handshake(good.port, { ca })).toBe('ok')
  expect(await handshake(good.port, { ca: makeIdentity().authority.certificatePem })).toMatch(
    /SIGNATURE|ISSUER|SELF_SIGNED/,
  )
  expect(await handshake(good.port, { ca, servername: 'evil.example.com' })).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  expect(await handshake(old.port, { ca: old.identity.authority.certificatePem })).toBe('CERT_HAS_EXPIRED')
})

describe('callers are known', () => {
  test('by tokens that were given, in the options or in a file; several may be administrators', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tokens-'))
    await writeFile(join(folder, 'tokens.csv'), 'csv-secret,cy,9,"system:masters,ops"\n')
    const listening = await start({
      authentication: {
        tokenFile: join(folder, 'tokens.csv'),
        tokens: {
          'ann-secret': { name: 'ann', groups: ['system:masters'] },
          'bob-secret': { name: 'bob', groups: [] },
        },
      },
    })
    await rm(folder, { recursive: true })
    expect((await listening.who(bearer('ann-secret'))).user).toEqual({
      username: 'ann',
      groups: ['system:masters', 'system:authenticated'],
    })
    expect((await listening.who(bearer('csv-secret'))).user).toEqual({
      username: 'cy',
      uid: '9',
      groups: ['system:masters', 'ops', 'system:authenticated'],
    })
    expect((await listening.who(bearer(listening.identity.token))).user.username).toBe('evenkeel-admin')
    expect((await listening.ask({ path: '/api/v1/secrets', ...bearer('ann-secret') })).status).toBe(200)
    expect((await listening.ask({ path: '/api/v1/secrets', ...bearer('bob-secret') })).status).toBe(403)
    await expect(Listening.start({ authentication: { tokenFile: join(folder, 'none.csv') } })).rejects.toThrow('ENOENT')
  })

  test('by functions of the embedder, asked last', async () => {
    const listening = await start({
      authentication: {
        authenticators: [
          ({ request }) =>
            request.headers['x-key'] === 'k' && request.signal instanceof AbortSignal
              ? { name: 'kim', groups: ['system:authenticated'] }
              : undefined,
        ],
      },
    })
    expect((await listening.who({ headers: { 'x-key': 'k' } })).user.username).toBe('kim')
    expect(
      (await listening.who({ headers: { 'x-key': 'k', authorization: `Bearer ${listening.identity.token}` } })).user
        .username,
    ).toBe('evenkeel-admin')
    expect((await listening.who({ headers: { 'x-key': 'z' } })).status).toBe(401)
  })

  test('by tokens of service accounts, over sockets too, until these are deleted', async () => {
    const listening = await start()
    const admin = bearer(listening.identity.token)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await listening.ask({ path: accounts, method: 'POST', body: { metadata: { name: 'robot' } }, ...admin })
    const { text } = await listening.ask({ path: `${accounts}/robot/token`, method: 'POST', body: {}, ...admin })
    const {
      status: { token },
    } = JSON.parse(text) as { status: { token: string } }
    for (let round = 0; round < 2; round++)
      expect((await listening.who(bearer(token))).user.username).toBe('system:serviceaccount:default:robot')
    await listening.ask({ path: `${accounts}/robot`, method: 'DELETE', ...admin })
    expect((await listening.who(bearer(token))).status).toBe(401)
  })

  test('in process by saying who they are', async () => {
    const server = await TestServer.start()
    running.push(server)
    const answered = await server.server.as({ name: 'ann', groups: ['dev'] })({
      method: 'GET',
      target: '/api/v1/secrets',
      headers: { authorization: 'Bearer x' },
      signal: new AbortController().signal,
    })
    expect(answered.status).toBe(403)
    expect(String(answered.body)).toContain('User \\"ann\\" cannot list resource \\"secrets\\"')
  })
})

test('row 22: credentials are in no log and in no answer', async () => {
  const said: string[] = []
  const identity = makeIdentity()
  const listening = await start({
    listen: { identity },
    log: createLogger({
      clock: new SimulatedClock(),
      level: 'debug',
      sink: (record) => {
        said.push(
          JSON.stringify(record, (_key, value: unknown) =>
            value instanceof Error ? `${value.message} ${value.stack ?? ''}` : value,
          ),
        )
      },
    }),
    authentication: { tokens: { 'canary-token': { name: 'ann', groups: [] } } },
  })
  const responses: string[] = []
  for (const token of ['canary-token', 'canary-wrong', identity.token]) {
    for (const path of ['/api/v1/secrets', '/nowhere', '/api/v1/namespaces/%zz'])
      responses.push((await listening.ask({ path, ...bearer(token) })).text)
  }
  responses.push((await listening.ask({ path: '/metrics', ...bearer(identity.token) })).text)
  for (const text of [...said, ...responses])
    for (const secret of ['canary', identity.token, 'PRIVATE KEY']) expect(text).not.toContain(secret)
})
