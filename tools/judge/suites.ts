/**
 * How each suite of Kubernetes is started, and where its results are.
 *
 *   e2e             the program e2e.test, chosen by its focus; without one, the conformance tests of the API that need no
 *                   node. All tests share one server
 *   apiextensions   a Go test program whose fixture connects to the server of KUBECONFIG; a fresh server per test
 *   apply, cel, admissionwebhook, client
 *                   Go test programs whose fixtures start the program of KUBE_APISERVER, with the flags of the test
 *   cmd             kubectl, and the scripts test/cmd of a source tree of Kubernetes; a fresh server per function
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from 'evenkeel/client'
import { Namespace, Node } from 'evenkeel/kinds/core/v1'
import { kubernetesSuites, type SuiteName } from '@evenkeel/conformance/suites'
import { runCmd } from './cmd.ts'
import { parseGinkgoReport, parseGoTests } from './parse.ts'
import { limitedSignal, runProgram, withFolder, type ProgramOptions } from './program.ts'
import type { TestResult } from './result.ts'
import { apiServerProgram, startApiServer, startPlaneServer, withServer, type JudgedServer } from './server.ts'

export interface SuiteOptions {
  readonly binary: string
  /** Flags for the servers that the judge starts, beside those of the suite. */
  readonly flags: readonly string[]
  /** The source tree of Kubernetes: the scripts of `cmd`, and the data of Go tests. */
  readonly tree: string | undefined
  /** The program kube-controller-manager, for `cmd`. */
  readonly controllerManager: string | undefined
  readonly focus: string | undefined
  readonly skip: string | undefined
  readonly signal: AbortSignal
  readonly onLine?: (line: string) => void
}

type RunSuite = (options: SuiteOptions) => Promise<TestResult[]>

/** Conformance tests of the API server that create no pods which must run. */
const e2eFocus =
  'sig-api-machinery.*\\[Conformance\\]|sig-(apps|auth|node|network|scheduling|instrumentation|architecture).*\\[Conformance\\].*(API operations|lifecycle|patch|status subresource|discovery)'
const e2eSkip =
  'Garbage collector|AdmissionWebhook|Aggregator|conversion webhook|should be able to convert|ResourceQuota.*(pod|service)|\\[Slow\\]|\\[Disruptive\\]|\\[Serial\\]|Pods|Deployment|StatefulSet|DaemonSet|ReplicaSet|ReplicationController|Job|Services|Ingress'

function runE2e({ binary, flags, focus = e2eFocus, skip = e2eSkip, ...run }: SuiteOptions): Promise<TestResult[]> {
  // No controller takes the taint of a new node away.
  const withoutTaint = ['--disable-admission-plugins', 'TaintNodesByCondition']
  return withServer(startPlaneServer([...withoutTaint, ...flags]), async (server) => {
    await createNode(server)
    return withFolder(async (folder) => {
      const report = join(folder, 'report.json')
      await runProgram(
        binary,
        [
          `--kubeconfig=${server.kubeconfig}`,
          '--provider=skeleton',
          '--allowed-not-ready-nodes=-1',
          '--minStartupPods=0',
          '--disable-log-dump',
          '--dump-logs-on-failure=false',
          `--ginkgo.focus=${focus}`,
          `--ginkgo.skip=${skip}`,
          '--ginkgo.no-color',
          `--ginkgo.json-report=${report}`,
        ],
        { ...run, env: server.env },
      )
      return parseGinkgoReport(await readFile(report, 'utf8'))
    })
  })
}

/** The program wants a node that is ready, even for tests that run nothing on it. */
async function createNode({ kubeconfig }: JudgedServer): Promise<void> {
  const client = await connect({ kubeconfig })
  const node = await client.create(Node, { metadata: { name: 'judge' } })
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  const condition = { lastHeartbeatTime: now, lastTransitionTime: now, reason: 'Judged', message: '' }
  await client.patchStatus(node, { conditions: [{ type: 'Ready', status: 'True', ...condition }] })
}

const goTestMs = 300_000

/** Every test of a Go test program, each in a process of its own; its fixtures start the API server of `KUBE_APISERVER`. */
async function runGoSuite(options: SuiteOptions, name: SuiteName): Promise<TestResult[]> {
  const env = { KUBE_APISERVER: apiServerProgram, KUBECONFIG: devNull }
  const results: TestResult[] = []
  for (const test of await goTests(options)) {
    if (options.signal.aborted) break
    results.push(...(await runGoTest(test, { ...options, env, folder: folderOf(options, name) })))
  }
  return results
}

/**
 * The fixtures of this suite connect to the server of KUBECONFIG; each test gets a fresh one. They turn the plugin
 * NamespaceLifecycle off and write to namespaces that they never create.
 */
async function runApiExtensions(options: SuiteOptions): Promise<TestResult[]> {
  const { flags, signal, binary } = options
  const results: TestResult[] = []
  for (const test of await goTests(options)) {
    if (signal.aborted) break
    const gates = test.includes('CBOR') ? ['--feature-gates=CBORServingAndStorage=true'] : []
    await withServer(startApiServer([...gates, ...flags]), async ({ kubeconfig, env }) => {
      const client = await connect({ kubeconfig })
      for (const namespace of ['not-the-default', 'test', 'namespace-1', 'namespace-2'])
        await client.create(Namespace, { metadata: { name: namespace } })
      results.push(...(await runGoTest(test, { ...options, env, folder: dirname(binary) })))
    })
  }
  return results
}

/** The names of the chosen tests. The program lists them without a server, but its fixture may look for one. */
async function goTests({ binary, focus = '.', skip, signal }: SuiteOptions): Promise<string[]> {
  const options = { env: { KUBECONFIG: devNull }, signal, folder: dirname(binary) }
  const output = await runProgram(binary, [`-test.list=${focus}`], options)
  return output
    .split('\n')
    .filter((line) => /^Test\w+$/.test(line))
    .filter((name) => skip === undefined || !new RegExp(skip).test(name))
}

async function runGoTest(
  name: string,
  { binary, signal, ...run }: SuiteOptions & Pick<ProgramOptions, 'env' | 'folder'>,
): Promise<TestResult[]> {
  const args = ['-test.v', `-test.timeout=${goTestMs}ms`, `-test.run=^${name}$`]
  return parseGoTests(await runProgram(binary, args, { ...run, signal: limitedSignal(signal, goTestMs * 2) }))
}

/** The folder of the package in the source tree, where tests have their data; without a tree, that of the program. */
function folderOf({ tree, binary }: SuiteOptions, name: SuiteName): string {
  const folder = tree === undefined ? '' : join(tree, kubernetesSuites[name].tests)
  return existsSync(folder) ? folder : dirname(binary)
}

export const suites: Readonly<Record<SuiteName, RunSuite>> = {
  e2e: runE2e,
  cmd: runCmd,
  apiextensions: runApiExtensions,
  apply: (options) => runGoSuite(options, 'apply'),
  cel: (options) => runGoSuite(options, 'cel'),
  admissionwebhook: (options) => runGoSuite(options, 'admissionwebhook'),
  client: (options) => runGoSuite(options, 'client'),
}
