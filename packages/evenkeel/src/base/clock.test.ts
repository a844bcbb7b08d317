import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SystemClock } from './clock.ts'

const longestMs = 2 ** 31 - 1
const dayMs = 86_400_000

describe('SystemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance', 'Date'], now: 1_000_000 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('returns the wall-clock time and a monotonic time', () => {
    const clock = new SystemClock()
    const start = clock.monotonic()
    expect(clock.now()).toBe(1_000_000)
    vi.advanceTimersByTime(250)
    expect(clock.now()).toBe(1_000_250)
    vi.setSystemTime(5)
    expect(clock.now()).toBe(5)
    expect(clock.monotonic() - start).toBe(250)
  })

  test.each([
    0,
    1,
    1_000,
    dayMs,
    longestMs - 1,
    longestMs,
    longestMs + 1,
    longestMs * 2,
    longestMs * 2 + 1,
    60 * dayMs,
    365 * dayMs,
  ])('after waits %d ms, not less and not more', (delayMs) => {
    const fired = vi.fn()
    new SystemClock().after(delayMs, fired)
    if (delayMs > 0) vi.advanceTimersByTime(delayMs - 1)
    expect(fired).toHaveBeenCalledTimes(delayMs === 0 ? 0 : 0)
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(dayMs * 100)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([10, longestMs * 3])('after of %d ms can be cancelled at any time, and again', (delayMs) => {
    const fired = vi.fn()
    const cancel = new SystemClock().after(delayMs, fired)
    vi.advanceTimersByTime(delayMs / 2)
    cancel()
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(delayMs)
    expect(fired).not.toHaveBeenCalled()
  })

  test('cancelling after the timer fired does nothing', () => {
    const fired = vi.fn()
    const cancel = new SystemClock().after(1, fired)
    vi.advanceTimersByTime(1)
    cancel()
    expect(fired).toHaveBeenCalledTimes(1)
  })

  test.each([-1, NaN, Infinity, -Infinity])('after refuses a delay of %d', (delayMs) => {
    expect(() => new SystemClock().after(delayMs, () => undefined)).toThrow(RangeError)
  })

  test('soon calls back in a later turn', () => {
    const fired = vi.fn()
    new SystemClock().soon(fired)
    expect(fired).not.toHaveBeenCalled()
    vi.runAllTimers()
    expect(fired).toHaveBeenCalledTimes(1)
  })
})

test('SystemClock.soon runs after promise callbacks', async () => {
  const order: string[] = []
  await new Promise<void>((resolve) => {
    new SystemClock().soon(() => {
      order.push('soon')
      resolve()
    })
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => {
        order.push('promise')
      })
  })
  expect(order).toEqual(['promise', 'soon'])
})
