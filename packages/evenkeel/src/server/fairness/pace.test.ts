import { expect, test } from 'vitest'
import type { Clock } from '#base'
import { Pace } from './pace.ts'

/** A clock whose turns are ended by hand. */
class TurnClock implements Clock {
  nowMs = 0
  readonly #soon: (() => void)[] = []

  now(): number {
    return this.nowMs
  }

  monotonic(): number {
    return this.nowMs
  }

  after(): () => void {
    return () => undefined
  }

  soon(callback: () => void): void {
    this.#soon.push(callback)
  }

  async endTurn(): Promise<boolean> {
    const due = this.#soon.splice(0)
    for (const callback of due) callback()
    await Promise.resolve()
    return due.length > 0
  }
}

test('row 21: Pace lets one long list work per turn of the event loop, whoever comes, in their order', async () => {
  const clock = new TurnClock()
  const pace = new Pace(clock)
  const begun: number[] = []
  const list = (number: number): void => {
    const work = (): void => {
      begun.push(number)
      clock.nowMs += 40
    }
    const waiting = pace.turn()
    if (waiting) void waiting.then(work)
    else work()
  }
  for (let number = 0; number < 4; number++) list(number)
  expect(begun).toEqual([0])
  await clock.endTurn()
  expect(begun).toEqual([0, 1])
  list(4)
  for (let turn = 0; turn < 3; turn++) await clock.endTurn()
  expect(begun).toEqual([0, 1, 2, 3, 4])
  while (await clock.endTurn());
  list(5)
  expect(begun.at(-1)).toBe(5)
})

test('Pace lets short lists go on in the same turn', () => {
  const pace = new Pace(new TurnClock())
  expect(Array.from({ length: 20 }, () => pace.turn())).toEqual(Array(20).fill(undefined))
})
