/**
 * kubectl's own scripts, test/cmd of a source tree of Kubernetes: every function that they run, in a shell of its own, on a
 * fresh server.
 *
 * Functions about rollouts and jobs need the controllers of workloads, which a plane does not have. With
 * `--controller-manager`, a kube-controller-manager runs beside the plane, without the controllers that the plane has too.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { limitedSignal, runProgram, withFolder } from './program.ts'
import type { TestResult } from './result.ts'
import { startPlaneServer, withServer, type JudgedServer } from './server.ts'
import type { SuiteOptions } from './suites.ts'

const cmdTestMs = 600_000

export async function runCmd(options: SuiteOptions): Promise<TestResult[]> {
  const { tree, focus = '', skip, flags, controllerManager, onLine } = options
  if (tree === undefined) throw new RangeError('cmd needs --tree FOLDER: a source tree of Kubernetes with test/cmd')
  const names = (await functionsOf(tree)).filter(
    (name) => new RegExp(focus).test(name) && (skip === undefined || !new RegExp(skip).test(name)),
  )
  const results: TestResult[] = []
  for (const name of names) {
    if (options.signal.aborted) break
    await withServer(startPlaneServer([...fixtureFlags(tree), ...flags]), async (server) => {
      onLine?.(`=== ${name}`)
      const stopManager = controllerManager && (await startManager(controllerManager, { tree, server }))
      try {
        results.push(await runFunction(name, { ...options, tree, server }))
      } finally {
        if (stopManager) await stopManager()
      }
    })
  }
  return results
}

async function runFunction(
  name: string,
  { tree, server, binary, signal, onLine }: SuiteOptions & { tree: string; server: JudgedServer },
): Promise<TestResult> {
  const output = await withFolder(async (home) => {
    return runProgram('bash', ['-c', script], {
      folder: tree,
      signal: limitedSignal(signal, cmdTestMs),
      onLine,
      env: {
        ...server.env,
        HOME: home,
        TMPDIR: home,
        KUBECTL_FOLDER: dirname(binary),
        SECURE_API_PORT: String(server.port),
        JUDGED: name,
        WHAT: 'judged',
        ALLOW_SKEW: 'true',
        SUPPORTED_RESOURCES: '*',
      },
    })
  })
  // Lines of the two streams of output can change places.
  const isPassed = output.split('\n').includes(lastLine)
  return isPassed ? { name, verdict: 'passed' } : { name, verdict: 'failed', message: failureOf(output) }
}

/** What the scripts give their kube-apiserver. */
function fixtureFlags(tree: string): string[] {
  const disabled = ['ServiceAccount', 'DefaultStorageClass', 'DefaultTolerationSeconds', 'StorageObjectInUseProtection']
  return [
    ...disabled.flatMap((name) => ['--disable-admission-plugins', name]),
    ...['--authorization-mode', 'always-allow'],
    ...['--service-cluster-ip-range', '10.0.0.0/24'],
    ...['--client-ca-file', join(tree, 'hack/testdata/ca/ca.crt')],
  ]
}

/** Controllers that the plane runs itself. */
const ownControllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'resourcequota-controller',
  'validatingadmissionpolicy-status-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'volumeattributesclass-protection-controller',
]

async function startManager(
  program: string,
  { tree, server }: { tree: string; server: JudgedServer },
): Promise<() => Promise<void>> {
  const child = spawn(
    program,
    [
      `--kubeconfig=${server.kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      `--controllers=*,${ownControllers.map((name) => `-${name}`).join(',')}`,
      `--cluster-signing-cert-file=${join(tree, 'hack/testdata/ca/ca.crt')}`,
      `--cluster-signing-key-file=${join(tree, 'hack/testdata/ca/ca.key')}`,
    ],
    { stdio: 'ignore' },
  )
  await once(child, 'spawn')
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

const lastLine = 'EVERYTHING PASSED'
/**
 * What `setup` of the scripts does, without the etcd and the programs that it builds. Some functions expect that an earlier
 * one has left the namespace `default`, and that the certificate of the server is where kube-apiserver writes it.
 */
const script = `
set -o errexit -o nounset -o pipefail
KUBE_ROOT="$PWD"
source hack/lib/init.sh
THIS_PLATFORM_BIN="$KUBECTL_FOLDER"
source hack/lib/test.sh
source test/cmd/legacy-script.sh
kube::util::ensure-temp-dir
kube::util::ensure-gnu-sed
export CONTEXT=test SUPPORTED_RESOURCES=("*")
kubectl config view --raw -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d > "$TMPDIR/apiserver.crt"
kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:\${SECURE_API_PORT}"
kubectl config set-context test --user test-admin --cluster local
kubectl config use-context test
kubectl create -f - <<< '{"apiVersion":"v1","kind":"Node","metadata":{"name":"127.0.0.1","annotations":{"save-managers":"true"}},"status":{"capacity":{"memory":"1Gi"},"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusNeverUpdated"}]}}'
create_and_use_new_namespace
run_judged_tests() { "$JUDGED"; }
runTests
echo "${lastLine}"
`

/** The functions that the scripts run; others are defined and never used. */
async function functionsOf(tree: string): Promise<string[]> {
  const text = await readFile(join(tree, 'test', 'cmd', 'legacy-script.sh'), 'utf8')
  const names = [...text.matchAll(/^\s*record_command (run_\w+)$/gm)].map(([, name = '']) => name)
  return [...new Set(names)].sort()
}

/** The lines of the failed assertion, or those before the script gave up. */
function failureOf(output: string): string {
  // What comes before is the start of the scripts, which tries its own failures.
  const lines = output.slice(output.lastIndexOf('Running command: ')).split('\n')
  const failed = lines.findIndex((line) => line.includes('FAIL!'))
  const ended = lines.findIndex((line) => /^(?:!!!|\+\+\+ (?:exit code|error))/.test(line))
  if (failed >= 0) return lines.slice(failed, failed + 5).join('\n')
  return (ended >= 0 ? lines.slice(0, ended) : lines).slice(-5).join('\n')
}
