import { describe, expect, test, vi } from 'vitest'
import { abortable, deadline, DeadlineError, nextTurn, onAbort, sleep } from './abort.ts'
import { countedSignal } from './counted-signal.fixture.ts'
import { deferred } from './deferred.ts'
import { SimulatedClock } from './simulated-clock.ts'

const reason = new Error('enough')

describe('onAbort', () => {
  test('calls back once with the reason when the signal aborts', () => {
    const { controller, signal } = countedSignal()
    const called = vi.fn()
    onAbort(signal, called)
    expect(called).not.toHaveBeenCalled()
    controller.abort(reason)
    controller.abort(new Error('again'))
    expect(called.mock.calls).toEqual([[reason]])
  })

  test('calls back at once when the signal has aborted', () => {
    const called = vi.fn()
    onAbort(AbortSignal.abort(reason), called)()
    expect(called.mock.calls).toEqual([[reason]])
  })

  test('stops listening when told to', () => {
    const { controller, signal, listeners } = countedSignal()
    const called = vi.fn()
    const stop = onAbort(signal, called)
    expect(listeners()).toBe(1)
    stop()
    stop()
    expect(listeners()).toBe(0)
    controller.abort(reason)
    expect(called).not.toHaveBeenCalled()
  })

  test('without a signal does nothing', () => {
    expect(
      onAbort(undefined, () => {
        throw new Error('called')
      })(),
    ).toBe(undefined)
  })
})

describe('abortable', () => {
  test('gives the outcome of the promise, and has stopped listening when it does', async () => {
    const { signal, listeners } = countedSignal()
    expect(await abortable(Promise.resolve(1), { signal })).toBe(1)
    expect(listeners()).toBe(0)
    await abortable(Promise.reject(reason), { signal }).catch((error: unknown) => {
      expect(error).toBe(reason)
    })
    expect(listeners()).toBe(0)
  })

  test('gives the reason of the signal if that comes first', async () => {
    const { controller, signal } = countedSignal()
    const work = deferred<number>()
    const waiting = abortable(work.promise, { signal })
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    work.resolve(1)
  })

  test('gives the reason of a signal that has aborted, and swallows what comes later', async () => {
    await expect(abortable(Promise.reject(new Error('later')), { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
    await expect(abortable(new Promise(() => undefined), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('without a signal is the promise', () => {
    const promise = Promise.resolve(1)
    expect(abortable(promise)).toBe(promise)
  })
})

describe('sleep', () => {
  test('waits on the clock and leaves nothing behind', async () => {
    const clock = new SimulatedClock()
    const { signal, listeners } = countedSignal()
    let isOver = false
    const waiting = sleep(clock, 100, { signal }).then(() => {
      isOver = true
    })
    expect([clock.pending, listeners()]).toEqual([1, 1])
    await clock.advance(99)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await waiting
    expect([isOver, clock.pending, listeners()]).toEqual([true, 0, 0])
  })

  test('is ended by the signal, timer and all', async () => {
    const clock = new SimulatedClock()
    const { controller, signal, listeners } = countedSignal()
    const waiting = sleep(clock, 100, { signal })
    controller.abort(reason)
    expect([clock.pending, listeners()]).toEqual([0, 0])
    await expect(waiting).rejects.toBe(reason)
  })

  test('does not begin when the signal has aborted', async () => {
    const clock = new SimulatedClock()
    await expect(sleep(clock, 100, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(clock.pending).toBe(0)
  })
})

test('nextTurn waits for the clock to give a turn', async () => {
  const clock = new SimulatedClock()
  let isOver = false
  const waiting = nextTurn(clock).then(() => {
    isOver = true
  })
  await Promise.resolve()
  expect(isOver).toBe(false)
  await clock.advance(0)
  await waiting
  expect(isOver).toBe(true)
})

describe('deadline', () => {
  test('aborts when its time is up, and leaves nothing behind', async () => {
    const clock = new SimulatedClock()
    const { signal: outer, listeners } = countedSignal()
    const { signal } = deadline(clock, 50, { signal: outer })
    await clock.advance(49)
    expect(signal.aborted).toBe(false)
    await clock.advance(1)
    expect(signal.reason).toEqual(new DeadlineError('gave up after 50 ms'))
    expect([clock.pending, listeners()]).toEqual([0, 0])
  })

  test('aborts with the given signal, timer and all', () => {
    const clock = new SimulatedClock()
    const { controller, signal: outer } = countedSignal()
    const { signal } = deadline(clock, 50, { signal: outer })
    controller.abort(reason)
    expect([signal.reason, clock.pending]).toEqual([reason, 0])
  })

  test('sets no timer when the given signal has aborted', () => {
    const clock = new SimulatedClock()
    const { signal } = deadline(clock, 50, { signal: AbortSignal.abort(reason) })
    expect([signal.reason, clock.pending]).toEqual([reason, 0])
  })

  test('never aborts once it is done', async () => {
    const clock = new SimulatedClock()
    const { controller, signal: outer, listeners } = countedSignal()
    const { signal, done } = deadline(clock, 50, { signal: outer })
    done()
    expect([clock.pending, listeners()]).toEqual([0, 0])
    controller.abort(reason)
    await clock.advance(100)
    expect(signal.aborted).toBe(false)
  })
})
