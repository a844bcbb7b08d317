import { describe, expect, test } from 'vitest'
import {
  checkTimes,
  claimed,
  durationMsOf,
  fingerprintOf,
  firstClaim,
  holderOf,
  released,
  type LeaseObject,
  type LeaseSpec,
} from './lease.ts'

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

test('a record keeps the fields of others, counts changes of the holder, and is released for everyone', () => {
  const nowMs = 1_767_225_605_000
  const now = '2026-01-01T00:00:05.000000Z'
  const before = '2026-01-01T00:00:00.000000Z'
  const claim = { identity: 'me', leaseMs: 15_500, nowMs }
  expect(firstClaim(claim)).toEqual({
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    renewTime: now,
    acquireTime: now,
    leaseTransitions: 0,
  })
  const other = { holderIdentity: 'other', acquireTime: before, leaseTransitions: 3, strategy: 'x' }
  expect(claimed(other, claim)).toMatchObject({ acquireTime: now, renewTime: now, leaseTransitions: 4, strategy: 'x' })
  expect(claimed({ ...other, holderIdentity: 'me' }, claim)).toMatchObject({ acquireTime: before, leaseTransitions: 3 })
  expect(claimed({ holderIdentity: 'me' }, claim)).toMatchObject({ acquireTime: now, leaseTransitions: 0 })
  expect(released(other, nowMs)).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    renewTime: now,
    acquireTime: now,
    leaseTransitions: 3,
    strategy: 'x',
  })
  expect(released({}, nowMs)).toMatchObject({ leaseTransitions: 0 })
})

test('the fingerprint of a record does not depend on the order of its fields', () => {
  const lease = (spec?: LeaseSpec): LeaseObject => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'it' },
    ...(spec && { spec }),
  })
  const [one, two] = [
    { holderIdentity: 'me', leaseTransitions: 1 },
    { leaseTransitions: 1, holderIdentity: 'me' },
  ]
  expect(fingerprintOf(lease(one))).toBe(fingerprintOf(lease(two)))
  expect(fingerprintOf(lease(one))).not.toBe(fingerprintOf(lease({ ...one, leaseTransitions: 2 })))
  expect([holderOf(lease()), durationMsOf(lease()), fingerprintOf(lease())]).toEqual(['', 0, '{}'])
  expect(durationMsOf(lease({ leaseDurationSeconds: 15 }))).toBe(15_000)
})
