import { expect, test } from 'vitest'
import { SystemClock } from '#base'
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
