import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from './commands.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
  const options = { clock: new SystemClock(), random: new SystemRandom() }
  const authority = makeAuthority(options)
  const made = issueServerCertificate(authority, { ...options, names: ['localhost'] })
  const other = issueServerCertificate(authority, { ...options, names: ['example.com'] })
  const files = {
    cert: made.certificatePem,
    key: made.keyPem,
    'other.cert': other.certificatePem,
    'other.key': other.keyPem,
    taken: 'clusters: []',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The output of a command, or what it refuses; `@name` is a file of the test. */
async function said(...words: readonly string[]): Promise<string> {
  let out = ''
  const write = (text: string): unknown => (out += text)
  const given = words.map((word) => (word.startsWith('@') ? join(folder, word.slice(1)) : word))
  try {
    await runCommand(given, {
      env: {},
      stdout: { write },
      stderr: { write },
      self: ['node'],
      signal: AbortSignal.abort(new Error('the test is over')),
    })
    return out
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}

const start = ['start-apiserver', '--kubeconfig', '@kubeconfig']
const tls = ['--tls-cert-file', '@cert', '--tls-key-file', '@key']

test('version and info are JSON documents that a host can compare', async () => {
  expect(JSON.parse(await said('version'))).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
  })
  const info = JSON.parse(await said('info', '--container-runtime', 'podman', '--diagnostics')) as object
  expect(info).toMatchObject({
    containers: { runtime: 'podman', hostName: 'host.containers.internal', installed: expect.any(Boolean) as boolean },
    os: process.platform,
  })
})

test('cleanup reports that nothing was left to stop', async () => {
  expect(JSON.parse(await said('cleanup', ' shop '))).toEqual({
    workloadId: 'shop',
    stopped: { containers: 0, executables: 0, networks: 0 },
  })
})

test('help is printed for every command', async () => {
  for (const words of [[], ['--help'], ['info', '--help'], ['start-apiserver', '-h']])
    expect(await said(...words)).toContain('dcp start-apiserver')
})

test('a session whose end has come before its start leaves nothing', async () => {
  expect(await said(...start)).toContain('server is ready')
  expect(await said(...start)).toContain('server is ready')
})

test.each<[string, readonly string[], string]>([
  [
    'an unknown command',
    ['up'],
    'there is no command up: use one of version, info, start-apiserver, fork-process, stop-process-tree, cleanup',
  ],
  ['a command of dcp that is elsewhere', ['run-controllers'], 'start-apiserver runs the controllers itself'],
  ['a program that is missing', ['fork-process', '--', '/no/such/program'], 'cannot be started'],
  ['no program at all', ['fork-process', '--'], 'fork-process needs a program'],
  ['no process to stop', ['stop-process-tree'], 'stop-process-tree needs --pid'],
  ['a process that has ended', ['stop-process-tree', '--pid', '999999999'], 'there is no process 999999999'],
  [
    'a process of another start time',
    ['stop-process-tree', '--pid', '1', '--process-start-time', '0001-01-01T23:59:59.000Z'],
    'was started at another time',
  ],
  ['an empty workload', ['cleanup', ' '], 'cleanup needs one id of a workload'],
  ['a workload with a long name', ['cleanup', 'x'.repeat(1025)], 'has at most 1024 bytes'],
  ['an unknown flag', ['start-apiserver', '--watch'], "Unknown option '--watch'"],
  ['a monitor that is no number', [...start, '--monitor', 'me'], '--monitor must be a number, got "me"'],
  ['an unknown runtime', ['info', '--container-runtime', 'lxc'], '--container-runtime must be docker or podman'],
  ['a key alone', [...start, '--tls-key-file', '@key'], '--tls-cert-file and --tls-key-file belong together'],
  ['a thumbprint alone', [...start, '--tls-cert-thumbprint', 'AB'], 'needs a certificate store of the system'],
  ['an authority alone', [...start, '--tls-ca-file', '@cert'], '--tls-ca-file is the authority of --tls-cert-file'],
  ['a file that is missing', [...start, '--tls-cert-file', '@none', '--tls-key-file', '@key'], 'cannot read'],
  [
    'the key of another',
    [...start, '--tls-cert-file', '@cert', '--tls-key-file', '@other.key'],
    'the key does not belong to',
  ],
  ['another thumbprint', [...start, ...tls, '--tls-cert-thumbprint', 'AB:CD'], 'has the thumbprint'],
  [
    'a certificate for another machine',
    [...start, '--tls-cert-file', '@other.cert', '--tls-key-file', '@other.key'],
    'it must be for localhost, 127.0.0.1 or ::1',
  ],
  ['the kubeconfig of another session', ['start-apiserver', '--kubeconfig', '@taken'], 'exists already'],
  ['a folder as kubeconfig', ['start-apiserver', '--kubeconfig', '@'], 'is a folder'],
])('%s is refused with what to write', async (_, words, message) => {
  expect(await said(...words)).toMatch(/^UsageError: /)
  expect(await said(...words)).toContain(message)
})
