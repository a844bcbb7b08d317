import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTooManyRequests } from '#api'
import { SimulatedClock } from '#base'
import { FairQueue, type Seat } from './fair-queue.ts'

const usual = { seatsMax: 4, seatsPerUserMax: 3, waitingMax: 100, waitingPerUserMax: 10, waitMs: 1000 }
const never = (): undefined => undefined

/** Enters a number of times; tells how each went. */
class Caller {
  readonly seats: Seat[] = []
  refused = 0
  readonly #gate: FairQueue
  readonly #user: string

  constructor(gate: FairQueue, user: string) {
    this.#gate = gate
    this.#user = user
  }

  enter(count = 1, signal?: AbortSignal): void {
    for (let index = 0; index < count; index++) {
      try {
        void Promise.resolve(this.#gate.enter(this.#user, () => signal)).then(
          (seat) => this.seats.push(seat),
          () => {
            this.refused++
          },
        )
      } catch {
        this.refused++
      }
    }
  }

  leave(): void {
    this.seats.shift()?.leave()
  }
}

describe('Gate', () => {
  test('lets in at once who finds a seat, without a promise', () => {
    const gate = new FairQueue({ clock: new SimulatedClock(), ...usual })
    const seat = gate.enter('ann', never)
    expect(seat).not.toBeInstanceOf(Promise)
    expect(gate.seatsInUse).toBe(1)
    const taken = seat as Seat
    taken.leave()
    taken.leave()
    expect([gate.seatsInUse, gate.users]).toEqual([0, 0])
  })

  test('gives one user its share and no more, while others find room', async () => {
    const clock = new SimulatedClock()
    const gate = new FairQueue({ clock, ...usual })
    const [ann, bob] = [new Caller(gate, 'ann'), new Caller(gate, 'bob')]
    ann.enter(8)
    bob.enter()
    await clock.advance(0)
    expect([ann.seats.length, bob.seats.length, gate.waiting]).toEqual([3, 1, 5])
  })

  test('serves users in turn, however many requests each of them has', async () => {
    const clock = new SimulatedClock()
    const gate = new FairQueue({ clock, ...usual, seatsMax: 1, seatsPerUserMax: 1 })
    const order: string[] = []
    const held = gate.enter('door', never) as Seat
    const come = (user: string): void => {
      void Promise.resolve(gate.enter(user, never)).then((seat) => {
        order.push(user)
        seat.leave()
      })
    }
    for (const user of ['ann', 'ann', 'ann', 'ann', 'bob', 'cid', 'bob']) come(user)
    held.leave()
    await clock.advance(0)
    expect(order).toEqual(['ann', 'bob', 'cid', 'ann', 'bob', 'ann', 'ann'])
  })

  test('refuses who would make a line too long, and who waited too long, with the words and the wait that clients know', async () => {
    const clock = new SimulatedClock()
    const gate = new FairQueue({ clock, ...usual })
    const ann = new Caller(gate, 'ann')
    ann.enter(3 + 10 + 2)
    await clock.advance(0)
    expect(ann.refused).toBe(2)
    await clock.advance(999)
    expect(ann.refused).toBe(2)
    await clock.advance(1)
    expect([ann.refused, gate.refused, gate.waiting, clock.pending]).toEqual([12, 12, 0, 0])
    for (let index = 0; index < 10; index++) void Promise.resolve(gate.enter('ann', never)).catch(() => undefined)
    let error: unknown
    try {
      void gate.enter('ann', never)
    } catch (thrown) {
      error = thrown
    }
    expect(isTooManyRequests(error)).toBe(true)
    expect(error).toMatchObject({
      message: 'the server has received too many requests and has asked us to try again later',
      retryAfterMs: 1000,
    })
  })

  test('forgets who leaves while waiting', async () => {
    const clock = new SimulatedClock()
    const gate = new FairQueue({ clock, ...usual })
    const ann = new Caller(gate, 'ann')
    const leaving = new AbortController()
    ann.enter(3)
    ann.enter(2, leaving.signal)
    leaving.abort(new Error('gone'))
    await clock.advance(0)
    expect([gate.waiting, ann.refused, clock.pending]).toEqual([0, 2, 0])
    for (let index = 0; index < 3; index++) ann.leave()
    expect([gate.seatsInUse, gate.users]).toEqual([0, 0])
  })

  test('serves the others when one of several waiting requests is cancelled', async () => {
    const clock = new SimulatedClock()
    const gate = new FairQueue({ clock, ...usual, seatsMax: 1 })
    const [door, ann, bob] = [new Caller(gate, 'door'), new Caller(gate, 'ann'), new Caller(gate, 'bob')]
    const [first, only] = [new AbortController(), new AbortController()]
    door.enter()
    ann.enter(1, first.signal)
    ann.enter()
    new Caller(gate, 'cid').enter(1, only.signal)
    bob.enter()
    first.abort(new Error('gone'))
    only.abort(new Error('gone'))
    await clock.advance(0)
    door.leave()
    await clock.advance(0)
    expect([ann.seats.length, bob.seats.length]).toEqual([1, 0])
    ann.leave()
    await clock.advance(0)
    expect(bob.seats).toHaveLength(1)
  })

  test('keeps its invariants in every sequence of arrivals, departures and waits', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enter' as const), user: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constant('leave' as const), user: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constant('wait' as const), user: fc.constant('') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new SimulatedClock()
        const gate = new FairQueue({ clock, ...usual, seatsPerUserMax: 2, waitingPerUserMax: 3, waitingMax: 7 })
        const callers = new Map(['a', 'b', 'c'].map((user) => [user, new Caller(gate, user)]))
        for (const { kind, user } of steps) {
          if (kind === 'enter') callers.get(user)?.enter()
          else if (kind === 'leave') callers.get(user)?.leave()
          await clock.advance(kind === 'wait' ? 600 : 0)
          const inside = [...callers.values()].map(({ seats }) => seats.length)
          expect(gate.seatsInUse).toBe(inside.reduce((sum, count) => sum + count, 0))
          expect(gate.seatsInUse).toBeLessThanOrEqual(4)
          expect(Math.max(...inside)).toBeLessThanOrEqual(2)
          expect(gate.waiting).toBeLessThanOrEqual(7)
          // Nobody waits for a seat that it may have.
          if (gate.seatsInUse < 4 && gate.waiting > 0) expect(Math.max(...inside)).toBe(2)
        }
        for (const caller of callers.values()) while (caller.seats.length > 0) caller.leave()
        await clock.advance(2000)
        for (const caller of callers.values()) while (caller.seats.length > 0) caller.leave()
        expect([gate.seatsInUse, gate.waiting, gate.users, clock.pending]).toEqual([0, 0, 0, 0])
      }),
      { numRuns: 60 },
    )
  })
})
