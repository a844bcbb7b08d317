/**
 * Reads what test programs print: the JSON report of Ginkgo, and the output of Go tests with `-test.v`.
 */
import type { TestResult, Verdict } from './result.ts'

interface GinkgoSpec {
  readonly LeafNodeType?: string
  readonly ContainerHierarchyTexts?: readonly string[] | null
  readonly LeafNodeText?: string
  readonly State?: string
  readonly Failure?: { readonly Message?: string }
}

/** The specs that ran; those that the focus left out are not listed. */
export function parseGinkgoReport(text: string): TestResult[] {
  const suites = JSON.parse(text) as readonly { readonly SpecReports?: readonly GinkgoSpec[] | null }[]
  return suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .filter(({ State, LeafNodeType }) => State !== 'skipped' && (LeafNodeType === 'It' || State !== 'passed'))
    .map(({ ContainerHierarchyTexts, LeafNodeText = '', LeafNodeType = '', State = '', Failure }) => ({
      name: [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(' '),
      verdict: State === 'passed' ? 'passed' : State === 'pending' ? 'skipped' : 'failed',
      ...(Failure?.Message !== undefined && { message: Failure.Message }),
    }))
}

const goVerdicts: Readonly<Record<string, Verdict>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' }

/** The last lines with a place in a test, or in any code, or else the last lines. */
function messageOf(lines: readonly string[]): string {
  const placed = [/^\s+\w+_test\.go:\d+: /, /^\s+\w+\.go:\d+: /].map((place) =>
    lines.filter((line) => place.test(line)),
  )
  return (placed.find((some) => some.length > 0) ?? lines).slice(-5).join('\n')
}

/** Top-level tests; the lines before a failure are its message. A test that was running when the program died failed. */
export function parseGoTests(output: string): TestResult[] {
  const results = new Map<string, TestResult>()
  let lines: string[] = []
  for (const line of output.split('\n')) {
    const [, started] = /^=== RUN {3}([^/\s]+)$/.exec(line) ?? []
    const [, word = '', name = ''] = /^--- (PASS|FAIL|SKIP): (\S+)/.exec(line) ?? []
    const verdict = goVerdicts[word]
    if (started !== undefined) {
      results.set(started, { name: started, verdict: 'failed', message: 'the program ended during this test' })
      lines = []
    } else if (verdict) {
      results.set(name, { name, verdict, ...(verdict === 'failed' && { message: messageOf(lines) }) })
    } else lines.push(line)
  }
  return [...results.values()]
}
