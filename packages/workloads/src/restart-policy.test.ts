import { SeededRandom } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { afterEnd, type AfterEnd } from './restart-policy.ts'

const ended = (exitCode: number | undefined, { failures = 0, restarts = 0, ranMs = 100 } = {}) => ({
  end: { atMs: 0, ...(exitCode !== undefined && { exitCode }), reason: 'Exited' },
  failures,
  restarts,
  startedMonotonicMs: 1000,
  endedMonotonicMs: 1000 + ranMs,
})
const exact = { uint32: () => 0 }
const waitOf = (after: AfterEnd): number => (after.then === 'restart' ? after.waitMs : Number.NaN)

describe('afterEnd', () => {
  test('W5: the wait doubles from 200 ms to 30 s', () => {
    const waits = [0, 1, 2, 3, 6, 7, 8, 100].map((failures) => waitOf(afterEnd(ended(1, { failures }), {}, exact)))
    expect(waits).toEqual([200, 400, 800, 1600, 12_800, 25_600, 30_000, 30_000])
  })

  test('W5: a wait is up to a tenth shorter, by chance', () => {
    const random = new SeededRandom('waits')
    const waits = Array.from({ length: 500 }, () => waitOf(afterEnd(ended(1), {}, random)))
    expect(Math.max(...waits)).toBeLessThanOrEqual(200)
    expect(Math.max(...waits)).toBeGreaterThan(198)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(180)
    expect(Math.min(...waits)).toBeLessThan(182)
  })

  test('W5: a run of 30 s begins the count again', () => {
    expect(afterEnd(ended(1, { failures: 9, ranMs: 29_999 }), {}, exact)).toMatchObject({
      failures: 10,
      waitMs: 30_000,
    })
    expect(afterEnd(ended(1, { failures: 9, ranMs: 30_000 }), {}, exact)).toMatchObject({ failures: 1, waitMs: 200 })
  })

  test.each([
    ['Always', 0, 'restart'],
    ['Always', 3, 'restart'],
    ['OnFailure', 0, 'Succeeded'],
    ['OnFailure', 3, 'restart'],
    ['OnFailure', undefined, 'restart'],
    ['Never', 0, 'Succeeded'],
    ['Never', 3, 'Failed'],
    ['Never', undefined, 'Failed'],
  ] as const)('policy %s after exit code %s: %s', (policy, code, expected) => {
    const after = afterEnd(ended(code), { policy }, exact)
    expect(after.then === 'stay' ? after.phase : after.then).toBe(expected)
  })

  test('a limit of restarts ends them', () => {
    expect(afterEnd(ended(1, { restarts: 2 }), { limit: 3 }, exact)).toMatchObject({ then: 'restart' })
    expect(afterEnd(ended(1, { restarts: 3 }), { limit: 3 }, exact)).toEqual({
      then: 'stay',
      phase: 'Failed',
      reason: 'RestartLimit',
    })
  })
})
