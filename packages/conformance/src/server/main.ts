/**
 * Judges a server from the command line: `npm run conformance -- server [options]`.
 *
 *   --kubeconfig FILE   how to reach it (or KUBECONFIG, or KUBE_APISERVER_URL, KUBE_TOKEN and KUBE_CA_FILE)
 *   --etcd URL          its etcd, if history may be forgotten there
 *   --filter TEXT       only cases whose id contains it
 *   --concurrency N     how many at once
 *   --lacks NEED        what the server cannot do; may be repeated
 *   --json              the results as JSON
 *   --report            the results as the page for docs/compatibility.md
 *
 * One line for each case that fails, then the counts. Ends with 1 when a case failed.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { serverSuite } from './cases/index.ts'
import { renderReport } from './report.ts'
import { runCases } from './runner.ts'
import type { CaseResult } from './runner.ts'
import { readKubeconfig } from './targets/kubeconfig.ts'
import type { Reach } from './targets/kubeconfig.ts'
import { urlTarget } from './targets/url.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' }, etcd: { type: 'string' }, filter: { type: 'string', default: '' },
    concurrency: { type: 'string', default: '8' }, lacks: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false }, report: { type: 'boolean', default: false },
  },
})

const reach = reachOf(values.kubeconfig)
const lacks = Object.fromEntries(values.lacks.map((need) => [need, `${reach.url} lacks it`]))
const target = urlTarget(reach, { name: reach.url, lacks, ...values.etcd !== undefined && { etcd: values.etcd } })
const cases = serverSuite.filter(({ id }) => id.includes(values.filter))
const isQuiet = values.json || values.report
const results = await runCases(cases, target, { concurrency: Number(values.concurrency), onResult: (result) => { if (!isQuiet) tell(result) } })
process.stdout.write(endOf(results))
process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0

function reachOf(file = process.env['KUBECONFIG']): Reach {
  const { KUBE_APISERVER_URL: url, KUBE_TOKEN: token, KUBE_CA_FILE: ca } = process.env
  if (url !== undefined && values.kubeconfig === undefined) return { url, ...token !== undefined && { token }, ...ca !== undefined && { ca: readFileSync(ca, 'utf8') } }
  if (file === undefined) throw new Error('say which server: --kubeconfig FILE, or KUBE_APISERVER_URL')
  return readKubeconfig(file)
}

function tell({ id, outcome, reason = '' }: CaseResult): void {
  if (outcome === 'failed') process.stdout.write(`FAILED ${id}: ${reason.replaceAll('\n', ' ')}\n`)
}

function endOf(all: readonly CaseResult[]): string {
  if (values.json) return `${JSON.stringify(all, undefined, 2)}\n`
  if (values.report) return renderReport([{ server: target.name, results: all }])
  const count = (wanted: CaseResult['outcome']): number => all.filter(({ outcome }) => outcome === wanted).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`
}
