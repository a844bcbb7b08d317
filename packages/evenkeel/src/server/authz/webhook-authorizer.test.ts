import { expect, test } from 'vitest'
import { silentLogger, SimulatedClock } from '#base'
import type { HttpsOptions, WireRequest, WireResponse } from '#wire'
import type { AuthorizationDecision } from './authorizer.ts'
import { may } from './rbac.fixture.ts'
import { webhookAuthorizer, type AuthorizationWebhook } from './webhook-authorizer.ts'

interface Staged {
  readonly clock: SimulatedClock
  readonly asked: { readonly target: string; readonly headers: WireRequest['headers']; readonly spec: unknown }[]
  readonly destinations: HttpsOptions[]
  readonly stopping: AbortController
  closed: number
  readonly authorizer: ReturnType<typeof webhookAuthorizer>
}

type Answer = (turn: number) => WireResponse | Promise<WireResponse>

function stage(answer: Answer, webhook: Partial<AuthorizationWebhook> = {}): Staged {
  const [clock, stopping] = [new SimulatedClock(), new AbortController()]
  const staged = { clock, stopping, asked: [] as Staged['asked'], destinations: [] as HttpsOptions[], closed: 0 }
  const connect = (destination: HttpsOptions) => {
    staged.destinations.push(destination)
    return {
      async transport({ target, headers, body }: WireRequest) {
        const review = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { spec: unknown }
        staged.asked.push({ target, headers, spec: review.spec })
        return await answer(staged.asked.length)
      },
      close: () => {
        staged.closed++
      },
    }
  }
  const authorizer = webhookAuthorizer(
    { url: 'https://judge.test:8443/authorize?x=1', ...webhook },
    { clock, log: silentLogger, connect, stopping: stopping.signal },
  )
  return Object.assign(staged, { authorizer })
}

function status(value: object): WireResponse {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ status: value })) }
}

async function decide(
  { authorizer, clock }: Staged,
  question = may('get pods/log', { namespace: 'n', object: 'o', groups: ['g'] }),
): Promise<AuthorizationDecision | undefined> {
  const deciding = Promise.resolve(authorizer(question))
  // Long enough for three attempts and the pauses between them.
  for (let turn = 0; turn < 5; turn++) await clock.advance(500)
  return deciding
}

test('webhookAuthorizer sends a SubjectAccessReview and believes its status', async () => {
  const staged = stage(() => status({ allowed: true, reason: 'fine' }), { caPem: 'PEM', token: 't' })
  expect(await decide(staged)).toEqual({ allowed: true, reason: 'fine' })
  expect(staged.destinations).toEqual([{ origin: 'https://judge.test:8443', bytesMax: 1_048_576, caPem: 'PEM' }])
  expect(staged.asked).toMatchObject([
    {
      target: '/authorize?x=1',
      headers: { authorization: 'Bearer t' },
      spec: {
        user: 'u',
        groups: ['g'],
        resourceAttributes: {
          namespace: 'n',
          verb: 'get',
          version: 'v1',
          resource: 'pods',
          subresource: 'log',
          name: 'o',
        },
      },
    },
  ])
  staged.stopping.abort(new Error('enough'))
  expect(staged.closed).toBe(1)
})

test.each([
  [{ allowed: false }, { allowed: false, noOpinion: true, reason: '' }],
  [
    { allowed: false, denied: true, reason: 'no' },
    { allowed: false, reason: 'no' },
  ],
  [
    { allowed: true, denied: true },
    { allowed: false, reason: '', error: 'webhook subject access review returned both allow and deny response' },
  ],
  [{ allowed: 'yes' }, { allowed: false, noOpinion: true, reason: '' }],
])('webhookAuthorizer: the status %j', async (value, verdict) => {
  expect(await decide(stage(() => status(value)))).toEqual(verdict)
})

test('webhookAuthorizer remembers a yes for five minutes and the rest for half a minute', async () => {
  const yes = stage(() => status({ allowed: true }))
  const no = stage(() => status({ allowed: false }))
  for (const staged of [yes, no]) {
    await decide(staged)
    await staged.clock.advance(20_000)
    await decide(staged)
    await staged.clock.advance(10_000)
    await decide(staged)
    await staged.clock.advance(280_000)
    await decide(staged)
  }
  expect([yes.asked.length, no.asked.length]).toEqual([2, 3])
  await decide(yes, may('get pods', { object: 'x'.repeat(20_000) }))
  await decide(yes, may('get pods', { object: 'x'.repeat(20_000) }))
  expect(yes.asked.length).toBe(4)
})

test('webhookAuthorizer tries three times, then has no opinion or says no, and never shows what it was told', async () => {
  const broken = (): WireResponse => ({ status: 500, headers: {}, body: Buffer.from('secret') })
  const open = stage(broken)
  expect(await decide(open)).toEqual({
    allowed: false,
    noOpinion: true,
    reason: '',
    error: 'authorization webhook failed',
  })
  expect(open.asked.length).toBe(3)
  expect(
    await decide(stage(() => ({ status: 302, headers: { location: 'https://metadata' } }), { onFailure: 'deny' })),
  ).toEqual({ allowed: false, reason: '', error: 'authorization webhook failed' })
  expect(await decide(stage((turn) => (turn < 3 ? broken() : status({ allowed: true }))))).toMatchObject({
    allowed: true,
  })
  expect(await decide(stage(() => ({ status: 200, headers: {}, body: Buffer.from('{"status":1}') })))).toMatchObject({
    error: expect.any(String) as string,
  })
})

test('webhookAuthorizer cannot say which rules somebody holds', () => {
  expect(stage(() => status({})).authorizer.rulesFor?.({ name: 'u', groups: [] }, 'n')).toEqual({
    rules: [],
    incomplete: true,
    errors: ['webhook authorizer does not support user rule resolution'],
  })
})
