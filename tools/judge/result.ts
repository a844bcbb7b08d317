/**
 * What a suite of Kubernetes says about our server: one result per test, and the table of all.
 *
 * A failed test with a known difference is expected. One without is a finding, and the judge exits with 1.
 */
import type { SuiteName } from '@evenkeel/conformance/suites'

export type Verdict = 'passed' | 'failed' | 'skipped'

export interface TestResult {
  readonly name: string
  readonly verdict: Verdict
  /** The first lines of the failure. */
  readonly message?: string
}

/** Why a test fails on purpose, or cannot pass here. */
export interface KnownDifference {
  readonly suite: SuiteName
  readonly test: RegExp
  readonly reason: string
}

export interface Judgement extends TestResult {
  /** The reason of a known difference. */
  readonly known?: string
}

export function judgeResults(
  suite: SuiteName,
  results: readonly TestResult[],
  known: readonly KnownDifference[],
): Judgement[] {
  return results.map((result) => {
    const difference = known.find((one) => one.suite === suite && one.test.test(result.name))
    return difference && result.verdict === 'failed' ? { ...result, known: difference.reason } : result
  })
}

export interface Counts {
  readonly ran: number
  readonly passed: number
  readonly known: number
  readonly findings: number
  readonly skipped: number
}

export function countResults(results: readonly Judgement[]): Counts {
  const of = (fits: (one: Judgement) => boolean): number => results.filter(fits).length
  return {
    ran: of(({ verdict }) => verdict !== 'skipped'),
    passed: of(({ verdict }) => verdict === 'passed'),
    known: of(({ known }) => known !== undefined),
    findings: of(({ verdict, known }) => verdict === 'failed' && known === undefined),
    skipped: of(({ verdict }) => verdict === 'skipped'),
  }
}

/** The table for a terminal: counts, known differences with their reasons, findings with their first lines. */
export function formatTable(suite: SuiteName, results: readonly Judgement[]): string {
  const { ran, passed, known, findings, skipped } = countResults(results)
  const lines = [
    `${'suite'.padEnd(14)} ${'ran'.padStart(6)} ${'passed'.padStart(7)} ${'known'.padStart(6)} ${'findings'.padStart(9)} ${'skipped'.padStart(8)}`,
    `${suite.padEnd(14)} ${String(ran).padStart(6)} ${String(passed).padStart(7)} ${String(known).padStart(6)} ${String(findings).padStart(9)} ${String(skipped).padStart(8)}`,
  ]
  for (const { name, known: reason } of results)
    if (reason !== undefined) lines.push('', `known    ${name}`, `         ${reason}`)
  for (const { name, verdict, known: reason, message = '' } of results)
    if (verdict === 'failed' && reason === undefined)
      lines.push(
        '',
        `FINDING  ${name}`,
        ...message
          .split('\n')
          .slice(0, 5)
          .map((line) => `         ${line}`),
      )
  return `${lines.join('\n')}\n`
}
