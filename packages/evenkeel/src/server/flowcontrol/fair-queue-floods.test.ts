import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { FairQueue, type Seat } from './fair-queue.ts'

const serviceMs = 10

/** What somebody who asks now and then has to wait, in all, while others ask as much as they can. */
async function waitsOf({ floods, perUser = 5 }: { floods: readonly string[]; perUser?: number }): Promise<number[]> {
  const clock = new SimulatedClock()
  const gate = new FairQueue({
    clock,
    seatsMax: 10,
    seatsPerUserMax: perUser,
    waitingMax: 10_000,
    waitingPerUserMax: 200,
    waitMs: 15_000,
  })
  let isOver = false
  const serve = async (user: string): Promise<void> => {
    const seat: Seat = await gate.enter(user, () => undefined)
    await new Promise<void>((resolve) => {
      clock.after(serviceMs, resolve)
    })
    seat.leave()
  }
  // Each of them always has 100 requests under way or waiting, begun at different moments.
  const flood = (user: string): void => {
    for (let index = 0; index < 100; index++) {
      const again = (): void => {
        void serve(user).then(() => {
          if (!isOver) again()
        })
      }
      clock.after(index % serviceMs, again)
    }
  }
  for (const user of floods) flood(user)
  const waits: number[] = []
  await clock.advance(500)
  for (let index = 0; index < 50; index++) {
    const begun = clock.monotonic()
    void serve('light').then(() => {
      waits.push(clock.monotonic() - begun)
    })
    await clock.advance(37)
  }
  isOver = true
  await clock.advance(60_000)
  return waits.sort((a, b) => a - b)
}

function p99(waits: readonly number[]): number {
  return waits[Math.floor(waits.length * 0.99)] ?? Number.NaN
}

describe('row 21: one user cannot make another wait', () => {
  test('row 21: a flood by one user changes nothing for another', async () => {
    const alone = await waitsOf({ floods: [] })
    expect(p99(alone)).toBe(serviceMs)
    expect(p99(await waitsOf({ floods: ['ann'] }))).toBeLessThanOrEqual(2 * p99(alone))
  })

  test('row 21: nor does one by several users who together could take every seat', async () => {
    expect(p99(await waitsOf({ floods: ['ann', 'bob', 'cid', 'dan'] }))).toBeLessThanOrEqual(2 * serviceMs)
  })

  test('row 21: nor one by a user who may have every seat: turns alone are enough', async () => {
    expect(p99(await waitsOf({ floods: ['ann'], perUser: 10 }))).toBeLessThanOrEqual(2 * serviceMs)
  })
})
