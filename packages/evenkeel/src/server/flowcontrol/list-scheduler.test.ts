import { expect, test } from 'vitest'
import { ListScheduler } from './list-scheduler.ts'
import { TurnClock } from './turn-clock.fixture.ts'

test('row 21: Pace lets one long list work per turn of the event loop, whoever comes, in their order', async () => {
  const clock = new TurnClock()
  const pace = new ListScheduler(clock)
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
  const pace = new ListScheduler(new TurnClock())
  expect(Array.from({ length: 20 }, () => pace.turn())).toEqual(Array(20).fill(undefined))
})

test('row 21: Pace.pause waits for a later turn although the clock stands still, behind those who waited before', async () => {
  const clock = new TurnClock()
  const pace = new ListScheduler(clock)
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let share = 0; share < 3; share++) {
      done.push(`${name}${share}`)
      await pace.pause()
    }
  }
  void work('a')
  void work('b')
  expect(done).toEqual(['a0', 'b0'])
  for (const expected of ['a1', 'b1', 'a2', 'b2']) {
    await clock.endTurn()
    expect(done.at(-1)).toBe(expected)
  }
})
