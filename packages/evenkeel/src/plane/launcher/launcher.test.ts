/**
 * The two programs as envtest runs them: `--help` first, then with the flags it gives, until they are well, until SIGTERM.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SystemClock, SystemRandom } from '#base'
import { connect } from '#client'
import type { Client } from '#client'
import { issueClientCertificate, issueServerCertificate, makeAuthority } from '#wire'

const [runner = '', apiServer = '', etcd = ''] = [
  '../../../../../tools/run.mjs',
  './kube-apiserver.ts',
  './etcd.ts',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const made = { clock: new SystemClock(), random: new SystemRandom() }
const servers = makeAuthority(made)
const callers = makeAuthority(made)
const children = new Set<ChildProcess>()
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-launcher-'))
  const { certificatePem, keyPem } = issueServerCertificate(servers, { ...made, names: ['localhost', '127.0.0.1'] })
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const files = {
    'apiserver.crt': certificatePem,
    'apiserver.key': keyPem,
    'client-cert-auth-ca.crt': callers.certificatePem,
    'sa-signer.crt': publicKey,
    'sa-signer.key': privateKey,
  }
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

interface Program {
  readonly child: ChildProcess
  /** What it said until it ended, and how it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>
  /** The address that it said it is serving. */
  readonly url: Promise<string>
}

function run(program: string, ...args: readonly string[]): Program {
  const child = spawn(process.execPath, [runner, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let text = ''
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }))
  const url = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece: Buffer) => {
        text += piece.toString()
        const [found] = /https?:\/\/[\d.]+:\d+/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
    }
    ended.then(() => {
      reject(new Error(`it ended: ${text}`))
    }, reject)
  })
  url.catch(() => undefined)
  return { child, ended, url }
}

/** What envtest gives to every server, with a port that is free. */
function envtestFlags(): string[] {
  return [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${folder}`,
    `--client-ca-file=${join(folder, 'client-cert-auth-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    '--etcd-servers=http://127.0.0.1:1',
    '--secure-port=0',
    '--service-account-issuer=https://127.0.0.1:6443/',
    `--service-account-key-file=${join(folder, 'sa-signer.crt')}`,
    `--service-account-signing-key-file=${join(folder, 'sa-signer.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ]
}

function as(server: string, commonName: string, organizations: readonly string[]): Promise<Client> {
  const { certificatePem, keyPem } = issueClientCertificate(callers, {
    ...made,
    subject: { commonName, organizations },
  })
  return connect({
    config: {
      origin: 'test',
      server,
      namespace: 'default',
      ca: { text: servers.certificatePem },
      cert: { text: certificatePem },
      key: { text: keyPem },
    },
  })
}

const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { n: '1' } }
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }

describe('kube-apiserver', () => {
  test('with the flags of envtest serves its certificate, knows callers by theirs, and ends by SIGTERM', async () => {
    const program = run(apiServer, ...envtestFlags(), '--v=2', '--some-flag-of-tomorrow=1')
    const url = await program.url
    const admin = await as(url, 'admin', ['system:masters'])
    await admin.create(map)
    await admin.patch(map, { data: { n: '2' } }, { type: 'merge' })
    expect(await admin.get(map, { name: 'a', namespace: 'default' })).toMatchObject({ data: { n: '2' } })
    const watch = admin.watch(map, { namespace: 'default' })
    expect((await watch[Symbol.asyncIterator]().next()).value).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'a' } },
    })
    const nobody = await as(url, 'nobody', [])
    await expect(nobody.get(map, { name: 'a', namespace: 'default' })).rejects.toThrow(
      'User "nobody" cannot get resource "configmaps"',
    )
    await admin.create(account)
    await admin.delete(map)

    program.child.kill('SIGTERM')
    const { code, text } = await program.ended
    await Promise.all([admin, nobody].map((client) => client.close()))
    expect(code).toBe(0)
    expect(text).toContain('"flag":"--some-flag-of-tomorrow"')
  })

  test('--help names its flags, and a mistake ends it with one line', async () => {
    const [help, mistake] = await Promise.all([run(apiServer, '--help').ended, run(apiServer, '--secure-port').ended])
    expect(help).toMatchObject({ code: 0, text: expect.stringMatching(/^ +--secure-port\b/m) as string })
    expect(mistake).toEqual({ code: 1, text: 'Error: --secure-port needs a value\n' })
  })
})

test('etcd with the flags of envtest is well, says what it is, and ends by SIGTERM', async () => {
  const program = run(
    etcd,
    '--advertise-client-urls=http://127.0.0.1:0',
    '--listen-client-urls=http://127.0.0.1:0',
    '--listen-peer-urls=http://127.0.0.1:0',
    `--data-dir=${folder}`,
    '--unsafe-no-fsync=true',
  )
  const url = await program.url
  const [health, keys] = await Promise.all(['/health', '/v3/kv/range'].map((path) => fetch(url + path)))
  expect([health?.status, await health?.json()]).toEqual([200, { health: 'true', reason: '' }])
  expect([keys?.status, await keys?.text()]).toEqual([501, expect.stringContaining('this is not etcd')])
  program.child.kill('SIGTERM')
  expect((await program.ended).code).toBe(0)
})
