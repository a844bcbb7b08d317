/**
 * How each suite of Kubernetes is started, and where its results are.
 *
 *   e2e             the program e2e.test, chosen by its focus; without one, the conformance tests of the API that need no
 *                   node. All tests share one server
 *   apiextensions   a Go test program whose fixture connects to the server of KUBECONFIG; a fresh server per test
 *   apply, cel, admissionwebhook, client
 *                   the same
 *   cmd             kubectl, and the scripts test/cmd of a source tree of Kubernetes; a fresh server per function
 */
import { readFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from 'evenkeel/client'
import { Namespace, Node } from 'evenkeel/kinds/core/v1'
import type { SuiteName } from '@evenkeel/conformance/suites'
import { runCmd } from './cmd.ts'
import { parseGinkgoReport, parseGoTests } from './parse.ts'
import { limitedSignal, runProgram, withFolder } from './program.ts'
import type { TestResult } from './result.ts'
import { startApiServer, startPlaneServer, withServer, type JudgedServer } from './server.ts'

export interface SuiteOptions {
  readonly binary: string
  /** Flags for every server, beside those of the suite. */
  readonly flags: readonly string[]
  /** The source tree of Kubernetes, for `cmd`. */
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
  return withServer(startPlaneServer(flags), async (server) => {
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

interface GoSuite {
  /** Flags that the fixtures of the suite give their kube-apiserver. */
  readonly fixtureFlags?: readonly string[]
  /** Tests that start their kube-apiserver with RBAC; the others allow everything. */
  readonly rbac?: RegExp
  /** The suite turns the plugin NamespaceLifecycle off and writes to namespaces that it never creates. */
  readonly namespaces?: readonly string[]
}

const goTestMs = 300_000

/** Every test of a Go test program, each in a process of its own on a fresh server without controllers. */
function goSuite({ fixtureFlags = [], rbac, namespaces = [] }: GoSuite): RunSuite {
  return async ({ binary, flags, signal, onLine, ...choice }) => {
    const results: TestResult[] = []
    for (const name of await goTests({ binary, signal, ...choice })) {
      if (signal.aborted) break
      const mode = `--authorization-mode=${rbac?.test(name) ? 'RBAC' : 'AlwaysAllow'}`
      const all = [...fixtureFlags, mode, ...gatesOf(name), ...flags]
      await withServer(startApiServer(all), async ({ kubeconfig, env }) => {
        const client = await connect({ kubeconfig })
        for (const namespace of namespaces) await client.create(Namespace, { metadata: { name: namespace } })
        const args = ['-test.v', `-test.timeout=${goTestMs}ms`, `-test.run=^${name}$`]
        const options = { env, signal: limitedSignal(signal, goTestMs * 2), folder: dirname(binary), onLine }
        results.push(...parseGoTests(await runProgram(binary, args, options)))
      })
    }
    return results
  }
}

/** The names of the chosen tests. The program lists them without a server, but its fixture may look for one. */
async function goTests({
  binary,
  focus = '.',
  skip,
  signal,
}: Pick<SuiteOptions, 'binary' | 'focus' | 'skip' | 'signal'>): Promise<string[]> {
  const options = { env: { KUBECONFIG: devNull }, signal, folder: dirname(binary) }
  const output = await runProgram(binary, [`-test.list=${focus}`], options)
  return output
    .split('\n')
    .filter((line) => /^Test\w+$/.test(line))
    .filter((name) => skip === undefined || !new RegExp(skip).test(name))
}

/** Tests of CBOR turn its feature gate on. */
function gatesOf(test: string): string[] {
  return test.includes('CBOR') ? ['--feature-gates=CBORServingAndStorage=true'] : []
}

const withoutPodDefaults = [
  '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection',
]

export const suites: Readonly<Record<SuiteName, RunSuite>> = {
  e2e: runE2e,
  cmd: runCmd,
  apiextensions: goSuite({ namespaces: ['not-the-default', 'test', 'namespace-1', 'namespace-2'] }),
  apply: goSuite({ fixtureFlags: withoutPodDefaults, rbac: /^TestCreateOnApplyFailsWithForbidden$/ }),
  cel: goSuite({
    fixtureFlags: withoutPodDefaults,
    rbac: /^(?:Test_ValidateSecondaryAuthorization|TestCRDsOnStartup)$/,
  }),
  admissionwebhook: goSuite({ fixtureFlags: withoutPodDefaults }),
  client: goSuite({ fixtureFlags: withoutPodDefaults }),
}
