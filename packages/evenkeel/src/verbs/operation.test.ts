import { describe, expect, test } from 'vitest'
import { defineKind, formatTime, type OperationObject } from '#api'
import { SimulatedClock } from '#base'
import { action } from './action.ts'
import type { OperationAction } from './operation.ts'

const App = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'App' })
const startMs = 1_767_225_600_000
const app = { apiVersion: App.apiVersion, kind: 'App', metadata: { name: 'web', namespace: 'a', uid: 'u1' } }

function operation(name: string, more: { spec?: object; status?: object } = {}): OperationObject {
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'Operation',
    metadata: { name, namespace: 'a', uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      action: 'backup',
      target: { apiVersion: App.apiVersion, kind: 'App', name: 'web', uid: 'u1' },
      ...more.spec,
    },
    ...(more.status && { status: more.status }),
  } as never
}

/** One run of an object with these operations: what is performed, written and deleted, and when the key runs again. */
async function handled(
  operations: readonly OperationObject[],
  {
    options = {},
    run = {},
    perform = () => undefined,
    laterMs = 0,
    stored = (status) => status,
  }: {
    options?: object
    run?: object
    perform?: () => unknown
    laterMs?: number
    /** What the server keeps of a status. */
    stored?: (status: object) => object
  } = {},
): Promise<{
  ended: number
  performed: string[]
  written: unknown[]
  statuses: object[]
  deleted: string[]
  result: unknown
}> {
  const verb = action('backup', { form: 'operation', ...options }) as OperationAction<unknown, unknown>
  const [performed, written, deleted] = [[] as string[], [] as unknown[], [] as string[]]
  const statuses: object[] = []
  const base = {
    clock: new SimulatedClock({ startMs: startMs + laterMs }),
    signal: new AbortController().signal,
    client: {
      patchStatus: (one: OperationObject, status: { phase: string; message?: string }) => {
        written.push([one.metadata.name, status.phase, status.message])
        statuses.push(status)
        return Promise.resolve({ ...one, status: stored({ ...one.status, ...status }) })
      },
      delete: (one: OperationObject) => {
        deleted.push(one.metadata.name ?? '')
        return Promise.resolve()
      },
    },
  } as never
  const cache = {
    list: () => operations,
    find: (_: unknown, { name }: { name: string }) => operations.find(({ metadata }) => metadata.name === name),
  }
  const extension = verb.extend(base, { object: app, isCleanup: false, cache, ...run } as never)
  const ended = await verb.handle(base, ({ operation: { metadata } }) => {
    performed.push(metadata.name ?? '')
    return perform()
  })
  return { ended, performed, written, statuses, deleted, result: await extension.finish?.() }
}

/** An operation that ended so many milliseconds before the clock of the test. */
function ended(name: string, agoMs: number): OperationObject {
  const completionTime = formatTime(startMs - agoMs)
  return operation(name, { status: { phase: 'Succeeded', completionTime } })
}

