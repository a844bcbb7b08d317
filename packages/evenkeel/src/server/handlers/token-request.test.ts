import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { parseJwt } from '../auth/jwt.ts'
import { TestServer } from '../client.fixture.ts'

const account = '/api/v1/namespaces/default/serviceaccounts/robot'
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
let server: TestServer
let uid: string

beforeEach(async () => {
  server = await TestServer.start({
    authentication: { serviceAccounts: { issuer: ['https://us.example.com', 'https://old.example.com'] } },
  })
  uid = await create('serviceaccounts', 'robot')
})
afterEach(() => server.server.stop())

async function create(plural: string, name: string, rest: object = {}): Promise<string> {
  const path = plural === 'nodes' ? '/api/v1/nodes' : `/api/v1/namespaces/default/${plural}`
  const { status, json, text } = await server.ask('POST', path, { body: { metadata: { name }, ...rest } })
  expect(status, text).toBe(201)
  return String(json['metadata']?.['uid'])
}

const pod = (name: string, rest: object = {}): Promise<string> =>
  create('pods', name, { spec: { serviceAccountName: 'robot', containers: [{ name: 'a', image: 'a' }], ...rest } })

async function request(
  spec: object = {},
  { metadata = {}, path = account }: { metadata?: object; path?: string } = {},
): ReturnType<TestServer['ask']> {
  return server.ask('POST', `${path}/token`, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec },
  })
}

async function tokenFor(spec: object = {}): Promise<string> {
  const { status, json, text } = await request(spec)
  expect(status, text).toBe(201)
  return String(json['status']?.['token'])
}

/** The user of a token, or what is wrong with it. */
async function review(token: string, audiences?: readonly string[]): Promise<Record<string, unknown> | string> {
  const { json } = await server.ask('POST', reviews, { body: { spec: { token, ...(audiences && { audiences }) } } })
  const { authenticated, user, error } = json['status'] as unknown as {
    authenticated?: boolean
    user: Record<string, unknown>
    error?: string
  }
  return authenticated ? user : (error ?? '')
}

const claimsOf = (token: string): JsonObject => parseJwt(token)?.claims ?? {}
const nowSeconds = (): number => server.clock.now() / 1000

