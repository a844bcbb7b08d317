import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { play } from './model/player.ts'
import type { Step, WriteStep } from './model/step.ts'
import { storeEngines } from './targets/index.ts'
import { onTarget } from './targets/target.ts'
import type { RunningEngine, StoreNeed } from './targets/target.ts'

/** A real server has its own clock, and a compaction may overtake a new watch: the test retries and does not shrink. */
const withServer = (isServer: boolean): { retry: number } => ({ retry: isServer ? 2 : 0 })

/** The number of histories; EVENKEEL_RUNS overrides it. */
const runs = (usual: number): number => Number(process.env['EVENKEEL_RUNS'] ?? usual)

const small = fc.nat({ max: 50 })
const claim = fc.constantFrom('right', 'right', 'right', 'right', 'stale', 'absent', 'ahead')
const write: fc.Arbitrary<WriteStep> = fc
  .record(
    {
      key: fc.nat({ max: 4 }),
      claim,
      value: fc.string({ unit: fc.constantFrom('x', 'y', '\u0000', 'ÿ'), maxLength: 6 }),
      stamped: fc.boolean(),
      lease: fc.nat({ max: 4 }),
    },
    { requiredKeys: ['key', 'claim'] },
  )
  .map((step) => step as WriteStep)

const steps: { weight: number; needs?: StoreNeed; arbitrary: fc.Arbitrary<Step> }[] = [
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('commit'),
      writes: fc.array(write, { minLength: 1, maxLength: 3 }),
      checks: fc.array(fc.record({ key: fc.nat({ max: 4 }), claim }), { maxLength: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get'), key: fc.nat({ max: 4 }), at: small }) },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          do: fc.constant('range'),
          prefix: fc.nat({ max: 5 }),
          at: small,
          limit: fc.integer({ min: 1, max: 4 }),
          after: fc.nat({ max: 4 }),
        },
        { requiredKeys: ['do', 'prefix', 'at'] },
      )
      .map((step) => step as Step),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hash'), prefix: fc.nat({ max: 5 }), at: small }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact'), at: small }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('watch'), prefix: fc.nat({ max: 5 }), at: small, isLazy: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drain'), watch: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant'),
      ttlMs: fc.integer({ min: 1, max: 5 }).map((seconds) => seconds * 1_000 + 60_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('renew', 'revoke'), lease: fc.nat({ max: 4 }) }) },
  {
    weight: 2,
    needs: 'time',
    arbitrary: fc.record({ do: fc.constant('advance'), byMs: fc.constantFrom(0, 1, 1_000, 30_000, 62_500) }),
  },
  { weight: 1, needs: 'reopen', arbitrary: fc.record({ do: fc.constant('reopen') }) },
  { weight: 1, needs: 'crash', arbitrary: fc.record({ do: fc.constant('crash') }) },
]

/** Histories that an engine can play. */
function histories(lacks: Partial<Record<StoreNeed, string>>, maxLength: number): fc.Arbitrary<Step[]> {
  const possible = steps.filter(({ needs }) => needs === undefined || lacks[needs] === undefined)
  return fc.array(fc.oneof(...possible), { minLength: (maxLength / 3) | 0, maxLength, size: 'max' })
}

const usual: Readonly<Record<string, { runs: number; length: number }>> = {
  memory: { runs: 150, length: 60 },
  'file-simulated': { runs: 60, length: 60 },
  file: { runs: 6, length: 40 },
  etcd: { runs: 4, length: 30 },
}

for (const engine of storeEngines) {
  const unavailable = engine.unavailable()
  describe.skipIf(unavailable !== undefined)(engine.name, () => {
    let running: RunningEngine
    beforeAll(async () => {
      running = await engine.start()
    })
    afterAll(() => running.stop())

    test('matches the model in every random history', withServer(engine.name === 'etcd'), async () => {
      const { runs: numRuns, length } = usual[engine.name] ?? { runs: 5, length: 30 }
      await fc.assert(
        fc.asyncProperty(histories(engine.lacks, length), async (history) => {
          await onTarget(running, (target) => play(target, history))
        }),
        { numRuns: runs(numRuns), endOnFailure: engine.name === 'etcd' },
      )
    })
  })
}

describe('the same history', () => {
  const available = storeEngines.filter((engine) => engine.name !== 'file' && engine.unavailable() === undefined)
  const lacked = { time: 'in some', reopen: 'in some', crash: 'in some' }
  const all = new Map<string, RunningEngine>()
  beforeAll(async () => {
    for (const engine of available) all.set(engine.name, await engine.start())
  })
  afterAll(async () => {
    for (const running of all.values()) await running.stop()
  })

  test('gives the same results in every engine, step by step', withServer(true), async () => {
    await fc.assert(
      fc.asyncProperty(histories(lacked, 25), async (history) => {
        const outcomes = await Promise.all(
          [...all.values()].map((running) =>
            onTarget(running, (target) => play(target, history, { isComparable: true })),
          ),
        )
        const [reference, ...others] = outcomes
        for (const other of others) expect(other.map(withoutHash)).toEqual(reference?.map(withoutHash))
        const exact = outcomes.filter((_, index) => available[index]?.lacks.alone === undefined)
        for (const other of exact) expect(other).toEqual(reference)
      }),
      { numRuns: runs(4), endOnFailure: true },
    )
  })
})

function withoutHash({ hash, ...outcome }: Readonly<Record<string, unknown>>): unknown {
  return hash === undefined ? outcome : { ...outcome }
}
