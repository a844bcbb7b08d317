import { expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import type { WireResponse } from '#wire'
import { ConnectionError } from './connection-error.ts'
import { FakeServer, json, refusal, type Reply } from './fake.fixture.ts'
import { withRateLimit, withRetry } from './retry.ts'

const reset = new ConnectionError('cut', { problem: 'reset' })
const refused = new ConnectionError('nobody', { problem: 'refused' })

function attempt(
  method: string,
  replies: Reply[],
  options: { retriesMax?: number; waitMaxMs?: number } = {},
): { clock: SimulatedClock; server: FakeServer; answer: Promise<WireResponse | Error>; stop: AbortController } {
  const clock = new SimulatedClock()
  const server = new FakeServer(...replies)
  const stop = new AbortController()
  const transport = withRetry(server.transport, { clock, random: new SeededRandom(1), ...options })
  const answer = transport({
    method,
    target: '/x',
    headers: {},
    signal: stop.signal,
    ...(method !== 'GET' && { body: Buffer.from('{}') }),
  }).catch((error: unknown) => error as Error)
  return { clock, server, answer, stop }
}

test('withRetry waits as long as the server asks, and a little more', async () => {
  const { clock, server, answer } = attempt('POST', [
    refusal(429, 'TooManyRequests', { headers: { 'retry-after': '3' } }),
    json({}),
  ])
  await clock.advance(2999)
  expect(server.requests).toHaveLength(1)
  await clock.advance(301)
  expect(server.requests).toHaveLength(2)
  expect(await answer).toMatchObject({ status: 200 })
  expect(clock.pending).toBe(0)
})

test.each(
  (
    [
      ['GET', 429, undefined, true],
      ['POST', 429, undefined, true],
      ['POST', 503, '1', true],
      ['POST', 503, undefined, false],
      ['POST', 500, '1', false],
      ['PUT', 500, '1', true],
      ['GET', 504, '1', true],
      ['GET', 500, undefined, false],
      ['GET', 409, '1', false],
      ['PATCH', 429, 'soon', true],
    ] as const
  ).map(([method, code, after, isRepeated]) => ({ method, code, after, isRepeated })),
)(
  'withRetry: $method answered $code with Retry-After $after is repeated: $isRepeated',
  async ({ method, code, after, isRepeated }) => {
    const { clock, server, answer } = attempt(method, [
      refusal(code, 'X', { headers: after === undefined ? {} : { 'retry-after': after } }),
      json({}),
    ])
    await clock.advance(5000)
    expect(server.requests.length).toBe(isRepeated ? 2 : 1)
    expect(await answer).toMatchObject({ status: isRepeated ? 200 : code })
  },
)

test('withRetry: a read that was cut off is repeated, a write never is', async () => {
  const read = attempt('GET', [reset, reset, json({})])
  await read.clock.advance(5000)
  expect(await read.answer).toMatchObject({ status: 200 })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { server, answer } = attempt(method, [reset, json({})])
    expect(await answer).toBe(reset)
    expect(server.requests).toHaveLength(1)
  }
})

test('withRetry: a server that is not there is told at once', async () => {
  const { answer } = attempt('GET', [refused, json({})])
  expect(await answer).toBe(refused)
})

test('withRetry gives up after so many, and at once when asked to wait too long', async () => {
  const busy = refusal(429, 'TooManyRequests', { headers: { 'retry-after': '1' } })
  const patient = attempt('GET', [busy], { retriesMax: 4 })
  await patient.clock.advance(60_000)
  expect(await patient.answer).toMatchObject({ status: 429 })
  expect(patient.server.requests).toHaveLength(5)

  const hasty = attempt('GET', [refusal(429, 'TooManyRequests', { headers: { 'retry-after': '3600' } })])
  expect(await hasty.answer).toMatchObject({ status: 429 })
})

test('withRetry waits longer and longer when the server asks for no wait', async () => {
  const { clock, server } = attempt('GET', [refusal(429, 'TooManyRequests', { headers: { 'retry-after': '0' } })])
  await clock.advance(24)
  expect(server.requests).toHaveLength(1)
  await clock.advance(3000)
  expect(server.requests.length).toBeLessThan(9)
})

test('withRetry lets go of an answer that comes in pieces before it asks again', async () => {
  let isClosed = false
  const body = (async function* () {
    try {
      for (;;) {
        await Promise.resolve()
        yield Buffer.from('busy')
      }
    } finally {
      isClosed = true
    }
  })()
  const { clock, answer } = attempt('GET', [{ status: 429, headers: {}, body }, json({})])
  await clock.advance(2000)
  expect(await answer).toMatchObject({ status: 200 })
  expect(isClosed).toBe(true)
})

test('withRetry: the signal ends the wait', async () => {
  const { clock, answer, stop } = attempt('GET', [refusal(429, 'TooManyRequests')])
  await clock.advance(10)
  stop.abort(new Error('enough'))
  expect(await answer).toMatchObject({ message: 'enough' })
  expect(clock.pending).toBe(0)
})

test('withRetry does not repeat a body that came in pieces', async () => {
  const server = new FakeServer(refusal(429, 'TooManyRequests'))
  const transport = withRetry(server.transport, { clock: new SimulatedClock(), random: new SeededRandom(1) })
  const body = (async function* () {
    await Promise.resolve()
    yield Buffer.from('x')
  })()
  expect(
    await transport({ method: 'POST', target: '/x', headers: {}, signal: new AbortController().signal, body }),
  ).toMatchObject({ status: 429 })
})

test('withRateLimit lets a burst go at once, then so many in a second, in order', async () => {
  const clock = new SimulatedClock()
  const times: number[] = []
  const server = new FakeServer(() => {
    times.push(clock.monotonic())
    return json({})
  })
  const transport = withRateLimit(server.transport, { clock, perSecond: 10, burst: 3 })
  for (let index = 0; index < 6; index++)
    void transport({ method: 'GET', target: `/${index}`, headers: {}, signal: new AbortController().signal })
  await clock.advance(1000)
  expect(times).toEqual([0, 0, 0, 100, 200, 300])
  expect(server.lines.map((line) => line.slice(-1)).join('')).toBe('012345')
})
