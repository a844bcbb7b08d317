/**
 * docs/compatibility.md: the rules of the suite, and our deliberate differences.
 *
 * The page is generated from the cases themselves. The tests next to this file check that each passes, on every
 * store and over HTTPS, so the page only lists them.
 */
import { renderReport } from './case-report.ts'
import { serverSuite } from './cases/index.ts'
import type { CaseResult } from './runner.ts'
import { reasonToSkip } from './target.ts'
import { ourDifferences } from './targets/evenkeel.ts'

/** The text of the page. */
export function renderCompatibility(): string {
  const results = serverSuite.map((one): CaseResult => {
    const reason = reasonToSkip(one, { lacks: {}, differs: ourDifferences })
    return {
      id: one.id,
      rule: one.rule,
      tookMs: 0,
      outcome: reason === undefined ? 'passed' : 'skipped',
      ...(reason !== undefined && { reason }),
    }
  })
  return renderReport([{ server: 'Evenkeel', results }])
}
