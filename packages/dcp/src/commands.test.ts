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

test('help is printed for every command', async () => {
  for (const words of [[], ['--help'], ['info', '--help'], ['start-apiserver', '-h']])
    expect(await said(...words)).toContain('dcp start-apiserver')
})

test('a session whose end has come before its start leaves nothing', async () => {
  expect(await said(...start)).toContain('the server is ready')
  expect(await said(...start)).toContain('the server is ready')
})

test.each<[string, readonly string[], string]>([
  ['an unknown command', ['up'], 'there is no command up: use one of version, info, start-apiserver'],
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
