import { afterEach, describe, expect, test } from 'vitest'
import { deferred } from '#base'
import type { WireResponse } from '#wire'
import { TestServer } from '../client.fixture.ts'
import type { User } from '../request-context.ts'
import type { Server, ServerOptions } from '../server-options.ts'

const running: TestServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop()))
})

async function start(options: ServerOptions): Promise<TestServer> {
  const tested = await TestServer.start({ authorization: 'always-allow', ...options })
  running.push(tested)
  return tested
}

const ann: User = { name: 'ann', groups: [] }

function send(
  server: Server,
  user: User,
  {
    method = 'GET',
    target,
    body,
    signal = new AbortController().signal,
  }: { method?: string; target: string; body?: unknown; signal?: AbortSignal },
): Promise<WireResponse> {
  return server.as(user)({
    method,
    target,
    headers: { 'content-type': 'application/json' },
    signal,
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  })
}

function status({ body }: WireResponse): Record<string, unknown> {
  return JSON.parse(Buffer.from(body as Uint8Array).toString()) as Record<string, unknown>
}

/** A server on which writes of config maps wait until they are let go. */
async function slowServer(options: ServerOptions = {}) {
  const gate = deferred<undefined>()
  const signals: (AbortSignal | undefined)[] = []
  const started = { count: 0 }
  const tested = await start({
    ...options,
    admission: {
      hooks: [
        {
          name: 'slow',
          rules: [{ operations: ['CREATE'], resources: ['configmaps'] }],
          async validate(_object: unknown, { signal }: { signal?: AbortSignal }) {
            started.count++
            signals.push(signal)
            await gate.promise
          },
        },
      ],
    },
  })
  const create = (user: User, name: string, query = ''): Promise<WireResponse> =>
    send(tested.server, user, {
      method: 'POST',
      target: `/api/v1/namespaces/default/configmaps${query}`,
      body: { metadata: { name } },
    })
  return {
    tested,
    create,
    letGo: () => {
      gate.resolve(undefined)
    },
    signals,
    started,
  }
}

describe('limits of the server', () => {
  test('refuse with 429, Retry-After and the Status that clients know', async () => {
    const { tested, create, letGo } = await slowServer({ limits: { writesMax: 1, waitingPerUserMax: 1 } })
    const [first, second] = [create(ann, 'a'), create(ann, 'b')]
    await tested.clock.advance(0)
    const third = await create(ann, 'c')
    expect(third.status).toBe(429)
    expect(third.headers['retry-after']).toBe('1')
    expect(status(third)).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      code: 429,
      details: { retryAfterSeconds: 1 },
      message: 'the server has received too many requests and has asked us to try again later',
    })
    const { text } = await tested.ask('GET', '/metrics')
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 1')
    expect(text).toContain('evenkeel_requests_waiting{lane="writes"} 1')
    expect(text).toContain('evenkeel_requests_refused_total{lane="writes"} 1')
    letGo()
    expect((await first).status).toBe(201)
    expect((await second).status).toBe(201)
  })

  test('do not hold for administrators, and not for who asks whether the server is well', async () => {
    const { create, letGo, tested } = await slowServer({ limits: { writesMax: 1, readsMax: 1, waitingPerUserMax: 1 } })
    const root = { name: 'root', groups: ['system:masters'] }
    const all = ['a', 'b', 'c'].map((name) => create(root, name))
    await tested.clock.advance(0)
    expect((await send(tested.server, ann, { target: '/readyz' })).status).toBe(200)
    letGo()
    expect((await Promise.all(all)).map((answer) => answer.status)).toEqual([201, 201, 201])
  })

  test('a list keeps its place until its last byte was taken, or its client is gone', async () => {
    const tested = await start({ limits: { listsMax: 1, waitingPerUserMax: 1, waitMs: 10 } })
    for (let index = 0; index < 3; index++)
      await tested.ask('POST', '/api/v1/namespaces/default/configmaps', {
        body: { metadata: { name: `c${index}` }, data: { text: 'x'.repeat(900_000) } },
      })
    const target = '/api/v1/namespaces/default/configmaps'
    const leaving = new AbortController()
    const first = await send(tested.server, ann, { target, signal: leaving.signal })
    expect(first.body).not.toBeInstanceOf(Uint8Array)
    const refused = send(tested.server, ann, { target })
    await tested.clock.advance(10)
    expect((await refused).status).toBe(429)
    leaving.abort()
    const second = await send(tested.server, ann, { target })
    expect(second.status).toBe(200)
    const reading = (async () => {
      for await (const _ of second.body as AsyncIterable<Uint8Array>);
    })()
    while ((await Promise.race([reading.then(() => true), tested.clock.advance(0).then(() => false)])) === false);
    expect((await send(tested.server, ann, { target, method: 'HEAD' })).status).toBe(200)
    expect((await send(tested.server, ann, { target })).status).toBe(200)
  })
})

