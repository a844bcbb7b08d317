import { expect, test } from 'vitest'
import { explore, replay, replayFileOf } from 'evenkeel/testing'
import { mutants } from './index.ts'
import type { Mutant } from './index.ts'

/** One mutant per expected rule. */
const byRule = new Map<string, Mutant>()
for (const mutant of mutants) for (const rule of mutant.rules) if (!byRule.has(rule)) byRule.set(rule, mutant)
const chosen = [...new Set(byRule.values())]

test.each(chosen.map((mutant) => [mutant.id, mutant] as const))(
  'the shrunk failure of %s breaks the same rule, and can be replayed',
  { timeout: 200_000 },
  async (_, { broken, rules, profile }) => {
    const isExpected = ({ rule, severity }: { readonly rule: string; readonly severity: string }): boolean =>
      severity !== 'info' && rules.includes(rule)
    const explored = await explore({ ...broken, until: isExpected, ...(profile && { profile }) })
    const failure = explored.failures.find(isExpected)
    const file = failure && replayFileOf(failure, explored)
    if (!file) throw new Error('expected a failure with a replay file')
    expect(file.deviations.length).toBeLessThanOrEqual(1)
    expect(await replay(file, broken)).toMatchObject({ isFound: true, isSame: true })
  },
)