describe('an action of the form operation', () => {
  test('is not performed without an object, nor while the object is being deleted', async () => {
    for (const run of [{ object: undefined }, { isCleanup: true }])
      expect(await handled([operation('a')], { run })).toMatchObject({ ended: 0, performed: [], written: [] })
    expect(await handled([operation('a')])).toMatchObject({ ended: 1, performed: ['a'] })
  })

  test('is performed for its own action and the UID of its object only', async () => {
    const others = [
      operation('a', { spec: { action: 'restart' } }),
      operation('b', { spec: { target: { apiVersion: App.apiVersion, kind: 'App', name: 'web', uid: 'u0' } } }),
    ]
    expect(await handled(others)).toMatchObject({ ended: 0, performed: [] })
  })

  test('ends with the result, the error or the cancellation', async () => {
    expect((await handled([operation('a')])).written).toEqual([
      ['a', 'Running', undefined],
      ['a', 'Succeeded', ''],
    ])
    const failing = (): never => {
      throw new Error('no disk')
    }
    expect((await handled([operation('a')], { perform: failing })).written[1]).toEqual(['a', 'Failed', 'no disk'])
    const cancelled = operation('a', { spec: { cancel: true }, status: { phase: 'Running' } })
    expect((await handled([cancelled])).written).toEqual([['a', 'Cancelled', 'cancelled while running']])
    expect((await handled([operation('a', { spec: { cancel: true } })])).performed).toEqual([])
  })

  test.each([
    ['Forbid', ['a'], [['b', 'Failed']]],
    ['Queue', ['a', 'b'], []],
    ['Replace', ['b'], [['a', 'Cancelled']]],
  ])('with policy %s performs %j of two and ends without it %j', async (policy, performed, others) => {
    const found = await handled([operation('a'), operation('b')], { options: { policy } })
    expect(found.performed).toEqual(performed)
    const unperformed = found.written.filter((line) => !performed.includes((line as string[])[0] ?? ''))
    expect(unperformed.map((line) => (line as string[]).slice(0, 2))).toEqual(others)
    expect(found.ended).toBe(2)
  })

  test('that ended is deleted when its time is over, and the key runs again at that moment', async () => {
    const options = { ttlSeconds: 30 }
    expect(await handled([ended('a', 30_000)], { options })).toMatchObject({ deleted: ['a'], result: undefined })
    expect(await handled([ended('a', 29_000)], { options })).toMatchObject({ deleted: [], result: { afterMs: 1000 } })
    expect(await handled([ended('a', 0)], { options, laterMs: 29_999 })).toMatchObject({
      deleted: [],
      result: { afterMs: 1 },
    })
    const own = operation('b', { spec: { ttlSeconds: 10 }, status: { ...ended('b', 10_000).status } })
    expect((await handled([own, ended('a', 10_000)], { options })).deleted).toEqual(['b'])
  })

  test('is kept for a day and among the ten newest, by default', async () => {
    expect((await handled([ended('a', 86_400_000)])).deleted).toEqual(['a'])
    expect((await handled([ended('a', 86_399_000)])).result).toEqual({ afterMs: 1000 })
    const many = Array.from({ length: 11 }, (_, index) => ended(`o${String(index).padStart(2, '0')}`, 1000))
    expect((await handled(many)).deleted).toEqual(['o00'])
  })

  test('makes its object run: by action, group and kind of the target', () => {
    const verb = action('backup', { form: 'operation' })
    const [watch] = verb.adds?.({ for: App } as never).watches ?? []
    const keys = (one: OperationObject): unknown => watch?.map?.(one as never, {} as never)
    const target = { apiVersion: App.apiVersion, kind: 'App', name: 'web', uid: 'u1' }
    expect(keys(operation('a'))).toEqual([{ name: 'web', namespace: 'a' }])
    expect(keys(operation('a', { spec: { action: 'restart' } }))).toEqual([])
    expect(keys(operation('a', { spec: { target: { ...target, kind: 'Other' } } }))).toEqual([])
    expect(keys(operation('a', { spec: { target: { ...target, apiVersion: 'other.dev/v1' } } }))).toEqual([])
  })
})