describe('row 20: watches', () => {
  const target = '/api/v1/configmaps?watch=true'

  test('row 20: one user cannot take all watches, nor all users together more than the server has memory for', async () => {
    const tested = await start({ limits: { watchesMax: 3, watchesPerUserMax: 2 } })
    const leaving = new AbortController()
    const own = [
      await send(tested.server, ann, { target, signal: leaving.signal }),
      await send(tested.server, ann, { target }),
    ]
    expect(own.map((answer) => answer.status)).toEqual([200, 200])
    expect((await send(tested.server, ann, { target })).status).toBe(429)
    expect((await send(tested.server, { name: 'bob', groups: [] }, { target })).status).toBe(200)
    expect((await send(tested.server, { name: 'root', groups: ['system:masters'] }, { target })).status).toBe(429)
    leaving.abort()
    expect((await send(tested.server, ann, { target })).status).toBe(200)
    expect((await tested.ask('GET', '/metrics')).text).toContain('apiserver_longrunning_requests{verb="WATCH"} 3')
  })

  test('row 20: a watch that ends by itself no longer counts', async () => {
    const tested = await start({ limits: { watchesMax: 1 } })
    const ending = await send(tested.server, ann, { target: `${target}&timeoutSeconds=1` })
    const read = (async () => {
      for await (const _ of ending.body as AsyncIterable<Uint8Array>);
    })()
    await tested.clock.advance(1000)
    await read
    expect((await send(tested.server, ann, { target })).status).toBe(200)
    const wrong = await send(tested.server, ann, { target: `${target}&resourceVersion=bad` })
    expect(wrong.status).toBe(400)
  })
})

describe('times of requests', () => {
  test('a write that takes too long is answered with 504 after 34 seconds, and what waits for it is told', async () => {
    const { tested, create, letGo, signals } = await slowServer()
    let answer: WireResponse | undefined
    void create(ann, 'a').then((response) => {
      answer = response
    })
    await tested.clock.advance(33_999)
    expect([answer, signals[0]?.aborted]).toEqual([undefined, false])
    await tested.clock.advance(1)
    expect(answer?.status).toBe(504)
    expect(status(answer as WireResponse)).toMatchObject({
      reason: 'Timeout',
      code: 504,
      message: 'Timeout: request did not complete within requested timeout - context deadline exceeded',
    })
    expect(signals[0]?.aborted).toBe(true)
    expect((await tested.ask('GET', '/metrics')).text).toContain('apiserver_request_terminations_total{code="504"} 1')
    letGo()
  })

  test('?timeout= makes it less, never more, and 0 means nothing', async () => {
    const { tested, create, letGo } = await slowServer()
    const ended: string[] = []
    for (const query of ['?timeout=2s', '?timeout=10m', '?timeout=0s'])
      void create(ann, `a${query.length}`, query).then(({ status: code }) => {
        ended.push(`${query} ${code}`)
      })
    await tested.clock.advance(2000)
    expect(ended).toEqual(['?timeout=2s 504'])
    await tested.clock.advance(32_000)
    expect(ended).toEqual(['?timeout=2s 504', '?timeout=10m 504', '?timeout=0s 504'])
    expect((await create(ann, 'x', '?timeout=soon')).status).toBe(400)
    letGo()
  })

  test('the work of a request that was given up keeps its place until it has ended', async () => {
    const { tested, create, letGo, started } = await slowServer({ limits: { writesMax: 1 } })
    void create(ann, 'a', '?timeout=1s')
    await tested.clock.advance(1000)
    const second = create(ann, 'b')
    await tested.clock.advance(0)
    expect(started.count).toBe(1)
    letGo()
    expect((await second).status).toBe(201)
  })
})
