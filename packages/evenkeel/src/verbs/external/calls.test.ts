import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { callsOf, CircuitBreaker, DriverCalls, RateLimiter } from './calls.ts'
import { ExternalError, isProviderUnavailable } from './driver.ts'

const signal = new AbortController().signal

test('RateLimiter never allows more than its rate and its burst, in any window', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 }),
      async (callsPerSecond, burst, waits) => {
        const clock = new SimulatedClock()
        const budget = new RateLimiter({ callsPerSecond, burst })
        const taken: number[] = []
        for (const waitMs of waits) {
          void budget.take({ clock, signal }).then(() => {
            taken.push(clock.monotonic())
          })
          await clock.advance(waitMs)
        }
        await clock.advance(60_000)
        expect(taken.length).toBe(waits.length)
        for (const [index, start] of taken.entries()) {
          const within = taken.slice(index).filter((at) => at < start + 1000).length
          expect(within).toBeLessThanOrEqual(callsPerSecond + burst)
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('CircuitBreaker opens after consecutive failures, allows one trial call, and stays open longer each time', async () => {
  const clock = new SimulatedClock()
  const random = new SeededRandom('1')
  const breaker = new CircuitBreaker({ failuresMax: 2, openMs: 1000, openMaxMs: 4000 })
  const fail = (): void => {
    breaker.failed(new Error('down'), { clock, random })
  }
  fail()
  breaker.enter(clock, 'shapes')
  fail()
  expect(() => {
    breaker.enter(clock, 'shapes')
  }).toThrow('shapes does not answer')
  await clock.advance(1300)
  breaker.enter(clock, 'shapes')
  expect(() => {
    breaker.enter(clock, 'shapes')
  }).toThrow('the circuit breaker is open')
  fail()
  await clock.advance(1300)
  expect(() => {
    breaker.enter(clock, 'shapes')
  }).toThrow('the circuit breaker is open')
  await clock.advance(1300)
  breaker.enter(clock, 'shapes')
  breaker.succeeded()
  expect(breaker.isOpen).toBe(false)
  breaker.enter(clock, 'shapes')
})

test('DriverCalls: a system that is down is not called by every caller, and recovers', async () => {
  const clock = new SimulatedClock()
  const random = new SeededRandom('1')
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} })
  const caller = { signal, clock, random, timeoutMs: 1000, connection: undefined }
  let [made, isDown] = [0, true]
  const ask = (): Promise<unknown> =>
    calls.make(caller, () => {
      made++
      return isDown ? Promise.reject(new Error('refused')) : Promise.resolve('there')
    })
  for (let each = 0; each < 20; each++) await ask().catch(() => undefined)
  expect(made).toBe(5)
  await clock.advance(1300)
  const both = await Promise.allSettled([ask(), ask()])
  expect(made).toBe(6)
  expect(both.map((one) => one.status === 'rejected' && isProviderUnavailable(one.reason))).toEqual([false, true])
  isDown = false
  await clock.advance(3000)
  expect(await ask()).toBe('there')
  expect(await ask()).toBe('there')
})

test('DriverCalls: a driver that hangs times out', async () => {
  const clock = new SimulatedClock()
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} })
  let isOver = false
  const hanging = calls
    .make(
      { signal, clock, random: new SeededRandom('1'), timeoutMs: 1000, connection: undefined },
      () => new Promise(() => undefined),
    )
    .catch((error: unknown) => {
      isOver = true
      return error
    })
  await clock.advance(999)
  expect(isOver).toBe(false)
  await clock.advance(1)
  expect(String(await hanging)).toContain('gave up after 1000 ms')
  expect(clock.pending).toBe(0)
})

test('DriverCalls: a back-off that the system asks for applies to all callers', async () => {
  const clock = new SimulatedClock()
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} })
  const caller = { signal, clock, random: new SeededRandom('1'), timeoutMs: 1000, connection: undefined }
  await calls
    .make(caller, () => Promise.reject(new ExternalError('slow down', { status: 429, retryAfterMs: 5000 })))
    .catch(() => undefined)
  let isMade = false
  const next = calls.make(caller, () => {
    isMade = true
    return Promise.resolve()
  })
  await clock.advance(4999)
  expect(isMade).toBe(false)
  await clock.advance(1)
  await next
  expect(isMade).toBe(true)
})

test('DriverCalls.collect takes all pages, refuses too many, and closes the stream', async () => {
  const clock = new SimulatedClock()
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} })
  const caller = { signal, clock, random: new SeededRandom('1'), timeoutMs: 1000, connection: undefined }
  let isClosed = false
  const open = async function* open(): AsyncGenerator<number[]> {
    try {
      for (let page = 0; page < 3; page++) yield await Promise.resolve([page, page])
    } finally {
      isClosed = true
    }
  }
  expect(await calls.collect(caller, { open, itemsMax: 10 })).toEqual([0, 0, 1, 1, 2, 2])
  isClosed = false
  await expect(calls.collect(caller, { open, itemsMax: 3 })).rejects.toThrow(
    'shapes: list returned more than 3 resources',
  )
  expect(isClosed).toBe(true)
})

test('callsOf shares the calls of a driver, and of no other', () => {
  const driver = { name: 'shapes', capabilities: {} } as never
  expect(callsOf(driver)).toBe(callsOf(driver))
  expect(callsOf({ name: 'shapes', capabilities: {} } as never)).not.toBe(callsOf(driver))
})

test('RateLimiter has a burst of one second of calls, at least one, by default', async () => {
  const taken = async (options: ConstructorParameters<typeof RateLimiter>[0]): Promise<number> => {
    const [clock, limiter] = [new SimulatedClock(), new RateLimiter(options)]
    let count = 0
    for (let call = 0; call < 10; call++)
      void limiter.take({ clock, signal }).then(() => {
        count++
      })
    await clock.advance(0)
    return count
  }
  expect([await taken({ callsPerSecond: 3 }), await taken({ callsPerSecond: 0.5 }), await taken(undefined)]).toEqual([
    3, 1, 10,
  ])
  expect(() => new RateLimiter({ callsPerSecond: 0 })).toThrow('callsPerSecond must be above 0')
  expect(() => new RateLimiter({ callsPerSecond: 1, burst: 0.5 })).toThrow('burst at least 1, got 1 and 0.5')
})

test('DriverCalls makes no call for a run that was aborted', async () => {
  const clock = new SimulatedClock()
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} as never })
  let made = 0
  const aborted = AbortSignal.abort(new Error('enough'))
  const context = { signal: aborted, clock, random: new SeededRandom('1'), timeoutMs: 1000, connection: undefined }
  await expect(
    calls.make(context as never, () => {
      made++
      return Promise.resolve()
    }),
  ).rejects.toThrow('enough')
  expect(made).toBe(0)
})

test('DriverCalls: a trial call that its caller aborts leaves the trial to the next one', async () => {
  const clock = new SimulatedClock()
  const calls = new DriverCalls({ name: 'shapes', capabilities: {} })
  const context = { signal, clock, random: new SeededRandom('1'), timeoutMs: 1000, connection: undefined }
  for (let each = 0; each < 5; each++)
    await calls.make(context, () => Promise.reject(new Error('refused'))).catch(() => undefined)
  await clock.advance(1300)
  const caller = new AbortController()
  const trial = calls.make({ ...context, signal: caller.signal }, () => new Promise(() => undefined))
  caller.abort(new Error('enough'))
  await expect(trial).rejects.toThrow('enough')
  expect(await calls.make(context, () => Promise.resolve('there'))).toBe('there')
})