describe('a TokenRequest', () => {
  test("is answered with a token that says what upstream's tokens say", async () => {
    const { json } = await request()
    expect(json).toMatchObject({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'robot', namespace: 'default', uid },
      spec: {
        audiences: ['https://us.example.com', 'https://old.example.com'],
        expirationSeconds: 3600,
        boundObjectRef: null,
      },
      status: { expirationTimestamp: '2026-01-01T01:00:00Z' },
    })
    const claims = claimsOf(String(json['status']?.['token']))
    expect(claims).toEqual({
      aud: ['https://us.example.com', 'https://old.example.com'],
      exp: nowSeconds() + 3600,
      iat: nowSeconds(),
      nbf: nowSeconds(),
      iss: 'https://us.example.com',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid } },
      sub: 'system:serviceaccount:default:robot',
    })
  })

  test("is refused for what does not fit, in upstream's words", async () => {
    const refused = async (spec: object, rest: Parameters<typeof request>[1] = {}): Promise<[number, unknown]> => {
      const { status, json } = await request(spec, rest)
      return [status, json['message']]
    }
    expect(await refused({ expirationSeconds: 599 })).toEqual([
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ])
    expect(await refused({ expirationSeconds: 2 ** 32 + 1 })).toEqual([
      422,
      expect.stringContaining('may not specify a duration larger than 2^32 seconds'),
    ])
    expect(await refused({}, { metadata: { name: 'other' } })).toEqual([
      422,
      expect.stringContaining(
        'metadata.name: Invalid value: "other": must match the service account name if specified',
      ),
    ])
    expect(await refused({}, { metadata: { namespace: 'other' } })).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ])
    expect(await refused({}, { metadata: { uid: 'other' } })).toEqual([
      409,
      `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (other) does not match the UID of the service account (${uid})`,
    ])
    expect(await refused({}, { path: '/api/v1/namespaces/default/serviceaccounts/nope' })).toEqual([
      404,
      'serviceaccounts "nope" not found',
    ])
    const bound = (kind: string, more: object = {}): Promise<[number, unknown]> =>
      refused({ boundObjectRef: { apiVersion: 'v1', kind, name: 'x', ...more } })
    for (const [kind, plural] of [
      ['Pod', 'pods'],
      ['Secret', 'secrets'],
      ['Node', 'nodes'],
    ] as const)
      expect(await bound(kind)).toEqual([404, `${plural} "x" not found`])
    expect(await bound('ConfigMap')).toEqual([400, 'cannot bind token to object of type /v1, Kind=ConfigMap'])
    expect(await bound('toString', { apiVersion: 'a/b/c' })).toEqual([
      400,
      'cannot bind token to object of type /, Kind=toString',
    ])
    await create('secrets', 'x')
    expect(await bound('Secret', { uid: 'other' })).toEqual([
      409,
      expect.stringContaining('the UID in the bound object reference (other) does not match the UID in record'),
    ])
    await pod('x', { serviceAccountName: 'default' })
    expect(await bound('Pod')).toEqual([
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ])
  })

  test('for a mounted token is given a year, and a warning after the hour', async () => {
    await pod('p')
    const ref = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
    const mounted = claimsOf(await tokenFor({ expirationSeconds: 3607, boundObjectRef: ref }))
    expect([mounted['exp'], (mounted['kubernetes.io'] as JsonObject)['warnafter']]).toEqual([
      nowSeconds() + 365 * 86_400,
      nowSeconds() + 3607,
    ])
    for (const spec of [
      { expirationSeconds: 3607 },
      { expirationSeconds: 3608, boundObjectRef: ref },
      { expirationSeconds: 3607, boundObjectRef: ref, audiences: ['vault'] },
    ]) {
      const claims = claimsOf(await tokenFor(spec))
      expect([claims['exp'], (claims['kubernetes.io'] as JsonObject)['warnafter']]).toEqual([
        nowSeconds() + spec.expirationSeconds,
        undefined,
      ])
    }
  })

  test('is shortened to what the server allows, with a warning', async () => {
    const strict = await TestServer.start({ authentication: { serviceAccounts: { maxTokenExpirationSeconds: 1800 } } })
    await strict.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'robot' } } })
    const { json, headers } = await strict.ask('POST', `${account}/token`, { body: {} })
    expect(json['spec']?.['expirationSeconds']).toBe(1800)
    expect(headers['warning']).toContain('requested expiration of 3600 seconds shortened to 1800 seconds')
    await strict.server.stop()
  })
})

