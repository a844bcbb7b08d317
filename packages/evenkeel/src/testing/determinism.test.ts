import { expect, test } from 'vitest'
import { controllers, scenario } from './boxes.fixture.ts'
import { profiles } from './deviation.ts'
import { scenarioOf } from './explore.ts'
import { drawSchedule } from './plan/plan.ts'
import { Session } from './session.ts'

const seeds = 1000

test(`${seeds} random seeds, each run twice, give the same trace both times`, { timeout: 600_000 }, async () => {
  // One step is enough: what goes wrong makes the schedules different.
  const small = { ...scenario, steps: scenario.steps.slice(0, 1) }
  const session = await Session.open(scenarioOf({ controllers, scenario: small }), {
    seed: '1',
    profile: profiles.evenkeel,
    isDeep: false,
  })
  const singles = session.singles.map(({ deviation }) => deviation)
  const hashes = new Set<string>()
  const different: string[] = []
  for (let seed = 0; seed < seeds; seed++) {
    const deviations = drawSchedule(String(seed), singles)
    const [one, other] = [
      await session.run({ deviations, wantsNextDeviations: false }),
      await session.run({ deviations, wantsNextDeviations: false }),
    ]
    if (one.hash !== other.hash) different.push(`${seed}: ${JSON.stringify(deviations)}`)
    hashes.add(one.hash)
  }
  expect(different).toEqual([])
  expect(hashes.size).toBeGreaterThan(seeds / 2)
})
