/**
 * Tests of Kubernetes that fail here, each with its reason: the list that the compatibility page shows.
 */
import { kubernetesSuites, suiteNames } from '@evenkeel/conformance/suites'
import type { KnownDifference } from './result.ts'

export const knownDifferences: readonly KnownDifference[] = suiteNames.flatMap((suite) =>
  kubernetesSuites[suite].failures.map(({ tests, reason }) => {
    const names = tests.map((name) => name.replace(/[^\w ]/g, '\\$&')).join('|')
    return { suite, test: new RegExp(suite === 'e2e' ? names : `^(?:${names})$`), reason }
  }),
)
