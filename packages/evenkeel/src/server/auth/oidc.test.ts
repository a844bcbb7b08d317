import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { silentLogger, SimulatedClock } from '#base'
import type { WireRequest, WireResponse } from '#wire'
import type { OidcIssuer } from './authentication-options.ts'
import { digestOf, type TokenAuthenticator } from './bearer-tokens.ts'
import { publicKeyOf, signJwt, toJwk } from './jwt.ts'
import { oidcTokens } from './oidc.ts'

const url = 'https://login.example.com/realm'
const [first, second] = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
]

/** An issuer in this process, and a server that believes it. */
class World {
  readonly clock = new SimulatedClock()
  readonly asked: string[] = []
  keys = [first]
  discovery: JsonObject = { issuer: url, jwks_uri: 'https://keys.example.com/jwks' }
  isDown = false
  readonly #authenticate: Promise<TokenAuthenticator>

  constructor(issuer: Partial<OidcIssuer> = {}) {
    const transport = ({ target }: WireRequest): Promise<WireResponse> => {
      this.asked.push(target)
      if (this.isDown) return Promise.reject(new Error('down'))
      const document = target.endsWith('/jwks')
        ? { keys: this.keys.map((key) => toJwk(publicKeyOf(key))) }
        : this.discovery
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(document)) })
    }
    this.#authenticate = oidcTokens(
      { url, audiences: ['client'], ...issuer },
      {
        clock: this.clock,
        log: silentLogger,
        audiences: ['us'],
        stopping: new AbortController().signal,
        connect: () => ({ transport, close: () => undefined }),
      },
    )
  }

  token(claims: JsonObject = {}, key = first, id = publicKeyOf(key).id): string {
    return signJwt({ iss: url, aud: 'client', sub: 'ann', exp: this.clock.now() / 1000 + 60, ...claims }, { key, id })
  }

  async ask(token: string, audiences: readonly string[] = ['us']): Promise<unknown> {
    const verdict = await (await this.#authenticate)({ token, digest: digestOf(token), audiences })
    return verdict && 'user' in verdict ? verdict.user : verdict?.error
  }
}

