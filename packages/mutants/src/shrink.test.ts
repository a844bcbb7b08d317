import { expect, test } from 'vitest'
import { explore, replay, replayFileOf } from 'evenkeel/testing'
import { mutants } from './index.ts'
import type { Mutant } from './index.ts'

/** One mutant for every rule that is expected of any. */
const byRule = new Map<string, Mutant>()
for (const mutant of mutants) for (const rule of mutant.rules) if (!byRule.has(rule)) byRule.set(rule, mutant)
const chosen = [...new Set(byRule.values())]

test.each(chosen.map((mutant) => [mutant.id, mutant] as const))('what %s does wrong breaks the same rule when it is made smaller, and can be replayed', { timeout: 200_000 }, async (_, { broken, rules, profile }) => {
  const isExpected = ({ rule, severity }: { readonly rule: string, readonly severity: string }): boolean => severity !== 'info' && rules.includes(rule)
  const found = await explore({ ...broken, until: isExpected, stories: 0, ...profile && { profile } })
  const told = await explore({ ...broken, until: isExpected, ...profile && { profile } })
  const index = found.failures.findIndex(isExpected)
  const [before, after] = [found.failures[index], told.failures[index]]
  if (!before || !after) throw new Error('it must be found')
  expect(after.rule).toBe(before.rule)
  expect(after.deviations.length).toBeLessThanOrEqual(before.deviations.length)
  const file = replayFileOf(after, told)
  if (!file) throw new Error('it must be told')
  expect(await replay(file, broken)).toMatchObject({ isFound: true, isSame: true })
})
