import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawSchedule } from './combinations.ts'
import type { Deviation } from './deviation.ts'

const singles: readonly Deviation[] = Array.from({ length: 8 }, (_, index): Deviation[] => [
  { at: { type: 'effect', index }, deed: { type: 'crash' } },
  { at: { type: 'effect', index, when: 'after' }, deed: { type: 'lose' } },
  { at: { type: 'effect', index }, deed: { type: 'refuse', status: 500, reason: 'InternalError' } },
  { at: { type: 'quiet', index }, deed: { type: 'silence' } },
]).flat()

describe('drawSchedule', () => {
  test('gives the same schedule for the same seed, of one to six deviations that the scenario has', () => {
    const kinds = new Set(singles.map(({ deed }) => JSON.stringify(deed)))
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const drawn = drawSchedule(seed, singles)
        expect(drawSchedule(seed, singles)).toEqual(drawn)
        expect(drawn.length).toBeGreaterThanOrEqual(1)
        expect(drawn.length).toBeLessThanOrEqual(6)
        for (const { deed } of drawn) expect(kinds).toContain(JSON.stringify(deed))
      }),
    )
  })

  test('mixes: some seeds have one kind of deviation, others several, and all kinds have their turn', () => {
    const mixtures = Array.from(
      { length: 300 },
      (_, seed) => new Set(drawSchedule(String(seed), singles).map(({ deed }) => deed.type)),
    )
    expect(new Set(mixtures.map(({ size }) => size))).toEqual(new Set([1, 2, 3, 4]))
    expect(new Set(mixtures.flatMap((mixture) => [...mixture]))).toEqual(new Set(singles.map(({ deed }) => deed.type)))
  })

  test('draws nothing where nothing can go wrong', () => {
    expect(drawSchedule('1', [])).toEqual([])
  })
})
