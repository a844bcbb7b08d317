import { describe, expect, test } from 'vitest'
import { checkTimes } from './lease.ts'

describe('checkTimes', () => {
  test('has the numbers of client-go', () => {
    expect(checkTimes()).toEqual({ leaseMs: 15_000, renewMs: 10_000, retryMs: 2000, holdMs: 12_000, requestMs: 5000 })
  })

  test.each([
    { renewMs: 10_000, retryMs: 9000 },
    { leaseMs: 10_000, renewMs: 10_000 },
    { leaseMs: 10_900, renewMs: 10_000 },
    { leaseMs: 999, renewMs: 500, retryMs: 100 },
    { retryMs: 0 },
    { renewMs: -1 },
    { leaseMs: NaN },
    { leaseMs: Infinity },
  ])('case 103: refuses %o', (times) => {
    expect(() => checkTimes(times)).toThrow(RangeError)
  })

  test.each([{ leaseMs: 2000, renewMs: 1900, retryMs: 1000 }, { leaseMs: 1000, renewMs: 900, retryMs: 100 }, {}])(
    'a holder with %o stops before others begin',
    (times) => {
      const { holdMs, leaseMs, renewMs } = checkTimes(times)
      expect(holdMs).toBeLessThan(leaseMs)
      expect(holdMs).toBeGreaterThan(renewMs)
    },
  )
})
