import { expect, test } from 'vitest'
import { WorkScheduler } from './work-scheduler.ts'
import { TurnClock } from './turn-clock.fixture.ts'

test('row 21: Pace lets one long list work per turn of the event loop, whoever comes, in their order', async () => {
  const clock = new TurnClock()
  const pace = new WorkScheduler(clock)
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
  const pace = new WorkScheduler(new TurnClock())
  expect(Array.from({ length: 20 }, () => pace.turn())).toEqual(Array(20).fill(undefined))
})

test('row 21: Pace.pause waits for a later turn although the clock stands still, behind those who waited before', async () => {
  const clock = new TurnClock()
  const pace = new WorkScheduler(clock)
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

test('row 21: turns are fair by the time used: a user of long slices does not delay one of short slices', async () => {
  const clock = new TurnClock()
  const scheduler = new WorkScheduler(clock)
  const done: string[] = []
  const work = async (user: string, sliceMs: number): Promise<void> => {
    for (;;) {
      await scheduler.pause(user)
      done.push(user)
      clock.nowMs += sliceMs
    }
  }
  // Ten requests of one user do not get more time than one of another.
  for (let request = 0; request < 10; request++) void work('ada', 40)
  void work('bob', 5)
  for (let turn = 0; turn < 90; turn++) await clock.endTurn()
  const turnsOfAda = done.filter((user) => user === 'ada').length
  expect(done.length).toBe(90)
  expect(turnsOfAda).toBeGreaterThan(5)
  expect(turnsOfAda).toBeLessThan(15)
  expect(done.join(' ')).not.toContain('ada ada ada')
})

test('row 21: a user who was idle has no credit, and one who used much is forgiven in time', async () => {
  const clock = new TurnClock()
  const scheduler = new WorkScheduler(clock)
  const done: string[] = []
  const work = async (user: string, slices: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice++) {
      await scheduler.pause(user)
      done.push(user)
      clock.nowMs += 10
    }
  }
  void work('ada', 20)
  for (let turn = 0; turn < 10; turn++) await clock.endTurn()
  void work('bob', 10)
  for (let turn = 0; turn < 8; turn++) await clock.endTurn()
  expect(done.slice(10).filter((user) => user === 'bob').length).toBeLessThan(7)
  while (await clock.endTurn());
  expect(done.length).toBe(30)
})
