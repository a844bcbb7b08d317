import { expect, test } from 'vitest'
import { SystemClock, type Clock } from '#base'
import { OutputPace, TurnBudget } from './turn-budget.ts'
import { turn } from './turns.fixture.ts'

const piece = 65_536

/** Asks for writes, and tells which were granted by now. */
function ask(pace: OutputPace, count: number): number[] {
  const granted: number[] = []
  for (let index = 0; index < count; index++) {
    const waiting = pace.take(piece)
    if (waiting) void waiting.then(() => granted.push(index))
    else granted.push(index)
  }
  return granted
}

test('OutputPace spreads the writes of many streams over turns, in their order', async () => {
  const pace = new OutputPace(new SystemClock())
  const granted = ask(pace, 80)
  const inTurns = [granted.length]
  while (granted.length < 80) {
    const before = granted.length
    await turn()
    if (granted.length > before) inTurns.push(granted.length - before)
  }
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(3)
  expect(granted).toEqual(Array.from({ length: 80 }, (_, index) => index))
})

test('OutputPace makes a later write wait behind those that wait already', async () => {
  const pace = new OutputPace(new SystemClock())
  const granted = ask(pace, 40)
  await turn()
  const before = granted.length
  expect(before).toBeLessThan(40)
  expect(pace.take(1)).toBeInstanceOf(Promise)
})

test('OutputPace has a full budget again after a quiet turn', async () => {
  const pace = new OutputPace(new SystemClock())
  const first = ask(pace, 3)
  expect(first).toHaveLength(3)
  for (let turns = 0; turns < 3; turns++) await turn()
  expect(ask(pace, 3)).toHaveLength(3)
})

test('TurnBudget lets work that has waited begin before later work', async () => {
  const budget = new TurnBudget(new SystemClock(), { perTurn: 2 })
  const begun: string[] = []
  const begin = async (name: string): Promise<void> => {
    await budget.take(1)
    begun.push(name)
  }
  const all = ['a', 'b', 'c', 'd', 'e'].map(begin)
  await turn()
  const late = begin('late')
  await Promise.all([...all, late])
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'late'])
})

test('TurnBudget gives work that waits as much time as other work took, up to a maximum', async () => {
  let nowMs = 0
  const turns: (() => void)[] = []
  const clock = { monotonic: () => nowMs, soon: (callback: () => void) => turns.push(callback) }
  const budget = new TurnBudget(clock as unknown as Clock, { perTurn: 10, perTurnMax: 50, perMs: 10 })
  let begun = 0
  const work = Array.from({ length: 200 }, () => Promise.resolve(budget.take(1)).then(() => begun++))
  const inTurnAfter = async (ms: number): Promise<number> => {
    const before = begun
    nowMs += ms
    turns.shift()?.()
    await turn()
    return begun - before
  }
  await turn()
  expect(begun).toBe(10)
  expect(await inTurnAfter(20), 'how long the work has waited is not known yet').toBe(10)
  expect(await inTurnAfter(1), 'only its own time').toBe(10)
  expect(await inTurnAfter(4), 'three milliseconds of other work').toBe(30)
  expect(await inTurnAfter(100), 'the maximum').toBe(50)
  expect(await inTurnAfter(5), 'its own time again').toBe(10)
  while (turns.length > 0) await inTurnAfter(0)
  await Promise.all(work)
})
