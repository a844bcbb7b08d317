import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Deviation } from './deviation.ts'
import { drawSchedule } from './plan/plan.ts'

const singles: readonly Deviation[] = Array.from({ length: 8 }, (_, index): Deviation[] => [
  { at: { type: 'effect', index }, action: { type: 'crash' } },
  { at: { type: 'effect', index, when: 'after' }, action: { type: 'lose' } },
  { at: { type: 'effect', index }, action: { type: 'refuse', status: 500, reason: 'InternalError' } },
  { at: { type: 'quiet', index }, action: { type: 'silence' } },
]).flat()

describe('drawSchedule', () => {
  test('gives the same schedule for the same seed, with one to six deviations of the scenario', () => {
    const kinds = new Set(singles.map(({ action }) => JSON.stringify(action)))
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const drawn = drawSchedule(seed, singles)
        expect(drawSchedule(seed, singles)).toEqual(drawn)
        expect(drawn.length).toBeGreaterThanOrEqual(1)
        expect(drawn.length).toBeLessThanOrEqual(6)
        for (const { action } of drawn) expect(kinds).toContain(JSON.stringify(action))
      }),
    )
  })

  test('mixes: some seeds have one type of deviation, others several, and every type occurs', () => {
    const mixtures = Array.from(
      { length: 300 },
      (_, seed) => new Set(drawSchedule(String(seed), singles).map(({ action }) => action.type)),
    )
    expect(new Set(mixtures.map(({ size }) => size))).toEqual(new Set([1, 2, 3, 4]))
    expect(new Set(mixtures.flatMap((mixture) => [...mixture]))).toEqual(
      new Set(singles.map(({ action }) => action.type)),
    )
  })

  test('is empty without single deviations', () => {
    expect(drawSchedule('1', [])).toEqual([])
  })
})
