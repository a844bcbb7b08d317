import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runLists, runRequests } from './closed-loop.ts'
import { runWatch } from './fan-out.ts'
import { Generator } from './generator.ts'
import type { Place, RequestsJob, WatchJob } from './jobs.ts'
import { StubServer } from './stub-server.fixture.ts'

let server: StubServer
let place: Place

beforeEach(async () => {
  server = new StubServer()
  place = { address: await server.listen(), kind: 'configmap', namespace: 'a', processIds: [] }
})

afterEach(() => server.close())

function requestsJob(operation: RequestsJob['operation'], more: Partial<RequestsJob> = {}): RequestsJob {
  return {
    type: 'requests',
    place,
    operation,
    connections: 3,
    run: 'run',
    bounds: { durationMs: Infinity, countMax: 20 },
    ...more,
  }
}

function watchJob(more: Partial<WatchJob> = {}): WatchJob {
  return {
    type: 'watch',
    place,
    watchers: 4,
    writers: 2,
    lagMax: 5,
    run: 'run',
    bounds: { durationMs: Infinity, countMax: 30 },
    ...more,
  }
}

describe('runRequests', () => {
  test('creates exactly the requested number of objects, each with a unique name', async () => {
    const { count, p50Ms, p99Ms } = await runRequests(requestsJob('create'))
    expect(count).toBe(20)
    expect(server.objects.size).toBe(20)
    expect(server.objects.has('run-0000000019')).toBe(true)
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms)
  })

  test('updates one object per connection with the version of the last response', async () => {
    const { count } = await runRequests(requestsJob('update'))
    expect(count).toBe(20)
    expect([...server.objects.keys()].sort()).toEqual(['run-own-0', 'run-own-1', 'run-own-2'])
    expect(server.conflicts).toBe(0)
    expect(server.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(20)
  })

  test.each([
    ['get', 'GET'],
    ['merge patch', 'PATCH'],
  ] as const)('sends a %s as %s', async (operation, method) => {
    await runRequests(requestsJob(operation))
    expect(
      server.requests.filter((request) => request === `${method} /api/v1/namespaces/a/configmaps/run-own-1`).length,
    ).toBeGreaterThan(0)
  })

  test('fails with the first wrong response', async () => {
    server.failEvery = 10
    await expect(runRequests(requestsJob('update'))).rejects.toThrow(
      'status 500 instead of 200: {"message":"requested failure"}',
    )
  })

  test('fails when no server listens', async () => {
    await expect(
      runRequests(requestsJob('create', { place: { ...place, address: { url: 'http://127.0.0.1:1', token: '' } } })),
    ).rejects.toThrow('ECONNREFUSED')
  })
})

describe('runLists', () => {
  test('lists the requested number of times', async () => {
    await runRequests(requestsJob('create'))
    const { count } = await runLists({
      type: 'list',
      place,
      items: 20,
      gzip: false,
      bounds: { durationMs: Infinity, countMax: 4 },
    })
    expect(count).toBe(4)
    expect(server.requests.filter((request) => request.startsWith('GET'))).toHaveLength(5)
  })

  test('rejects a list of the wrong length', async () => {
    await runRequests(requestsJob('create'))
    await expect(
      runLists({ type: 'list', place, items: 21, gzip: false, bounds: { durationMs: 0, countMax: 1 } }),
    ).rejects.toThrow('expected a list of 21 objects, got 20')
  })
})

describe('runWatch', () => {
  test('waits until every watcher has received every event', async () => {
    const { count, p50Ms } = await runWatch(watchJob())
    expect(count).toBe(4 * 30)
    expect(p50Ms).toBeGreaterThan(0)
  })

  test('fails when the server ends a watch', async () => {
    server.watchEventsMax = 10
    await expect(runWatch(watchJob())).rejects.toThrow('ended a watch')
  })
})

describe('Generator', () => {
  test('runs jobs in a separate process and reports why one failed', async () => {
    const generator = new Generator({ execArgv: ['--import', 'tsx'] })
    try {
      expect(await generator.run(requestsJob('create'))).toMatchObject({ count: 20, serverCpuUs: NaN })
      server.failEvery = 5
      await expect(generator.run(requestsJob('create', { run: 'again' }))).rejects.toThrow(
        /requests at http.*status 500/,
      )
    } finally {
      await generator.stop()
    }
  })
})
