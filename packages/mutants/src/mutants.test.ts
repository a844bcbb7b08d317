import { describe, expect, test } from 'vitest'
import { explore, ruleCodes } from 'evenkeel/testing'
import { cleanControllers, mutants } from './index.ts'
import type { Mutant } from './index.ts'

function byId(id: string): Mutant {
  const found = mutants.find((mutant) => mutant.id === id)
  if (!found) throw new Error(`there is no mutant ${id}`)
  return found
}

describe('the corpus of mutants', () => {
  test('ids are unique, and every expected rule exists', () => {
    const ids = [...mutants, ...cleanControllers].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { rules } of mutants) for (const rule of rules) expect(ruleCodes).toContain(rule)
  })

  test('all listed mutants and defects are present, except D14, which no exploration can catch', () => {
    const wanted = [
      ...Array.from({ length: 26 }, (_, index) => `m${String(2 * index + 1).padStart(2, '0')}`),
      ...Array.from({ length: 19 }, (_, index) => `d${String(index + 1).padStart(2, '0')}`),
    ]
    const ids = new Set(mutants.map(({ id }) => id))
    expect(wanted.filter((id) => !ids.has(id))).toEqual(['d14'])
  })

  test.each(['m27', 'm31', 'd18', 'n01', 'n05', 'n15', 'n22'])(
    '%s is caught by one of its rules, at its tier',
    async (id) => {
      const {
        broken: { controllers, scenario },
        rules,
        tier,
      } = byId(id)
      const { failures } = await explore({
        controllers,
        scenario,
        stories: 0,
        until: ({ rule }) => rules.includes(rule),
      })
      const found = failures.find(({ rule }) => rules.includes(rule))
      expect(found?.deviations.length).toBeLessThanOrEqual(tier)
    },
  )

  test('the correct version of m47 has no failure in any schedule', async () => {
    const {
      clean: { controllers, scenario },
    } = byId('m47')
    const { failures, schedules } = await explore({ controllers, scenario })
    expect(failures).toEqual([])
    expect(schedules).toBeGreaterThan(50)
  })
})
