/**
 * Scores our expressions on the public conformance data of CEL: `npm run conformance -- cel [options]`.
 *
 * Prints one line per failed case, the score, the cases that Kubernetes fails, by reason, and `N passed, N failed`.
 * Exits with 1 when we fail a case that Kubernetes passes, or when a known difference changed.
 */
import { parseArgs } from 'node:util'
import { scoreCel } from './score.ts'
import type { CelResult } from './score.ts'

const help = `npm run conformance -- cel [options]

  --filter TEXT   only cases whose id contains it
  --all           also every case that Kubernetes does not pass, with what we say
  --json          the results as JSON
  --help
`

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    filter: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(help)
else {
  const results = scoreCel({ filter: values.filter })
  process.stdout.write(values.json ? `${JSON.stringify(results, undefined, 2)}\n` : render(results))
  process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0
}

function render(results: readonly CelResult[]): string {
  const of = (...wanted: CelResult['outcome'][]): CelResult[] =>
    results.filter(({ outcome }) => wanted.includes(outcome))
  const failed = of('failed')
  const enabled = of('passed').length + failed.filter(({ reason }) => reason === undefined).length
  const reasons = [...groupByReason(of('excused', 'beyond'))]
  return [
    ...failed.map(({ id, problem, note }) => `FAILED ${id}: ${[problem, note].filter(Boolean).join('; ')}`),
    `${numeral(of('passed').length)} of ${numeral(enabled)} cases that Kubernetes 1.36 passes`,
    ...(reasons.length > 0 ? [`${numeral(of('excused', 'beyond').length)} that it does not pass:`] : []),
    ...reasons.flatMap(([reason, group]) => [
      `  ${numeral(group.length).padStart(5)}  ${reason}: ${group[0]?.why}`,
      ...(values.all ? group.map(({ id, problem = 'we pass it' }) => `           ${id}: ${problem}`) : []),
    ]),
    ...(of('beyond').length > 0 ? [`${numeral(of('beyond').length)} of these we pass:`] : []),
    ...of('beyond').map(({ id, note }) => `         ${id}: ${note}`),
    `${of('passed').length} passed, ${failed.length} failed`,
    '',
  ].join('\n')
}

function groupByReason(results: readonly CelResult[]): ReadonlyMap<string, readonly CelResult[]> {
  const groups = new Map<string, CelResult[]>()
  for (const result of results) groups.set(result.reason ?? '', [...(groups.get(result.reason ?? '') ?? []), result])
  return groups
}

function numeral(value: number): string {
  return value.toLocaleString('en-US')
}
