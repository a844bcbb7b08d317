/**
 * Matchers for test runners whose `expect` can be extended (vitest, jest): `expect.extend(matchers)`.
 *
 * @example
 * await expect({ controllers, scenario }).toKeepTheRules()
 * await expect({ controllers, scenario }).toConverge()
 */
import { explore, type Explored, type ExploreOptions } from '../explore.ts'
import { formatReport } from '../report/text.ts'

interface MatcherResult {
  readonly pass: boolean
  message(): string
}

export const matchers = {
  /** No single fault makes the program break a golden rule. */
  async toKeepTheRules(received: ExploreOptions): Promise<MatcherResult> {
    const explored = await explore(received)
    const errors = explored.failures.filter(({ severity }) => severity === 'error')
    return { pass: errors.length === 0, message: () => describe({ ...explored, failures: errors }) }
  },

  /** Without faults, the program reconciles without errors and becomes quiet. */
  async toConverge(received: ExploreOptions): Promise<MatcherResult> {
    const explored = await explore({ ...received, tier: 0 })
    const errors = explored.failures.filter(
      ({ rule, severity }) => severity === 'error' && (rule === 'hot-loop' || rule === 'failure'),
    )
    return {
      pass: errors.length === 0,
      message: () => (errors.length === 0 ? 'the program converges' : describe({ ...explored, failures: errors })),
    }
  },
}

const errorsMax = 5

/** The report, and after it the last errors that the controllers threw, each with its line. */
function describe(explored: Explored): string {
  const thrown = explored.failures
    .flatMap(({ timeline }) => timeline?.rows ?? [])
    .filter(({ text }) => text.startsWith('fails '))
    .map(({ text, origin }) => `  ${text.slice('fails '.length)}${origin === undefined ? '' : ` at ${origin}`}`)
  const latest = [...new Set(thrown.reverse())].slice(0, errorsMax)
  const errors = latest.length === 0 ? '' : `the last failures of controllers:\n${latest.join('\n')}\n`
  return `${formatReport(explored)}${errors}`
}
