import { expect, test } from 'vitest'
import { createLogger, silentLogger, SimulatedClock, type LogRecord } from '#base'
import type { WireRequest, WireResponse } from '#wire'
import type { TokenAuthenticator } from './bearer-tokens.ts'
import { tokenWebhook } from './token-webhook.ts'

interface Setup {
  readonly ask: (token: string, audiences?: readonly string[]) => ReturnType<TokenAuthenticator>
  readonly asked: WireRequest[]
  readonly clock: SimulatedClock
  readonly logged: LogRecord[]
}

function setup(answer: () => WireResponse | Promise<WireResponse>): Setup {
  const clock = new SimulatedClock()
  const asked: WireRequest[] = []
  const logged: LogRecord[] = []
  const transport = async (request: WireRequest): Promise<WireResponse> => {
    asked.push(request)
    return answer()
  }
  const webhook = tokenWebhook(
    { url: 'https://auth.example.com/review', cacheMs: 1000 },
    {
      clock,
      log: createLogger({
        sink: (record) => {
          logged.push(record)
        },
        clock,
        level: 'debug',
      }),
      audiences: ['us'],
      stopping: new AbortController().signal,
      connect: () => ({ transport, close: () => undefined }),
    },
  )
  return {
    ask: (token, audiences = ['us']) => webhook({ token, digest: `digest of ${token}`, audiences }),
    asked,
    clock,
    logged,
  }
}

const status = (value: object): WireResponse => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ kind: 'TokenReview', status: value })),
})

test('tokenWebhook asks by a TokenReview and believes the answer for a while', async () => {
  const { ask, asked, clock } = setup(() =>
    status({
      authenticated: true,
      user: { username: 'ann', uid: '1', groups: ['g'], extra: { __proto__x: ['v'], k: ['a', 'b'] } },
    }),
  )
  const good = {
    user: { name: 'ann', uid: '1', groups: ['g'], extra: { __proto__x: ['v'], k: ['a', 'b'] } },
    audiences: ['us'],
  }
  expect(await ask('secret')).toEqual(good)
  expect(await ask('secret')).toEqual(good)
  expect(asked).toHaveLength(1)
  expect(JSON.parse(String(asked[0]?.body))).toEqual({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 'secret', audiences: ['us'] },
  })
  await clock.advance(1000)
  await ask('secret')
  expect(asked).toHaveLength(2)
})

test('tokenWebhook takes no user for other audiences than were asked for', async () => {
  const user = { username: 'ann' }
  expect(await setup(() => status({ authenticated: true, user })).ask('t', ['others'])).toBeUndefined()
  expect(
    await setup(() => status({ authenticated: true, user, audiences: ['us'] })).ask('t', ['others']),
  ).toBeUndefined()
  expect(
    await setup(() => status({ authenticated: true, user, audiences: ['others', 'us'] })).ask('t', ['others']),
  ).toMatchObject({ audiences: ['others'] })
})

test('tokenWebhook knows nobody when the answer is no, nonsense, a redirect or none, and says so without the answer', async () => {
  expect(await setup(() => status({ authenticated: false, error: 'revoked' })).ask('t')).toEqual({ error: 'revoked' })
  const bodies = [
    status({}),
    status({ authenticated: 'true', user: { username: 'ann' } }),
    status({ authenticated: true }),
    status({ authenticated: true, user: { username: '' } }),
    { status: 302, headers: { location: 'https://elsewhere' }, body: Buffer.from('canary') },
    { status: 500, headers: {}, body: Buffer.from('canary') },
    { status: 200, headers: {}, body: Buffer.from('[1]') },
  ]
  for (const body of bodies) {
    const { ask, logged } = setup(() => body)
    expect(await ask('t')).toBeUndefined()
    expect(JSON.stringify(logged.map(({ message, fields }) => [message, String(fields['error'])]))).not.toContain(
      'canary',
    )
  }
  const { ask, asked, logged } = setup(() => {
    throw new Error('unreachable')
  })
  expect(await ask('t')).toBeUndefined()
  expect(await ask('t')).toBeUndefined()
  expect(asked).toHaveLength(2)
  expect(logged[0]?.message).toBe('authentication webhook failed')
})

test('tokenWebhook calls out only over https', () => {
  const outside = {
    clock: new SimulatedClock(),
    log: silentLogger,
    audiences: [],
    stopping: new AbortController().signal,
  }
  expect(() => tokenWebhook({ url: 'http://auth.example.com' }, outside)).toThrow('must be an https address')
})
