/**
 * Judges a server from the command line: `npm run conformance -- server [options]`.
 *
 *   --kubeconfig FILE   how to reach it (or KUBECONFIG, or KUBE_APISERVER_URL, KUBE_TOKEN and KUBE_CA_FILE);
 *                       without any of these our own server is judged, over HTTPS on a port of its own
 *   --etcd URL          its etcd, if history may be forgotten there
 *   --filter TEXT       only cases whose id contains it
 *   --concurrency N     how many at once
 *   --lacks NEED        what the server cannot do; may be repeated
 *   --json              the results as JSON
 *   --report            the results as a page; `--compatibility` is the page in docs, without asking anybody
 *
 * One line for each case that fails, then the counts. Ends with 1 when a case failed.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { serverSuite } from './cases/index.ts'
import { renderCompatibility } from './compatibility.ts'
import { renderReport } from './report.ts'
import { runCases } from './runner.ts'
import type { CaseResult } from './runner.ts'
import { readKubeconfig } from './targets/kubeconfig.ts'
import type { Reach } from './targets/kubeconfig.ts'
import { evenkeelOverHttps } from './targets/evenkeel.ts'
import { urlTarget } from './targets/url.ts'
import type { ServerTarget } from './target.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' }, etcd: { type: 'string' }, filter: { type: 'string', default: '' },
    concurrency: { type: 'string', default: '8' }, lacks: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false }, report: { type: 'boolean', default: false }, compatibility: { type: 'boolean', default: false },
  },
})

if (values.compatibility) {
  process.stdout.write(renderCompatibility())
  process.exit(0)
}
const { target, stop } = await targetOf(reachOf(values.kubeconfig))
const cases = serverSuite.filter(({ id }) => id.includes(values.filter))
const isQuiet = values.json || values.report
const results = await runCases(cases, target, { concurrency: Number(values.concurrency), onResult: (result) => { if (!isQuiet) tell(result) } })
process.stdout.write(endOf(results))
await stop()
process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0

async function targetOf(reach: Reach | undefined): Promise<{ target: ServerTarget, stop(): Promise<void> }> {
  if (reach === undefined) {
    const ours = await evenkeelOverHttps()
    return { target: ours, stop: () => ours.stop() }
  }
  const lacks = Object.fromEntries(values.lacks.map((need) => [need, `${reach.url} lacks it`]))
  return { target: urlTarget(reach, { name: reach.url, lacks, ...values.etcd !== undefined && { etcd: values.etcd } }), stop: () => Promise.resolve() }
}

function reachOf(file = process.env['KUBECONFIG']): Reach | undefined {
  const { KUBE_APISERVER_URL: url, KUBE_TOKEN: token, KUBE_CA_FILE: ca } = process.env
  if (url !== undefined && values.kubeconfig === undefined) return { url, ...token !== undefined && { token }, ...ca !== undefined && { ca: readFileSync(ca, 'utf8') } }
  return file === undefined ? undefined : readKubeconfig(file)
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
