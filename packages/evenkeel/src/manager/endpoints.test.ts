import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { request, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { createLogger, deferred, Metrics, silentLogger, SimulatedClock, type Logger } from '#base'
import { endpointTask, runEndpoints } from './endpoints.ts'
import type { EndpointsOptions } from './endpoints.ts'
import { answerHealth } from './health.ts'
import type { HealthCheck } from './health.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

async function serve(options: EndpointsOptions): Promise<string> {
  const stopping = new AbortController()
  const listening = deferred<string>()
  const run = runEndpoints(stopping.signal, { ...options, onListening: listening.resolve })
  run.catch(listening.reject)
  stops.push(async () => {
    stopping.abort()
    await run
  })
  return listening.promise
}

function ask(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers, agent: false }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece
        })
        .on('end', () => {
          resolve({ status: response.statusCode ?? 0, type: String(response.headers['content-type']), text })
        })
    })
      .on('error', reject)
      .end()
  })
}

const well: HealthCheck = { name: 'well', failure: () => undefined }
const unwell: HealthCheck = { name: 'unwell', failure: () => 'the secret reason' }
const broken: HealthCheck = { name: 'broken', failure: () => Promise.reject(new Error('thrown')) }

describe('answerHealth', () => {
  const clock = new SimulatedClock()
  const health = (
    target: string,
    live: HealthCheck[] = [well],
    ready: HealthCheck[] = [well, unwell],
  ): ReturnType<typeof answerHealth> => {
    const { pathname, searchParams } = new URL(target, 'http://localhost')
    return answerHealth(pathname, searchParams, { live, ready, clock })
  }

  test('says ok, or lists what failed without saying why', async () => {
    expect(await health('/healthz')).toEqual({ status: 200, text: 'ok' })
    expect(await health('/livez')).toEqual({ status: 200, text: 'ok' })
    expect(await health('/readyz')).toEqual({
      status: 500,
      text: '[+]ping ok\n[+]well ok\n[-]unwell failed: reason withheld\nreadyz check failed\n',
    })
    expect(await health('/healthz', [broken])).toMatchObject({ status: 500 })
  })

  test('lists everything when asked, and leaves out what is excluded', async () => {
    expect(await health('/healthz?verbose')).toEqual({
      status: 200,
      text: '[+]ping ok\n[+]well ok\nhealthz check passed\n',
    })
    expect(await health('/readyz?verbose&exclude=unwell&exclude=other')).toEqual({
      status: 200,
      text: '[+]ping ok\n[+]well ok\n[+]unwell excluded: ok\nwarn: some health checks cannot be excluded: no matches for "other"\nreadyz check passed\n',
    })
  })

  test('answers for one check, and for nothing else', async () => {
    expect(await health('/readyz/well')).toEqual({ status: 200, text: 'ok' })
    expect(await health('/readyz/unwell')).toEqual({
      status: 500,
      text: 'internal server error: unwell check failed\n',
    })
    for (const path of ['/readyz/other', '/healthz/unwell', '/healthzz', '/readyz/well/x', '/readyz/%'])
      expect(await health(path)).toBeUndefined()
  })

  test('takes a check that does not answer for one that failed', async () => {
    const answered = health('/healthz', [{ name: 'slow', failure: () => new Promise(() => undefined) }])
    await clock.advance(5000)
    expect(await answered).toMatchObject({ status: 500 })
    expect(clock.pending).toBe(0)
  })
})