describe('oidcTokens', () => {
  test('makes a user of what a token says, under a name that says where it is from', async () => {
    const world = new World()
    expect(await world.ask(world.token())).toEqual({ name: `${url}#ann`, groups: [] })
    expect(world.asked).toEqual(['/realm/.well-known/openid-configuration', '/jwks'])
  })

  test('takes the claims it is told to', async () => {
    const world = new World({
      username: { claim: 'email' },
      groups: { claim: 'roles', prefix: 'oidc:' },
      uid: { claim: 'sub' },
      extra: { 'example.com/tenant': { claim: 'tenant' } },
      requiredClaims: { tenant: 'blue' },
    })
    const claims = { email: 'ann@example.com', email_verified: true, roles: ['dev', 5, 'ops'], tenant: 'blue' }
    expect(await world.ask(world.token(claims))).toEqual({
      name: 'ann@example.com',
      uid: 'ann',
      groups: ['oidc:dev', 'oidc:ops'],
      extra: { 'example.com/tenant': ['blue'] },
    })
    expect(await world.ask(world.token({ ...claims, roles: 'dev' }))).toMatchObject({ groups: ['oidc:dev'] })
    expect(await world.ask(world.token({ ...claims, email_verified: false }))).toBe('oidc: email not verified')
    expect(await world.ask(world.token({ ...claims, tenant: 'red' }))).toContain('required claim tenant')
    expect(await world.ask(world.token({ ...claims, email: 5 }))).toContain('claim not present')
  })

  test('makes users by expressions', async () => {
    const world = new World({
      username: { expression: 'claims.sub + "@" + claims.tenant' },
      groups: { expression: 'claims.roles.filter(r, r.startsWith("k8s-")).map(r, r.substring(4))' },
      uid: { expression: 'claims.?oid.orValue("none")' },
      extra: { 'example.com/level': { expression: 'claims.level > 3 ? "high" : "low"' } },
      claimValidationRules: [{ expression: 'claims.exp - claims.iat <= 3600', message: 'it lives too long' }],
      userValidationRules: [
        { expression: '!user.username.contains("root")', message: 'not you' },
        { expression: 'user.groups.size() < 3' },
      ],
    })
    const now = world.clock.now() / 1000
    const claims = { tenant: 'blue', roles: ['k8s-dev', 'other', 'k8s-system:masters'], level: 4, iat: now }
    expect(await world.ask(world.token(claims))).toEqual({
      name: 'ann@blue',
      uid: 'none',
      groups: ['dev'],
      extra: { 'example.com/level': ['high'] },
    })
    expect(await world.ask(world.token({ ...claims, iat: now - 3600 }))).toBe(
      "oidc: validation expression 'claims.exp - claims.iat <= 3600' failed: it lives too long",
    )
    expect(await world.ask(world.token({ ...claims, sub: 'root' }))).toContain('failed: not you')
    expect(await world.ask(world.token({ ...claims, roles: ['k8s-a', 'k8s-b', 'k8s-c'] }))).toContain(
      'user.groups.size() < 3',
    )
    expect(await world.ask(world.token({ ...claims, tenant: 5 }))).toContain(
      'expression \'claims.sub + "@" + claims.tenant\' resulted in error: no such overload',
    )
    expect(await world.ask(world.token({ ...claims, roles: 'x' }))).toContain('resulted in error')
  })

  test('takes no expression that is none, is not sure to be true or false, or makes a name of an unverified address', async () => {
    const refused = (issuer: Partial<OidcIssuer>): Promise<unknown> =>
      new World(issuer).ask('x').catch((error: unknown) => (error as Error).message)
    expect(await refused({ username: { expression: 'claims.' } })).toContain('is no expression about claims')
    expect(await refused({ username: { expression: 'user.name' } })).toContain('undeclared reference')
    expect(await refused({ claimValidationRules: [{ expression: 'claims.fine' }] })).toContain(
      'must evaluate to bool, got dyn',
    )
    expect(await refused({ username: { expression: 'claims.email' } })).toContain('claims.email_verified must be used')
    expect(
      await refused({
        username: { expression: 'claims.email' },
        claimValidationRules: [{ expression: 'claims.email_verified == true' }],
      }),
    ).toBeUndefined()
  })

  test('makes nobody of ours', async () => {
    const world = new World({ username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups' } })
    expect(await world.ask(world.token({ sub: 'system:admin' }))).toBe('oidc: username "system:admin" is reserved')
    expect(await world.ask(world.token({ groups: ['system:masters', 'dev'] }))).toEqual({
      name: 'ann',
      groups: ['dev'],
    })
  })

  test('refuses tokens of others, for others, too old, too young, or signed otherwise', async () => {
    const world = new World({ algorithms: ['ES256'] })
    const now = world.clock.now() / 1000
    expect(await world.ask(world.token({ iss: 'https://other.example.com' }))).toBeUndefined()
    expect(await world.ask('text')).toBeUndefined()
    expect(await world.ask(world.token({ aud: ['other'] }))).toContain('expected audience')
    expect(await world.ask(world.token({ exp: now }))).toBe('oidc: token is expired')
    expect(await world.ask(world.token({ exp: 'never' }))).toBe('oidc: token is expired')
    expect(await world.ask(world.token({ nbf: now + 301 }))).toBe('oidc: token is not valid yet')
    expect(await world.ask(world.token({}, second))).toContain('unsupported algorithm RS256')
    expect(world.asked).toEqual([])
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    expect(await world.ask(world.token({}, stranger, publicKeyOf(first).id))).toBe('oidc: failed to verify signature')
    expect(await world.ask(world.token(), ['others'])).toBeUndefined()
  })

  test('fetches keys again for a key it does not know, at most every ten seconds, and once for many', async () => {
    const world = new World()
    await Promise.all([1, 2, 3].map((number) => world.ask(world.token({ number }))))
    expect(world.asked).toHaveLength(2)
    world.keys = [second]
    expect(await world.ask(world.token({}, second))).toBe('oidc: failed to verify signature')
    for (let count = 0; count < 20; count++) await world.ask(world.token({}, second, `invented-${count}`))
    expect(world.asked).toHaveLength(2)
    await world.clock.advance(10_000)
    expect(await world.ask(world.token({}, second))).toMatchObject({ name: `${url}#ann` })
    expect(world.asked).toHaveLength(4)
    expect(await world.ask(world.token({ number: 4 }, first))).toBe('oidc: failed to verify signature')
  })

  test('goes on with the keys it has when the issuer is down, and starts without it', async () => {
    const world = new World()
    world.isDown = true
    expect(await world.ask(world.token())).toBe('oidc: failed to verify signature')
    world.isDown = false
    await world.clock.advance(10_000)
    expect(await world.ask(world.token())).toMatchObject({ name: `${url}#ann` })
    world.isDown = true
    await world.clock.advance(20_000)
    expect(await world.ask(world.token({ number: 2 }))).toMatchObject({ name: `${url}#ann` })
  })

  test('believes a verified token for ten seconds, and never beyond its end', async () => {
    const world = new World()
    const [long, short] = [world.token(), world.token({ exp: world.clock.now() / 1000 + 2 })]
    await world.ask(long)
    await world.ask(short)
    world.keys = []
    await world.clock.advance(3_000)
    expect(await world.ask(long)).toMatchObject({ name: `${url}#ann` })
    expect(await world.ask(short)).toBe('oidc: token is expired')
  })

  test('believes no document of another issuer, and no keys over plain http', async () => {
    const world = new World()
    world.discovery = { issuer: 'https://other.example.com', jwks_uri: 'https://keys.example.com/jwks' }
    expect(await world.ask(world.token())).toBe('oidc: failed to verify signature')
    await world.clock.advance(10_000)
    world.discovery = { issuer: url, jwks_uri: 'http://keys.example.com/jwks' }
    expect(await world.ask(world.token())).toBe('oidc: failed to verify signature')
    expect(world.asked).not.toContain('/jwks')
    await expect(new World({ url: 'http://login.example.com' }).ask('x')).rejects.toThrow('must be an https address')
    await expect(new World({ algorithms: ['HS256'] }).ask('x')).rejects.toThrow('tokens are signed with one of')
  })
})
