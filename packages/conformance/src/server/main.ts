/**
 * Runs the suite against a server: `npm run conformance -- server [options]`.
 *
 *   --kubeconfig FILE   how to reach it (or KUBECONFIG, or KUBE_APISERVER_URL, KUBE_TOKEN and KUBE_CA_FILE);
 *                       without any of these it tests our own server, over HTTPS on its own port, and cases that
 *                       need controllers on a server with controllers
 *   --etcd URL          its etcd, if the suite may compact it
 *   --filter TEXT       only cases whose id contains it
 *   --concurrency N     how many cases run at once
 *   --cbor              the server has the feature gate CBORServingAndStorage
 *   --lacks NEED        what the server cannot do; can be repeated
 *   --json              the results as JSON
 *   --report            the results as a page; `--compatibility` prints the page of docs, without running cases
 *
 * Prints one line for each failed case, then the counts. Exits with 1 when a case failed.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { renderReport } from './case-report.ts'
import { serverSuite } from './cases/index.ts'
import { renderCompatibility } from './compatibility.ts'
import { runCases, type CaseResult } from './runner.ts'
import type { ServerCase, ServerTarget } from './target.ts'
import { evenkeelOverHttps, evenkeelPlane, evenkeelWithCbor, needsControllers } from './targets/evenkeel.ts'
import { readKubeconfig, type Reach } from './targets/kubeconfig.ts'
import { urlTarget } from './targets/url.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    etcd: { type: 'string' },
    filter: { type: 'string', default: '' },
    concurrency: { type: 'string', default: '8' },
    cbor: { type: 'boolean', default: false },
    lacks: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    compatibility: { type: 'boolean', default: false },
  },
})

if (values.compatibility) {
  process.stdout.write(renderCompatibility())
  process.exit(0)
}
const judged = await judgedServers(reachOf(values.kubeconfig))
const isQuiet = values.json || values.report
const results: CaseResult[] = []
for (const { target, judges, stop } of judged) {
  const cases = serverSuite.filter((one) => one.id.includes(values.filter) && judges(one))
  results.push(
    ...(await runCases(cases, target, {
      concurrency: Number(values.concurrency),
      onResult: (result) => {
        if (!isQuiet) tell(result)
      },
    })),
  )
  await stop()
}
process.stdout.write(endOf(results))
process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0

interface Judged {
  readonly target: ServerTarget
  /** Whether this is the server for a case. */
  judges(one: ServerCase): boolean
  stop(): Promise<void>
}

async function judgedServers(reach: Reach | undefined): Promise<readonly Judged[]> {
  if (reach === undefined) {
    const [alone, plane, cbor] = [await evenkeelOverHttps(), await evenkeelPlane(), await evenkeelWithCbor()]
    return [
      { target: alone, judges: (one) => !needsControllers(one) && !needsCbor(one), stop: () => alone.stop() },
      { target: plane, judges: needsControllers, stop: () => plane.stop() },
      { target: cbor, judges: needsCbor, stop: () => cbor.stop() },
    ]
  }
  const lacks = Object.fromEntries(values.lacks.map((need) => [need, `${reach.url} lacks it`]))
  const target = urlTarget(reach, {
    name: reach.url,
    lacks,
    cbor: values.cbor,
    ...(values.etcd !== undefined && { etcd: values.etcd }),
  })
  return [{ target, judges: () => true, stop: () => Promise.resolve() }]
}

function needsCbor({ needs = [] }: ServerCase): boolean {
  return needs.includes('cbor')
}

function reachOf(file = process.env['KUBECONFIG']): Reach | undefined {
  const { KUBE_APISERVER_URL: url, KUBE_TOKEN: token, KUBE_CA_FILE: ca } = process.env
  if (url !== undefined && values.kubeconfig === undefined)
    return { url, ...(token !== undefined && { token }), ...(ca !== undefined && { ca: readFileSync(ca, 'utf8') }) }
  return file === undefined ? undefined : readKubeconfig(file)
}

function tell({ id, outcome, reason = '' }: CaseResult): void {
  if (outcome === 'failed') process.stdout.write(`FAILED ${id}: ${reason.replaceAll('\n', ' ')}\n`)
}

function endOf(all: readonly CaseResult[]): string {
  if (values.json) return `${JSON.stringify(all, undefined, 2)}\n`
  if (values.report) return renderReport([{ server: judged[0]?.target.name ?? '', results: all }])
  const count = (wanted: CaseResult['outcome']): number => all.filter(({ outcome }) => outcome === wanted).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`
}
