/**
 * How each suite of Kubernetes is started against a server, and where its results are.
 *
 *   e2e             the program e2e.test, chosen by its focus; without one, the conformance tests of the API that need no
 *                   node
 *   apiextensions   a Go test program whose fixture connects to the server of KUBECONFIG
 *   apply           the same
 *   cmd             kubectl, and the scripts test/cmd of a source tree of Kubernetes: each function on its own
 */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from 'evenkeel/client'
import { Node } from 'evenkeel/kinds/core/v1'
import type { JudgedServer } from './server.ts'
import { parseGinkgoReport, parseGoTests } from './parse.ts'
import type { SuiteName, TestResult } from './result.ts'

export interface SuiteOptions {
  readonly binary: string
  readonly server: JudgedServer
  /** The source tree of Kubernetes, for `cmd`. */
  readonly tree: string | undefined
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

async function runE2e({
  binary,
  server,
  focus = e2eFocus,
  skip = e2eSkip,
  ...run
}: SuiteOptions): Promise<TestResult[]> {
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
}

/** The program wants a node that is ready, even for tests that run nothing on it. */
async function createNode({ kubeconfig }: JudgedServer): Promise<void> {
  const client = await connect({ kubeconfig })
  const node = await client.create(Node, { metadata: { name: 'judge' } })
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  const condition = { lastHeartbeatTime: now, lastTransitionTime: now, reason: 'Judged', message: '' }
  await client.patchStatus(node, { conditions: [{ type: 'Ready', status: 'True', ...condition }] })
}

async function runGoTests({ binary, server, focus = '.', skip, ...run }: SuiteOptions): Promise<TestResult[]> {
  const args = [
    '-test.v',
    '-test.timeout=60m',
    `-test.run=${focus}`,
    ...(skip === undefined ? [] : [`-test.skip=${skip}`]),
  ]
  return parseGoTests(await runProgram(binary, args, { ...run, env: server.env, folder: dirname(binary) }))
}

const cmdTestMs = 600_000

/** Every function `run_..._tests` of the scripts, each in a shell of its own. */
async function runCmd({ binary, server, tree, focus = '', skip, signal, onLine }: SuiteOptions): Promise<TestResult[]> {
  if (tree === undefined) throw new RangeError('cmd needs --tree FOLDER: a source tree of Kubernetes with test/cmd')
  const results: TestResult[] = []
  for (const name of await cmdFunctions(tree)) {
    if (!new RegExp(focus).test(name) || (skip !== undefined && new RegExp(skip).test(name))) continue
    onLine?.(`=== ${name}`)
    const output = await withFolder(async (home) => {
      await mkdir(join(home, 'bin'))
      return runProgram('bash', ['-c', cmdScript], {
        folder: tree,
        signal: AbortSignal.any([signal, AbortSignal.timeout(cmdTestMs)]),
        onLine,
        env: {
          ...server.env,
          HOME: home,
          PATH: `${dirname(binary)}:${process.env['PATH'] ?? ''}`,
          SECURE_API_PORT: String(server.port),
          WHAT: name.replace(/^run_/, '').replace(/_tests$/, ''),
          ALLOW_SKEW: 'true',
          SUPPORTED_RESOURCES: '*',
        },
      })
    })
    const isPassed = output.trimEnd().endsWith(cmdEnd)
    results.push(isPassed ? { name, verdict: 'passed' } : { name, verdict: 'failed', message: failureOf(output) })
  }
  return results
}

const cmdEnd = 'EVERYTHING PASSED'
/** What `setup` of the scripts does, without the etcd and the programs that it builds. */
const cmdScript = `
set -o errexit -o nounset -o pipefail
KUBE_ROOT="$PWD"
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh
kube::util::ensure-temp-dir
kube::util::ensure-gnu-sed
export CONTEXT=test SUPPORTED_RESOURCES=("*")
kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:\${SECURE_API_PORT}"
kubectl config set-context test --user test-admin --cluster local
kubectl config use-context test
kubectl get node 127.0.0.1 2>/dev/null || kubectl create -f - <<< '{"apiVersion":"v1","kind":"Node","metadata":{"name":"127.0.0.1"},"status":{"capacity":{"memory":"1Gi"}}}'
runTests
echo "${cmdEnd}"
`

async function cmdFunctions(tree: string): Promise<string[]> {
  const folder = join(tree, 'test', 'cmd')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sh'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return texts.flatMap((text) => [...text.matchAll(/^(run_\w+_tests)\(\)/gm)].map(([, name = '']) => name)).sort()
}

function failureOf(output: string): string {
  // What comes before is the start of the scripts, which tries its own failures.
  const lines = output.slice(output.lastIndexOf('Running command: ')).split('\n')
  const at = lines.findIndex((line) => /^(FAIL!|!!!|error:|.*FAILED TESTS)/i.test(line))
  return lines.slice(at < 0 ? -6 : at, at < 0 ? undefined : at + 5).join('\n')
}

async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judge-'))
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface RunOptions {
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly folder?: string
  readonly onLine?: ((line: string) => void) | undefined
}

/** All output. A program that fails is no error: its results say which tests did. */
function runProgram(
  program: string,
  args: readonly string[],
  { env, signal, folder, onLine }: RunOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      signal,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(folder && { cwd: folder }),
    })
    let output = ''
    const take = (piece: Buffer): void => {
      const text = piece.toString()
      output += text
      if (onLine) for (const line of text.split('\n')) if (line.trim() !== '') onLine(line)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', (error) => {
      if (signal.aborted) resolve(`${output}\nended: ${String(signal.reason)}`)
      else reject(error)
    })
    child.on('close', () => {
      resolve(output)
    })
  })
}

export const suites: Readonly<Record<SuiteName, RunSuite>> = {
  e2e: runE2e,
  cmd: runCmd,
  apiextensions: runGoTests,
  apply: runGoTests,
}
