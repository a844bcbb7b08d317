import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { checkDependency, isReadyBy } from './dependency-check.ts'
import { App, app, Route, route, TestInformers } from './informers.fixture.ts'
import { targetsOf } from './reference.ts'

describe('checkDependency', () => {
  /** A check of a reference to an App whose kind is listed when `answer` resolves. */
  async function checked(clock: SimulatedClock, answer: Promise<void>): Promise<{ reason: string | undefined }> {
    const kind = {
      type: { ...App, namespaced: true, full: undefined },
      state: 'unknown',
      waitForAnswer: async ({ signal }: { signal: AbortSignal }) => {
        await Promise.race([
          answer,
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('no answer')))),
        ])
        kind.state = 'listed'
      },
      find: () => app(),
    }
    const referer = route('r', { name: 'web' })
    const [target] = targetsOf(referer, () => referer.spec.to, [App])
    const result = await checkDependency(target as never, {
      base: { clock, signal: new AbortController().signal, client: {} } as never,
      run: { cache: new TestInformers().cache, kind: Route },
      referer,
      followed: { kindOf: () => Promise.resolve(kind) } as never,
      ready: isReadyBy(undefined),
      contract: undefined,
      crossNamespace: 'deny',
      limits: { namespace: undefined, names: undefined },
      isOptional: false,
    })
    return { reason: result.reason }
  }

  test('waits until the kind is listed, and leaves no timer', async () => {
    const clock = new SimulatedClock()
    expect(await checked(clock, Promise.resolve())).toEqual({ reason: undefined })
    expect(clock.pending).toBe(0)
  })

  test('fails when the kind is not listed within ten seconds', async () => {
    const clock = new SimulatedClock()
    const failed = checked(clock, new Promise(() => undefined)).catch((error: unknown) => String(error))
    await clock.advance(10_000)
    expect(await failed).toContain('App was not listed within 10000 ms')
    expect(clock.pending).toBe(0)
  })
})

test('isReadyBy reports an expression that is not valid when it is used, and not before', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', note)
  try {
    const isReady = isReadyBy('object.(')
    await expect(isReadyBy('object.(')(app(), undefined)).rejects.toThrow(RangeError)
    await new SimulatedClock().advance(0)
    await expect(isReady(app(), undefined)).rejects.toThrow(RangeError)
  } finally {
    process.off('unhandledRejection', note)
  }
  expect(unhandled).toEqual([])
})