describe('an action of the form operation with a retry policy', () => {
  const options = { retry: { attempts: 3, backoffMs: 1500, maxBackoffMs: 60_000 } }
  const unavailable = (): never => {
    throw Object.assign(new Error('try later'), { status: 503 })
  }
  const waiting = operation('a', {
    status: { phase: 'Running', attempts: 1, lastError: 'try later', nextAttemptTime: '2026-01-01T00:00:02Z' },
  })

  test('F16: records attempt, error and time of the next one, and runs again then', async () => {
    const { ended, statuses, result } = await handled([operation('a')], { options, perform: unavailable })
    expect([ended, statuses.at(-1), result]).toEqual([
      0,
      { attempts: 1, lastError: 'try later', nextAttemptTime: '2026-01-01T00:00:02Z' },
      { afterMs: 2000 },
    ])
  })

  test('F16: a restarted controller waits for the rest of the time, then makes the next attempt', async () => {
    expect(await handled([waiting], { options, perform: unavailable, laterMs: 1500 })).toMatchObject({
      performed: [],
      written: [],
      result: { afterMs: 500 },
    })
    const { performed, statuses } = await handled([waiting], { options, perform: unavailable, laterMs: 2000 })
    expect([performed, statuses]).toEqual([
      ['a'],
      [{ attempts: 2, lastError: 'try later', nextAttemptTime: '2026-01-01T00:00:05Z' }],
    ])
  })

  test('F16: ends as Failed after the last attempt, and as Succeeded after one that succeeds', async () => {
    const last = operation('a', { status: { ...waiting.status, attempts: 2 } })
    const { ended, statuses } = await handled([last], { options, perform: unavailable, laterMs: 2000 })
    expect([ended, statuses]).toEqual([
      1,
      [
        {
          phase: 'Failed',
          message: 'try later (attempt 3 of 3)',
          attempts: 3,
          completionTime: '2026-01-01T00:00:02Z',
          nextAttemptTime: null,
        },
      ],
    ])
    const good = await handled([last], { options, perform: () => 7, laterMs: 2000 })
    expect(good.statuses).toMatchObject([{ phase: 'Succeeded', result: 7, attempts: 3, nextAttemptTime: null }])
  })

  test('F16: an error that is not transient ends it at once, unless retryOn says otherwise', async () => {
    const broken = (): never => {
      throw new Error('no disk')
    }
    expect((await handled([operation('a')], { options, perform: broken })).written.at(-1)).toEqual([
      'a',
      'Failed',
      'no disk',
    ])
    const retry = { attempts: 2, retryOn: (error: unknown) => String(error).includes('disk') }
    expect((await handled([operation('a')], { options: { retry }, perform: broken })).statuses.at(-1)).toMatchObject({
      attempts: 1,
      lastError: 'no disk',
    })
  })

  test('F16: holds back its queue while it waits, and can be cancelled then', async () => {
    const queue = { ...options, policy: 'Queue' }
    expect((await handled([waiting, operation('b')], { options: queue })).performed).toEqual([])
    const cancelled = operation('a', { spec: { cancel: true }, status: { ...waiting.status } })
    expect((await handled([cancelled], { options })).written).toEqual([
      ['a', 'Cancelled', 'cancelled, or replaced by a later operation'],
    ])
  })

  test('F16: is not repeated for ever by a server that keeps no attempts', async () => {
    const stored = (): object => ({ phase: 'Running' })
    const { ended, written } = await handled([operation('a')], { options, perform: unavailable, stored })
    expect([ended, written.at(-1)]).toEqual([
      1,
      ['a', 'Failed', expect.stringContaining('the CustomResourceDefinition of Operation is outdated') as string],
    ])
  })

  test('F16: without a policy the first error ends it, as before', async () => {
    const { statuses } = await handled([operation('a')], { perform: unavailable })
    expect(statuses.at(-1)).toEqual({ phase: 'Failed', message: 'try later', completionTime: '2026-01-01T00:00:00Z' })
  })

  test.each([
    [{ attempts: 0 }, 'retry.attempts must be a whole number from 1 to 1000, got 0'],
    [{ attempts: 2, backoffMs: 0 }, 'retry.backoffMs must be above 0'],
    [{ attempts: 2, backoffMs: 10, maxBackoffMs: 5 }, 'at most maxBackoffMs, got 10 and 5'],
  ])('F16: refuses %j', (retry, message) => {
    expect(() => action('backup', { form: 'operation', retry })).toThrow(message)
    expect(() => action('backup', { form: 'token', retry } as never)).toThrow("retry needs the form 'operation'")
  })
})