describe('a token of a service account', () => {
  const robot = (): object => ({
    username: 'system:serviceaccount:default:robot',
    uid,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  })

  test('is known by this server for its audiences', async () => {
    const [own, vault] = [await tokenFor(), await tokenFor({ audiences: ['vault', 'us'] })]
    expect(await review(own)).toEqual({
      ...robot(),
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${String(claimsOf(own)['jti'])}`] },
    })
    expect(await review(vault)).toBe(
      '[invalid bearer token, token audiences ["vault" "us"] is invalid for the target audiences ["https://us.example.com" "https://old.example.com"]]',
    )
    expect(await review(vault, ['vault'])).toMatchObject(robot())
    expect(await review(own, ['vault'])).toContain('token audiences')
  })

  test('expires a minute after its time by our clock, as clocks may differ', async () => {
    const token = await tokenFor({ expirationSeconds: 600 })
    server.clock.jumpWall(660_000)
    expect(await review(token)).toMatchObject(robot())
    server.clock.jumpWall(1_000)
    expect(await review(token)).toBe('[invalid bearer token, service account token has expired]')
    server.clock.jumpWall(-661_000 - 61_000)
    expect(await review(token)).toBe('[invalid bearer token, service account token is not valid yet]')
  })

  test('is worth nothing once its service account is gone, or another has its name', async () => {
    const token = await tokenFor()
    await server.ask('DELETE', account)
    expect(await review(token)).toBe('[invalid bearer token, serviceaccounts "robot" not found]')
    const other = await create('serviceaccounts', 'robot')
    expect(await review(token)).toBe(
      `[invalid bearer token, service account UID (${other}) does not match claim (${uid})]`,
    )
  })

  test('ends a minute after its service account began to be deleted', async () => {
    await server.ask('PATCH', account, {
      body: { metadata: { finalizers: ['example.com/hold'] } },
      type: 'application/merge-patch+json',
    })
    const token = await tokenFor()
    await server.ask('DELETE', account)
    expect(await review(token)).toMatchObject(robot())
    server.clock.jumpWall(61_000)
    expect(await review(token)).toBe('[invalid bearer token, service account default/robot has been deleted]')
  })

  for (const [kind, plural] of [
    ['Pod', 'pods'],
    ['Secret', 'secrets'],
    ['Node', 'nodes'],
  ] as const) {
    test(`that hangs on a ${kind} is worth nothing without it`, async () => {
      const make = (): Promise<string> => (kind === 'Pod' ? pod('x') : create(plural, 'x'))
      const bound = await make()
      const token = await tokenFor({ boundObjectRef: { apiVersion: 'v1', kind, name: 'x', uid: bound } })
      expect(await review(token)).toMatchObject(robot())
      await server.ask(
        'DELETE',
        `${kind === 'Node' ? '/api/v1/nodes' : `/api/v1/namespaces/default/${plural}`}/x?gracePeriodSeconds=0`,
      )
      expect(await review(token)).toBe('[invalid bearer token, service account token has been invalidated]')
      await make()
      expect(await review(token)).toContain(`${kind.toLowerCase()} UID (`)
    })
  }

  test('of a pod says which pod and node it is from', async () => {
    const node = await create('nodes', 'n1')
    const bound = await pod('x', { nodeName: 'n1' })
    const token = await tokenFor({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'x' } })
    expect(((await review(token)) as { extra: object }).extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['x'],
      'authentication.kubernetes.io/pod-uid': [bound],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': [node],
    })
    await server.ask('DELETE', '/api/v1/nodes/n1')
    expect(await review(token)).toMatchObject(robot())
  })

  test("with another signature, key or issuer is nobody's", async () => {
    const token = await tokenFor()
    const other = await TestServer.start({ authentication: { serviceAccounts: { issuer: 'https://us.example.com' } } })
    await other.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'robot' } } })
    const foreign = String((await other.ask('POST', `${account}/token`, { body: {} })).json['status']?.['token'])
    expect(await review(foreign)).toBe('[invalid bearer token, invalid signature, no keys found]')
    const [head, , tail] = token.split('.')
    const forged = Buffer.from(
      JSON.stringify({ ...claimsOf(token), sub: 'system:serviceaccount:kube-system:admin' }),
    ).toString('base64url')
    expect(await review(`${head}.${forged}.${tail}`)).toBe('[invalid bearer token, invalid signature]')
    await other.server.stop()
  })
})

test('discovery and keys are published for those who verify tokens themselves', async () => {
  const { json, headers } = await server.ask('GET', '/.well-known/openid-configuration')
  expect(json).toEqual({
    issuer: 'https://us.example.com',
    jwks_uri: 'https://localhost/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })
  expect(headers['cache-control']).toBe('public, max-age=3600')
  const keys = await server.ask('GET', '/openid/v1/jwks')
  expect(keys.headers['content-type']).toBe('application/jwk-set+json')
  expect(keys.json['keys']).toEqual([
    {
      use: 'sig',
      kty: 'EC',
      kid: parseJwt(await tokenFor())?.keyId,
      alg: 'ES256',
      crv: 'P-256',
      x: expect.any(String),
      y: expect.any(String),
    },
  ])
})

test('a TokenReview needs a token, and knows static ones', async () => {
  expect(await server.ask('POST', reviews, { body: { spec: {} } })).toMatchObject({
    status: 400,
    json: { message: 'token is required for TokenReview in authentication' },
  })
  for (const token of ['nope', 'a.b.c', 'two words', '\u0000'])
    expect(await review(token), token).toBe('invalid bearer token')
  const other = await TestServer.start({
    authentication: { tokens: { secret: { name: 'ann', uid: '7', groups: ['dev'] } } },
  })
  const { json } = await other.ask('POST', reviews, { body: { spec: { token: 'secret' } } })
  expect(json['status']).toEqual({
    authenticated: true,
    user: { username: 'ann', uid: '7', groups: ['dev', 'system:authenticated'] },
    audiences: ['https://kubernetes.default.svc.cluster.local'],
  })
  await other.server.stop()
})
