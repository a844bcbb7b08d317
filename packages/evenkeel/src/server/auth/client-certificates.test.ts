import { afterEach, describe, expect, test } from 'vitest'
import { SystemClock, SystemRandom } from '#base'
import { issueServerCertificate } from '#wire'
import { Listening } from './callers.fixture.ts'
import { issueClient, makeIdentity } from './identity.ts'

const running: Listening[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop({ graceMs: 0 })))
})

async function start(options: Parameters<typeof Listening.start>[0] = {}): Promise<Listening> {
  const listening = await Listening.start({ authorization: 'always-allow', ...options })
  running.push(listening)
  return listening
}

/** A machine whose clock can be set apart from the one that TLS reads. */
class ShiftedClock extends SystemClock {
  shiftMs = 0
  override now(): number {
    return super.now() + this.shiftMs
  }
}

describe('row 2: a client certificate', () => {
  test('says who is calling: the common name, and the organizations as groups', async () => {
    const listening = await start()
    const client = await issueClient(listening.identity, {
      user: 'jane',
      groups: ['devs', 'a, b', 'größe\nO=system:masters'],
    })
    const expected = {
      username: 'jane',
      groups: ['devs', 'a, b', 'größe\nO=system:masters', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    }
    expect((await listening.who({ client })).user).toEqual(expected)
    expect((await listening.whoHttp2({ client })).user).toEqual(expected)
  })

  test('holds when its session is resumed', async () => {
    const listening = await start()
    const client = await issueClient(listening.identity, { user: 'jane' })
    const { session } = await listening.who({ client })
    const again = await listening.who({ client, ...(session && { session }) })
    expect([again.isResumed, again.user.username]).toEqual([true, 'jane'])
  })

  test('of another authority, for another purpose or past its end lets nobody in', async () => {
    const listening = await start()
    const real = { clock: new SystemClock(), random: new SystemRandom() }
    const past = new ShiftedClock()
    past.shiftMs = -2 * 86_400_000
    const bad = {
      stranger: await issueClient(makeIdentity(), { user: 'jane' }),
      server: issueServerCertificate(listening.identity.authority, { ...real, names: ['jane'] }),
      expired: await issueClient(listening.identity, { user: 'jane', validMs: 86_400_000, clock: past }),
    }
    for (const [name, client] of Object.entries(bad)) {
      expect(await listening.who({ client }), name).toMatchObject({ status: 401, user: {} })
      expect((await listening.ask({ path: '/readyz', client })).status, name).toBe(401)
      expect(
        (await listening.who({ client, headers: { authorization: `Bearer ${listening.identity.token}` } })).user
          .username,
        name,
      ).toBe('evenkeel-admin')
    }
  })

  test('ends while its connection lives on', async () => {
    const clock = new ShiftedClock()
    const listening = await start({ clock })
    const client = await issueClient(listening.identity, { user: 'jane', validMs: 3_600_000 })
    expect((await listening.who({ client })).status).toBe(201)
    clock.shiftMs = 3_700_000
    expect((await listening.who({ client })).status).toBe(401)
    clock.shiftMs = -7_300_000
    expect((await listening.who({ client })).status).toBe(401)
  })

  test('of a further authority is believed when the server was told so', async () => {
    const other = makeIdentity()
    const client = await issueClient(other, { user: 'jane' })
    expect((await (await start()).who({ client })).status).toBe(401)
    expect(
      (await (await start({ authentication: { clientCaPems: [other.authority.certificatePem] } })).who({ client })).user
        .username,
    ).toBe('jane')
    await expect(start({ authentication: { clientCaPems: ['nothing'] } })).rejects.toThrow('certificates in PEM')
  })

  test('row 6: is of no use to a page of another site, though browsers send it by themselves', async () => {
    const listening = await start()
    const client = await issueClient(listening.identity, { user: 'jane', groups: ['system:masters'] })
    for (const headers of [
      { origin: 'https://evil.example.com' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ])
      expect((await listening.who({ client, headers: { ...headers } })).status).toBe(403)
  })

  test('is not asked of clients that have none: a token will do', async () => {
    const listening = await start()
    expect(
      (await listening.who({ headers: { authorization: `Bearer ${listening.identity.token}` } })).user.username,
    ).toBe('evenkeel-admin')
    expect((await listening.who()).status).toBe(401)
  })
})

describe('a front proxy', () => {
  const proxies = makeIdentity()
  const options = {
    authentication: { frontProxy: { caPem: proxies.authority.certificatePem, allowedNames: ['front'] } },
  }
  const headers = {
    'x-remote-user': 'bob',
    'x-remote-group': ['g1, g2', 'g3'],
    'x-remote-uid': 'u1',
    'x-remote-extra-example.com%2Fteam': ['a', 'b'],
  }
  const bob = {
    username: 'bob',
    uid: 'u1',
    groups: ['g1, g2', 'g3', 'system:authenticated'],
    extra: { 'example.com/team': ['a', 'b'] },
  }

  test('says who is calling, each value as it was sent', async () => {
    const listening = await start(options)
    const client = await issueClient(proxies, { user: 'front' })
    expect((await listening.who({ client, headers })).user).toEqual(bob)
    expect((await listening.whoHttp2({ client, headers })).user).toEqual(bob)
    expect((await listening.who({ client })).status).toBe(401)
    expect((await listening.who({ client, headers: { 'x-remote-user': '' } })).status).toBe(401)
  })

  test("is only who has a certificate of the proxies' own authority for one of their names", async () => {
    const listening = await start(options)
    const ours = await issueClient(listening.identity, { user: 'front' })
    expect((await listening.who({ headers })).status).toBe(401)
    expect((await listening.who({ client: await issueClient(proxies, { user: 'stranger' }), headers })).status).toBe(
      401,
    )
    expect((await listening.who({ client: ours, headers })).user.username).toBe('front')
    expect(
      (await listening.who({ headers: { ...headers, authorization: `Bearer ${listening.identity.token}` } })).user
        .username,
    ).toBe('evenkeel-admin')
    const plain = await start()
    expect(
      (await plain.who({ client: await issueClient(plain.identity, { user: 'front' }), headers })).user.username,
    ).toBe('front')
  })

  test('cannot call by itself: its authority signs no users', async () => {
    const listening = await start(options)
    expect(
      (await listening.who({ client: await issueClient(proxies, { user: 'jane', groups: ['system:masters'] }) }))
        .status,
    ).toBe(401)
  })
})
