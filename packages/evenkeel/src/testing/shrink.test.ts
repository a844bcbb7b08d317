import { describe, expect, test } from 'vitest'
import { controllers, givingUp, leaking, scenario } from './boxes.fixture.ts'
import { profiles, type Deviation } from './deviation.ts'
import { scenarioOf } from './explore.ts'
import { drawSchedule } from './plan/plan.ts'
import { runSchedule } from './schedule.ts'
import { Session } from './session.ts'
import { shrink } from './shrink.ts'

const opening = { seed: '1', profile: profiles.evenkeel, isDeep: false }

describe('shrink', () => {
  test('removes deviations and steps of the user that do not matter', async () => {
    const session = await Session.open(scenarioOf({ controllers: givingUp, scenario }), opening)
    const index = session.first.interactions.findIndex(({ call }) => call)
    const away: Deviation = { at: { type: 'effect', index }, action: { type: 'outage', service: 'shelf' } }
    const conflict = (at: number): Deviation => ({
      at: { type: 'effect', index: at },
      action: { type: 'refuse', status: 409, reason: 'Conflict' },
    })
    const deviations: Deviation[] = [
      { at: { type: 'quiet', index: 0 }, action: { type: 'crash' } },
      { at: { type: 'quiet', index: 2 }, action: { type: 'crash' } },
      away,
      conflict(index + 3),
    ]
    const { findings } = await session.run({ deviations, wantsNextDeviations: false })
    const finding = findings.find(({ about }) => about === 'shelf places a')
    if (!finding) throw new Error('expected the finding')
    const small = await shrink({ scenario: session.base.scenario, deviations }, finding, session)
    expect(small.finding).toMatchObject({ rule: finding.rule, about: finding.about })
    expect(small.deviations.map(({ action }) => action.type)).toEqual(['outage', 'refuse'])
    expect(small.deviations[1]).toEqual(conflict(index + 3))
    expect(small.scenario.steps).toHaveLength(1)
  })

  test.each([
    ['leaking', leaking],
    ['giving up', givingUp],
    ['right', controllers],
  ])(
    'keeps the rule, never grows, and is idempotent: %s, 15 random schedules',
    { timeout: 200_000 },
    async (_, program) => {
      const session = await Session.open(scenarioOf({ controllers: program, scenario }), opening)
      const singles = session.singles.map(({ deviation }) => deviation)
      for (let seed = 0; seed < 15; seed++) {
        const deviations = drawSchedule(String(seed), singles)
        const [finding] = (await session.run({ deviations, wantsNextDeviations: false })).findings
        if (!finding) continue
        const small = await shrink({ scenario: session.base.scenario, deviations }, finding, session)
        expect(small.finding.rule).toBe(finding.rule)
        expect(small.deviations.length).toBeLessThanOrEqual(deviations.length)
        const world = await runSchedule({
          ...session.base,
          scenario: small.scenario,
          deviations: small.deviations,
          ...(small.reference && { reference: small.reference }),
        })
        expect(world.findings.map(({ rule, about }) => `${rule} ${about}`)).toContain(
          `${small.finding.rule} ${small.finding.about}`,
        )
        const again = await shrink(small, small.finding, {
          base: session.base,
          reference: small.reference ?? session.reference,
        })
        expect(again.deviations).toEqual(small.deviations)
      }
    },
  )
})
