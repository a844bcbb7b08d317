import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { Backoff, TokenBucket } from './backoff.ts'

const exact = (): Backoff => new Backoff({ jitter: 0 })

function fail(backoff: Backoff, key: string, times: number): number[] {
  return Array.from({ length: times }, () => backoff.next(key))
}

describe('Backoff', () => {
  test('case 24: waits 5 ms, doubles, and stays at exactly 1000 s', () => {
    const waits = fail(exact(), 'a', 25)
    expect(waits.slice(0, 18)).toEqual(Array.from({ length: 18 }, (_, index) => 5 * 2 ** index))
    expect(waits.slice(18)).toEqual(Array.from({ length: 7 }, () => 1_000_000))
  })

  test('case 25: stays at 1000 s after 2000 failures', () => {
    const waits = fail(exact(), 'a', 2000)
    expect(waits.every((wait) => wait > 0 && wait <= 1_000_000)).toBe(true)
    expect(waits.at(-1)).toBe(1_000_000)
  })

  test('case 26: starts afresh after forget', () => {
    const backoff = exact()
    fail(backoff, 'a', 3)
    expect(backoff.retries('a')).toBe(3)
    backoff.forget('a')
    expect(backoff.retries('a')).toBe(0)
    expect(backoff.next('a')).toBe(5)
  })

  test('counts each key for itself, whatever it is called', () => {
    const backoff = exact()
    fail(backoff, '__proto__', 2)
    expect([backoff.retries('__proto__'), backoff.retries('constructor'), backoff.next('constructor')]).toEqual([
      2, 0, 5,
    ])
  })

  test('jitter shortens by no more than its share, and is the same for the same seed', () => {
    fc.assert(
      fc.property(fc.integer(), fc.double({ min: 0, max: 1, noNaN: true }), (seed, jitter) => {
        const waits = fail(new Backoff({ random: new SeededRandom(seed), jitter }), 'a', 25)
        fail(exact(), 'a', 25).forEach((whole, index) => {
          expect(waits[index]).toBeLessThanOrEqual(whole)
          expect(waits[index]).toBeGreaterThanOrEqual(whole * (1 - jitter))
        })
        expect(fail(new Backoff({ random: new SeededRandom(seed), jitter }), 'b', 25)).toEqual(waits)
      }),
    )
  })

  test('jitter is on unless switched off: keys that fail together do not come back together', () => {
    const backoff = new Backoff({ random: new SeededRandom(1) })
    expect(new Set(Array.from({ length: 100 }, (_, index) => backoff.next(String(index)))).size).toBeGreaterThan(90)
  })

  test('case 31: with a bucket of 10/s and 100 at once, the 101st key waits 100 ms', () => {
    const clock = new SimulatedClock()
    const backoff = new Backoff({ jitter: 0, bucket: new TokenBucket({ clock }) })
    const waits = Array.from({ length: 102 }, (_, index) => backoff.next(String(index)))
    expect(waits.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 5))
    expect(waits[100]).toBeCloseTo(100)
    expect(waits[101]).toBeCloseTo(200)
  })

  test('spends a token also when the wait of the key is longer', () => {
    const backoff = new Backoff({
      baseMs: 1000,
      jitter: 0,
      bucket: new TokenBucket({ clock: new SimulatedClock(), perSecond: 0.1, burst: 1 }),
    })
    expect(backoff.next('a')).toBe(1000)
    expect(backoff.next('b')).toBeCloseTo(10_000)
  })

  test('refuses numbers that make no sense', () => {
    for (const baseMs of [0, -1, NaN, Infinity]) expect(() => new Backoff({ baseMs })).toThrow(RangeError)
    for (const maxMs of [4, NaN, Infinity]) expect(() => new Backoff({ maxMs })).toThrow(RangeError)
    for (const jitter of [-0.1, 1.1, NaN]) expect(() => new Backoff({ jitter })).toThrow(RangeError)
  })
})

describe('TokenBucket', () => {
  test('fills up again, but not over its burst', async () => {
    const clock = new SimulatedClock()
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 })
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 100])
    await clock.advance(3_600_000)
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 100])
  })

  test('lets no more tokens fall due than burst and rate allow', async () => {
    const perSecond = 7
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 60 }),
        async (burst, pauses) => {
          const clock = new SimulatedClock()
          const bucket = new TokenBucket({ clock, perSecond, burst })
          const due: number[] = []
          for (const pauseMs of pauses) {
            await clock.advance(pauseMs)
            due.push(clock.monotonic() + bucket.reserve())
          }
          due.forEach((endMs, last) =>
            due.slice(0, last + 1).forEach((startMs, first) => {
              expect(last - first + 1).toBeLessThanOrEqual(burst + ((endMs - startMs) * perSecond) / 1000 + 1e-6)
            }),
          )
        },
      ),
      { numRuns: 20 },
    )
  })

  test('refuses numbers that make no sense', () => {
    for (const perSecond of [0, -1, NaN, Infinity]) expect(() => new TokenBucket({ perSecond })).toThrow(RangeError)
    for (const burst of [0, NaN, Infinity]) expect(() => new TokenBucket({ burst })).toThrow(RangeError)
  })
})
