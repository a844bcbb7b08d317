import { describe, expect, test } from 'vitest'
import { controllers, givingUp, scenario } from './boxes.fixture.ts'
import { profiles, type Deviation } from './deviation.ts'
import { explore, scenarioOf } from './explore.ts'
import { planPairs, type NextDeviation } from './plan/plan.ts'
import { Session } from './session.ts'

function next(index: number, key: string): NextDeviation {
  return { deviation: { at: { type: 'effect', index }, action: { type: 'crash' } }, key }
}

function indexes(pairs: readonly (readonly Deviation[])[]): string[] {
  return pairs.map((pair) => pair.map(({ at }) => at.index).join())
}

describe('planPairs', () => {
  test('leaves out cases that another schedule covers, and counts them', () => {
    const singles = [next(0, 'alone 0'), next(1, 'alone 1')]
    const { pairs, pruned } = planPairs(singles, [
      [next(2, 'x'), next(3, 'alone 1')],
      [next(4, 'x'), next(5, 'y')],
    ])
    expect(indexes(pairs)).toEqual(['0,2', '1,5'])
    expect(pruned).toBe(2)
  })

  test('alternates between the first deviations', () => {
    const singles = [next(0, '0'), next(1, '1'), next(2, '2')]
    const { pairs } = planPairs(singles, [[next(3, 'a'), next(4, 'b')], [], [next(5, 'c'), next(6, 'd'), next(7, 'e')]])
    expect(indexes(pairs)).toEqual(['0,3', '2,5', '0,4', '2,6', '2,7'])
  })
})

describe('pairs of deviations', () => {
  const opening = { seed: '1', profile: profiles.evenkeel, isDeep: true }

  test('a second deviation comes after the first, and only where the state differs from the undisturbed one', async () => {
    const session = await Session.open(scenarioOf({ controllers, scenario }), opening)
    const put = session.first.interactions.findIndex(({ call }) => call)
    const crash = (index: number): Deviation => ({
      at: { type: 'effect', index, when: 'after' },
      action: { type: 'crash' },
    })
    const { nextDeviations: nexts, pruned } = await session.run({ deviations: [crash(put)], wantsNextDeviations: true })
    const effects = nexts
      .filter(({ deviation: { at } }) => at.type === 'effect')
      .map(({ deviation: { at } }) => at.index)
    expect(Math.min(...effects)).toBeGreaterThan(put)
    // After a crash most states are those of the undisturbed schedule.
    expect(pruned).toBeGreaterThan(nexts.length)
    // No work was left: the states that follow are those of the undisturbed schedule.
    expect((await session.run({ deviations: [crash(put + 1)], wantsNextDeviations: true })).nextDeviations).toEqual([])
  })

  test('a failure that needs two faults is planned after the first, found by both, and not followed further', async () => {
    const session = await Session.open(scenarioOf({ controllers: givingUp, scenario }), opening)
    const index = session.first.interactions.findIndex(({ call }) => call)
    const failing: Deviation = { at: { type: 'effect', index }, action: { type: 'outage', service: 'shelf' } }
    const alone = await session.run({ deviations: [failing], wantsNextDeviations: true })
    expect(alone.findings).toEqual([])
    // An undelivered event repairs the first fault.
    const conflict = alone.nextDeviations.find(
      ({ deviation: { at, action } }) => at.index === index + 3 && action.type === 'refuse' && action.status === 409,
    )
    if (!conflict) throw new Error('expected a conflict of the write after the failed call')
    const both = await session.run({ deviations: [failing, conflict.deviation], wantsNextDeviations: true })
    expect(both.findings.map(({ about }) => about)).toContain('shelf places a')
    expect(both.nextDeviations).toEqual([])
  })

  test('explore runs pairs at tier 2, and says how many it left out and why it stopped', async () => {
    const { tiers, stopped, left, schedules } = await explore({
      controllers,
      scenario: { ...scenario, steps: scenario.steps.slice(0, 1) },
      tier: 2,
      schedulesMax: 115,
    })
    expect(tiers.map(({ tier }) => tier)).toEqual([0, 1, 2])
    expect(tiers[1]).toMatchObject({ done: tiers[1]?.planned })
    expect(tiers[2]?.pruned).toBeGreaterThan(500)
    expect([stopped, schedules]).toEqual(['schedules', 117])
    expect(left).toBe((tiers[2]?.planned ?? 0) - (tiers[2]?.done ?? 0))
  })
})
