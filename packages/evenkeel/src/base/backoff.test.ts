import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExponentialBackoff, exponentialMs } from './backoff.ts'
import { SeededRandom, type Random } from './random.ts'

const unusedRandom: Random = {
  uint32: () => {
    throw new Error('drawn')
  },
}

const range = fc
  .tuple(fc.double({ min: 0.001, max: 1e6, noNaN: true }), fc.double({ min: 1, max: 1e6, noNaN: true }))
  .map(([baseMs, factor]) => ({ baseMs, maxMs: baseMs * factor }))

test('without jitter each wait doubles up to the maximum, and no random number is drawn', () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 1, max: 2000 }), ({ baseMs, maxMs }, count) => {
      const backoff = new ExponentialBackoff({ baseMs, maxMs, random: unusedRandom })
      let expected = baseMs
      for (let failures = 0; failures < count; failures++) {
        expect(backoff.next()).toBe(Math.min(maxMs, expected))
        expected = Math.min(maxMs, expected * 2)
      }
      backoff.reset()
      expect(backoff.next()).toBe(baseMs)
    }),
  )
})

test('jitter keeps a wait between from and from + by of the exact one, and repeats with its seed', () => {
  const jitters = fc.constantFrom(
    { from: 1, by: -0.1 },
    { from: 1, by: 1 },
    { from: 1, by: 0.1 },
    { from: 0.5, by: 0.5 },
  )
  fc.assert(
    fc.property(fc.tuple(range, jitters), fc.integer(), fc.nat({ max: 5000 }), ([options, jitter], seed, failures) => {
      const make = (): ExponentialBackoff =>
        new ExponentialBackoff({ ...options, jitter, random: new SeededRandom(seed) })
      const exactMs = exponentialMs(failures, options)
      const [oneMs, otherMs] = [exactMs * jitter.from, exactMs * (jitter.from + jitter.by)]
      const delayMs = make().delayMs(failures)
      expect(delayMs).toBeGreaterThanOrEqual(Math.min(oneMs, otherMs))
      expect(delayMs).toBeLessThanOrEqual(Math.max(oneMs, otherMs))
      expect(make().delayMs(failures)).toBe(delayMs)
    }),
  )
})

test('leastMs replaces a shorter wait before the jitter', () => {
  const backoff = new ExponentialBackoff({ baseMs: 10, maxMs: 1000, random: unusedRandom })
  expect([backoff.delayMs(0, { leastMs: 70 }), backoff.delayMs(4, { leastMs: 70 })]).toEqual([70, 160])
  const spread = new ExponentialBackoff({
    baseMs: 10,
    maxMs: 1000,
    jitter: { from: 1, by: 0.1 },
    random: { uint32: () => 2 ** 31 },
  })
  expect(spread.delayMs(0, { leastMs: 100 })).toBeCloseTo(105, 6)
})

test.each([
  { baseMs: 0, maxMs: 1 },
  { baseMs: NaN, maxMs: 1 },
  { baseMs: 2, maxMs: 1 },
  { baseMs: 1, maxMs: Infinity },
])('refuses %o', (options) => {
  expect(() => new ExponentialBackoff({ ...options, random: unusedRandom })).toThrow(RangeError)
})
