import { SimulatedClock } from '#base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Leases } from './leases.ts'

interface Fixture {
  readonly clock: SimulatedClock
  readonly leases: Leases
  readonly expired: string[]
}

/** Leases that are let go of when they expire, as a store does, and when that was. */
function setUp(): Fixture {
  const clock = new SimulatedClock()
  const expired: string[] = []
  const leases: Leases = new Leases({
    clock,
    onExpire: (id) => {
      const keys = leases.take(id)
      expired.push(`${id}@${clock.monotonic()}:${keys?.join() ?? 'gone'}`)
    },
  })
  return { clock, leases, expired }
}

const lease = (id: string, ttlMs: number, leftMs = ttlMs): { id: string; ttlMs: number; leftMs: number } => ({
  id,
  ttlMs,
  leftMs,
})

test('Leases expire exactly when their time is up, in order, with their keys', async () => {
  const { clock, leases, expired } = setUp()
  leases.add(lease('late', 300))
  leases.add(lease('early', 100))
  leases.attach('late', '/1')
  leases.attach('late', '/2')
  await clock.advance(99)
  expect([expired, leases.has('early')]).toEqual([[], true])
  await clock.advance(1)
  expect([expired, leases.has('early')]).toEqual([['early@100:'], false])
  await clock.advance(1_000)
  expect(expired).toEqual(['early@100:', 'late@300:/1,/2'])
  expect(clock.pending).toBe(0)
})

test('Leases set one timer, however many there are', () => {
  const { clock, leases } = setUp()
  for (let index = 0; index < 100; index++) leases.add(lease(String(index), 1_000 - index))
  expect([clock.pending, clock.nextInMs]).toEqual([1, 901])
  for (let index = 50; index < 100; index++) leases.take(String(index))
  expect([clock.pending, clock.nextInMs]).toEqual([1, 951])
})

test('Leases.renew restarts the full time to live', async () => {
  const { clock, leases, expired } = setUp()
  leases.add(lease('a', 100, 10))
  await clock.advance(9)
  expect([leases.renew('a'), leases.renew('none')]).toEqual([true, false])
  await clock.advance(99)
  expect(expired).toEqual([])
  await clock.advance(1)
  expect(expired).toEqual(['a@109:'])
})

test('Leases.take removes a lease and its timer', async () => {
  const { clock, leases, expired } = setUp()
  leases.add(lease('a', 100))
  leases.attach('a', '/1')
  expect([leases.take('a'), leases.take('a'), leases.has('a'), clock.pending]).toEqual([['/1'], undefined, false, 0])
  await clock.advance(1_000)
  expect(expired).toEqual([])
})

test('Leases track the keys of each lease', () => {
  const { leases } = setUp()
  leases.add(lease('a', 100))
  expect([leases.attach('a', '/1'), leases.attach('a', '/2'), leases.attach('gone', '/3')]).toEqual([true, true, false])
  leases.detach('a', '/1')
  leases.detach('a', '/none')
  leases.detach('gone', '/2')
  expect(leases.take('a')).toEqual(['/2'])
})

test('Leases.states returns the remaining time of each lease, at least 1 ms', async () => {
  const { clock, leases } = setUp()
  leases.add(lease('a', 100))
  leases.add(lease('b', 500, 200))
  await clock.advance(60)
  expect(leases.states()).toEqual([lease('a', 100, 40), lease('b', 500, 140)])
})

test('Leases that are stopped never expire', async () => {
  const { clock, leases, expired } = setUp()
  leases.add(lease('a', 100))
  leases.stop()
  leases.add(lease('b', 10))
  expect(clock.pending).toBe(0)
  await clock.advance(1_000)
  expect(expired).toEqual([])
  expect(leases.states()).toHaveLength(2)
})

test('Leases expire a lease that cannot be ended once, and the others too', async () => {
  const clock = new SimulatedClock()
  const notified: string[] = []
  const leases = new Leases({
    clock,
    onExpire: (id) => {
      notified.push(id)
    },
  })
  leases.add(lease('a', 10))
  leases.add(lease('b', 10))
  await clock.advance(1_000)
  expect(notified.sort()).toEqual(['a', 'b'])
  expect([leases.renew('a'), clock.pending]).toEqual([true, 1])
})

test('Leases are unaffected by jumps of the wall clock', async () => {
  const { clock, leases, expired } = setUp()
  leases.add(lease('a', 1_000))
  clock.jumpWall(10 * 365 * 86_400_000)
  await clock.advance(999)
  clock.jumpWall(-20 * 365 * 86_400_000)
  expect(expired).toEqual([])
  await clock.advance(1)
  expect(expired).toEqual(['a@1000:'])
})

type Step = { do: 'add' | 'renew' | 'take'; id: number; ttlMs: number } | { do: 'advance'; byMs: number }

test('Leases behave like a list of due times', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      do: fc.constantFrom('add' as const, 'renew' as const, 'take' as const),
      id: fc.nat({ max: 5 }),
      ttlMs: fc.integer({ min: 1, max: 50 }),
    }),
    fc.record({ do: fc.constant('advance' as const), byMs: fc.integer({ min: 0, max: 30 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const { clock, leases, expired } = setUp()
      const model = new Map<string, { ttlMs: number; dueMs: number }>()
      const ended: string[] = []
      for (const one of steps) {
        if (one.do === 'advance') {
          await clock.advance(one.byMs)
          for (const [id, { dueMs }] of [...model].filter(([, { dueMs: due }]) => due <= clock.monotonic())) {
            ended.push(`${id}@${dueMs}:`)
            model.delete(id)
          }
          continue
        }
        const id = String(one.id)
        const known = model.get(id)
        if (one.do === 'add' && !known) {
          leases.add(lease(id, one.ttlMs))
          model.set(id, { ttlMs: one.ttlMs, dueMs: clock.monotonic() + one.ttlMs })
        } else if (one.do === 'renew') {
          expect(leases.renew(id)).toBe(known !== undefined)
          if (known) known.dueMs = clock.monotonic() + known.ttlMs
        } else if (one.do === 'take') {
          expect(leases.take(id)).toEqual(known && [])
          model.delete(id)
        }
      }
      expect([...expired].sort()).toEqual(ended.sort())
      expect(
        leases
          .states()
          .map(({ id }) => id)
          .sort(),
      ).toEqual([...model.keys()].sort())
      expect(clock.pending).toBe(model.size > 0 ? 1 : 0)
    }),
  )
})
