import { describe, expect, test } from 'vitest'
import { deferred, flushTasks, SimulatedClock } from '#base'
import { CoverageCounter } from './coverage.ts'
import type { Deviation } from './deviation.ts'
import { FailureCollection } from './failures.ts'
import type { Finding } from './rules/rule.ts'
import type { ScheduleOutcome, ScheduleRunner } from './session.ts'
import { TierRunner, type Progress } from './tier-runner.ts'

const nothing: ScheduleOutcome = { findings: [], hash: '', exercised: [], nextDeviations: [], pruned: 0 }

function finding(about: string): Finding {
  return { rule: 'state', severity: 'error', about, message: about, step: 1 }
}

function schedule(index: number): readonly Deviation[] {
  return [{ at: { type: 'effect', index }, action: { type: 'crash' } }]
}

/** Returns the given outcome for each schedule; later schedules end first. */
function backwards(workers: number, say: (index: number) => ScheduleOutcome): ScheduleRunner {
  const waiting: (() => void)[] = []
  return {
    workers,
    async run({ deviations }) {
      const mine = deferred<void>()
      waiting.unshift(() => {
        mine.resolve()
      })
      if (waiting.length >= workers) for (const one of waiting.splice(0)) one()
      await Promise.race([mine.promise, flushTasks()])
      return say(deviations[0]?.at.index ?? 0)
    },
  }
}

function tourOf(
  runner: ScheduleRunner,
  more: Partial<ConstructorParameters<typeof TierRunner>[0]> = {},
): { tierRunner: TierRunner; collected: FailureCollection } {
  const collected = new FailureCollection({})
  const coverage = new CoverageCounter({ interactions: [], quietSteps: [], processes: [] } as never)
  return {
    collected,
    tierRunner: new TierRunner({ runner, collected, coverage, clock: new SimulatedClock(), ...more }),
  }
}

const ten = Array.from({ length: 10 }, (_, index) => schedule(index))

describe('Tour', () => {
  test.each([1, 2, 4])('collects outcomes in the order of the schedules, with %i workers', async (workers) => {
    const { tierRunner, collected } = tourOf(
      backwards(workers, (index) =>
        index % 3 === 2 ? { ...nothing, findings: [finding(`thing ${index}`)] } : nothing,
      ),
    )
    expect(await tierRunner.run(1, ten)).toHaveLength(10)
    expect(collected.failures.map(({ about, foundAt }) => `${about} at ${foundAt}`)).toEqual([
      'thing 2 at 3',
      'thing 5 at 6',
      'thing 8 at 9',
    ])
    expect(tierRunner.tiers).toEqual([{ tier: 1, planned: 10, done: 10, pruned: 0 }])
  })

  test.each([1, 3])('ends with the first schedule that meets `until`, with %i workers', async (workers) => {
    const { tierRunner, collected } = tourOf(
      backwards(workers, (index) => ({ ...nothing, findings: [finding(`thing ${index}`)] })),
      { until: ({ about }) => about === 'thing 4' },
    )
    await tierRunner.run(1, ten)
    expect(tierRunner.stopped).toBe('found')
    expect(collected.failures.map(({ about }) => about)).toEqual([
      'thing 0',
      'thing 1',
      'thing 2',
      'thing 3',
      'thing 4',
    ])
    expect(await tierRunner.run(2, ten)).toEqual([])
    expect(tierRunner.tiers.map(({ done, planned }) => `${done} of ${planned}`)).toEqual(['5 of 10', '0 of 10'])
  })

  test('ends at the time budget, at the schedule limit and on abort, and says which', async () => {
    const clock = new SimulatedClock()
    const slow: ScheduleRunner = {
      workers: 1,
      run: async () => {
        await clock.advance(100)
        return nothing
      },
    }
    const late = tourOf(slow, { clock, budgetMs: 350 }).tierRunner
    await late.run(1, ten)
    expect([late.stopped, late.schedules]).toEqual(['budget', 4])
    const counted = tourOf(slow, { clock, schedulesMax: 3 }).tierRunner
    await counted.run(1, ten)
    expect([counted.stopped, counted.schedules]).toEqual(['schedules', 3])
    const reported = tourOf(slow, { clock, signal: AbortSignal.abort() }).tierRunner
    await reported.run(1, ten)
    expect([reported.stopped, reported.schedules]).toEqual(['signal', 0])
  })

  test('gives a tier its share of the time, and continues with the next one', async () => {
    const clock = new SimulatedClock()
    const { tierRunner } = tourOf(
      {
        workers: 1,
        run: async () => {
          await clock.advance(100)
          return nothing
        },
      },
      { clock, budgetMs: 1000 },
    )
    await tierRunner.run(2, ten, { share: 0.5 })
    await tierRunner.run(3, ten)
    expect(tierRunner.tiers.map(({ done }) => done)).toEqual([6, 5])
    expect(tierRunner.stopped).toBe('budget')
  })

  test('gives a tier its share of the schedules, and continues with the next one', async () => {
    const { tierRunner } = tourOf({ workers: 1, run: () => Promise.resolve(nothing) }, { schedulesMax: 8 })
    await tierRunner.run(2, ten, { share: 0.5 })
    await tierRunner.run(3, ten)
    expect(tierRunner.tiers.map(({ done }) => done)).toEqual([4, 4])
    expect(tierRunner.stopped).toBe('schedules')
  })

  test('reports its progress', async () => {
    const clock = new SimulatedClock()
    const heard: Progress[] = []
    const { tierRunner } = tourOf(
      {
        workers: 1,
        run: async () => {
          await clock.advance(50)
          return nothing
        },
      },
      { clock, onProgress: (progress) => heard.push(progress) },
    )
    await tierRunner.run(1, ten)
    expect(heard).toHaveLength(10)
    expect(heard.at(-1)).toEqual({ tier: 1, done: 10, planned: 10, failures: 0, broken: [], perSecond: 20 })
  })
})