describe('runEndpoints', () => {
  test('serves health, metrics and reconciles, each only if it was given', async () => {
    const metrics = new Metrics()
    metrics.counter('made_total', { help: 'Made.' }).with().add(3)
    const url = await serve({
      live: [well],
      ready: [unwell],
      metrics,
      reconciles: () => ({ running: ['a'] }),
      rules: () => [{ rule: 'conflict' }],
    })
    expect(await ask(`${url}/healthz`)).toEqual({ status: 200, type: 'text/plain; charset=utf-8', text: 'ok' })
    expect((await ask(`${url}/readyz`)).status).toBe(500)
    expect(await ask(`${url}/metrics`)).toMatchObject({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      text: expect.stringContaining('made_total 3\n'),
    })
    expect(await ask(`${url}/debug/reconciles`)).toEqual({
      status: 200,
      type: 'application/json',
      text: '{"running":["a"]}\n',
    })
    expect(await ask(`${url}/debug/rules`)).toEqual({
      status: 200,
      type: 'application/json',
      text: '{"findings":[{"rule":"conflict"}]}\n',
    })
    expect((await ask(`${url}/other`)).status).toBe(404)
    expect(await ask(`${url}/healthz`, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    const bare = await serve({ live: [] })
    for (const path of ['/metrics', '/debug/reconciles', '/debug/rules'])
      expect((await ask(`${bare}${path}`)).status).toBe(404)
  })

  test('F16: / lists the endpoints that exist: a page for a browser, lines for curl', async () => {
    const url = await serve({ live: [well], metrics: new Metrics(), reconciles: () => ({}) })
    const lines = await ask(url)
    expect(lines).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' })
    const listed = lines.text.match(/^\/\S+/gm) ?? []
    expect(listed).toEqual(['/healthz', '/readyz', '/readyz?verbose', '/metrics', '/debug/reconciles'])
    for (const path of listed) expect((await ask(`${url}${path}`)).status).toBe(200)

    const page = await ask(url, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect(page).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' })
    expect([...page.text.matchAll(/href="(\/[^"]+)"/g)].map(([, path]) => path)).toEqual(listed)
    expect((await ask(url, { method: 'HEAD' })).text).toBe('')
    expect((await ask(await serve({ live: [well] }))).text).not.toMatch(/metrics|debug/)
  })

  test('F16: / is refused to other names and other sites, as every endpoint', async () => {
    const url = await serve({ live: [well] })
    const headers = { accept: 'text/html' }
    expect((await ask(url, { headers: { ...headers, host: 'evil.example' } })).status).toBe(421)
    expect((await ask(url, { headers: { ...headers, origin: 'https://evil.example' } })).status).toBe(403)
    expect((await ask(url, { headers: { ...headers, 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  })

  test('refuses writes, other names and web pages', async () => {
    const url = await serve({ live: [well] })
    expect((await ask(`${url}/healthz`, { method: 'POST' })).status).toBe(405)
    expect((await ask(`${url}/healthz`, { headers: { host: 'evil.example' } })).status).toBe(421)
    expect((await ask(`${url}/healthz`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await ask(`${url}/healthz`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  })

  test('goes on after an endpoint failed', async () => {
    const url = await serve({
      live: [],
      reconciles: () => {
        throw new Error('secret')
      },
    })
    expect(await ask(`${url}/debug/reconciles`)).toEqual({
      status: 500,
      type: 'text/plain; charset=utf-8',
      text: 'internal server error\n',
    })
    expect((await ask(`${url}/healthz`)).status).toBe(200)
  })

  test('rejects when the port is taken, and frees it when stopped', async () => {
    const url = await serve({ live: [] })
    const port = Number(new URL(url).port)
    await expect(runEndpoints(new AbortController().signal, { port })).rejects.toThrow('EADDRINUSE')
    await stops.pop()?.()
    expect(await serve({ port, live: [] })).toBe(url)
  })
})

test('runEndpoints gives a request ten seconds to arrive, and an idle connection a minute', async () => {
  const servers: Server[] = []
  const note = (message: unknown): void => {
    servers.push((message as { server: Server }).server)
  }
  subscribe('http.server.request.start', note)
  await ask(`${await serve({ live: [] })}/healthz`)
  unsubscribe('http.server.request.start', note)
  expect(servers).toMatchObject([{ headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 60_000 }])
})

describe('endpointTask', () => {
  const task = async (
    more: Partial<Parameters<typeof endpointTask>[1]>,
    settings: Parameters<typeof endpointTask>[0] = {},
  ): Promise<{ url: string; stop: () => Promise<void> }> => {
    const stopping = new AbortController()
    const listening = deferred<string>()
    const options = {
      clock: new SimulatedClock(),
      log: silentLogger,
      metrics: new Metrics(),
      checks: () => ({ live: [], ready: [] }),
      describe: () => ({}),
      ...more,
    }
    const { run } = endpointTask({ ...settings, onListening: listening.resolve }, options)
    const running = run(stopping.signal, () => undefined)
    const stop = async (): Promise<void> => {
      stopping.abort()
      await running
    }
    stops.push(stop)
    return { url: await listening.promise, stop }
  }

  test('serves what the rules of requests have found, and nothing without rules', async () => {
    const rules = { onRequest: () => undefined, findings: () => [{ rule: 'conflict' }] as never }
    const { url } = await task({ rules })
    expect((await ask(`${url}/debug/rules`)).text).toBe('{"findings":[{"rule":"conflict"}]}\n')
    const bare = await task({})
    expect((await ask(`${bare.url}/debug/rules`)).status).toBe(404)
    expect((await ask(`${bare.url}/debug/reconciles`)).status).toBe(200)
  })

  test('measures the process while it serves, from the start of the process', async () => {
    const clock = new SimulatedClock()
    await clock.advance(90_000)
    const metrics = new Metrics()
    const measured = (name: string): number =>
      Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics.render())?.[1] ?? NaN)
    const { stop } = await task({ clock, metrics })
    expect(measured('process_start_time_seconds')).toBe((clock.now() - 90_000) / 1000)
    expect(measured('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    await stop()
    expect(measured('process_start_time_seconds')).toBe(0)
    expect(measured('process_resident_memory_bytes')).toBe(0)
  })
})

test('answerHealth logs a failed check with its problem, and nothing about the others', async () => {
  const clock = new SimulatedClock()
  const lines: unknown[] = []
  const log = createLogger({
    clock,
    sink: ({ level, message, fields }) => {
      lines.push([level, message, fields['check'], fields['problem'] ?? String(fields['error'])])
    },
  })
  await answerHealth('/livez', new URLSearchParams(), { live: [well, unwell, broken], ready: [], clock, log })
  expect(lines).toEqual([
    ['warn', 'health check failed', 'unwell', 'the secret reason'],
    ['warn', 'health check failed', 'broken', 'Error: thrown'],
  ])
})

test('answerHealth takes the name of a check as it is where it is not encoded correctly', async () => {
  const check: HealthCheck = { name: '%zz', failure: () => undefined }
  const options = { live: [check], ready: [], clock: new SimulatedClock() }
  expect(await answerHealth('/livez/%zz', new URLSearchParams(), options)).toEqual({ status: 200, text: 'ok' })
})

test('runEndpoints refuses a target that is no path, and drops a connection whose failure cannot be logged', async () => {
  const log: Logger = {
    ...silentLogger,
    error: () => {
      throw new Error('no log')
    },
  }
  const url = await serve({
    live: [],
    log,
    reconciles: () => {
      throw new Error('no')
    },
  })
  const { port } = new URL(url)
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, path: `${url}/healthz`, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(status).toBe(400)
  await expect(ask(`${url}/debug/reconciles`)).rejects.toThrow('socket hang up')
})

const [foreign] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')

test.skipIf(!foreign)('runEndpoints serves /debug to this machine only, by the address of the caller', async () => {
  const url = await serve({ live: [], host: '0.0.0.0', reconciles: () => ({}) })
  const { port } = new URL(url)
  expect((await ask(`http://127.0.0.1:${port}/debug/reconciles`)).status).toBe(200)
  const far = `http://${foreign?.address ?? ''}:${port}`
  expect(await ask(`${far}/debug/reconciles`)).toMatchObject({
    status: 403,
    text: '/debug is available from this machine only\n',
  })
  expect((await ask(`${far}/healthz`)).status).toBe(200)
  expect((await ask(far)).text).not.toContain('/debug')
})
