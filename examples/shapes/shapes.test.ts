/** The Explorer runs the scenario with every step under every single fault: every step but the last has a mistake. */
import { describe, expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import { scenario } from './scenario.ts'
import { steps } from './steps/all.ts'

/** The rules that each step breaks, at least. */
const broken = new Map([
  [1, ['idempotent', 'cleanup', 'failure', 'identity']],
  [2, ['ownership', 'cleanup']],
  [3, ['cleanup', 'idempotent']],
  [4, ['cleanup', 'idempotent']],
  [5, ['cleanup', 'idempotent']],
  [6, ['idempotent']],
])

describe('the Explorer at tier 1', () => {
  test.each(steps.map((step) => [step.number, step.title, step] as const))(
    'step %i, %s',
    async (number, _, { controllers }) => {
      const explored = await explore({ controllers, scenario, stories: 0 })
      const found = new Set(explored.failures.map(({ rule }) => rule))
      const expected = broken.get(number) ?? []
      expect([...found], formatReport(explored)).toEqual(expected.length === 0 ? [] : expect.arrayContaining(expected))
      expect(explored.left).toBe(0)
    },
    300_000,
  )
})
