/**
 * docs/compatibility.md: what the suite asks of our server, and what we decide otherwise.
 *
 * The page is made from the cases themselves. That each passes is what the tests beside this file check, on every
 * store and over HTTPS, so the page says only which are asked.
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
