/**
 * What a host of applications asks of `dcp`, in its order, by a client of ours in another process.
 */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { access, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { systemTable } from '@evenkeel/workloads'
import type { KubeObject, ObjectOf, Stored } from 'evenkeel'
import { connect, type Client } from 'evenkeel/client'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { nextTurn, SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestSession, untilThere } from './dcp-process.fixture.ts'
import { Executable } from './kinds/executable.ts'
import { Service } from './kinds/network.ts'
import { waitForEnd } from './monitored-process.ts'

let session: TestSession
beforeEach(async () => {
  session = await TestSession.open()
})
afterEach(() => session.close())

/** The lines that a host gets from the log socket of a session. */
class LogListener {
  readonly path: string
  text = ''
  readonly #server = createServer((socket: Socket) => {
    socket.on('data', (piece: Buffer) => (this.text += piece.toString()))
    socket.on('error', () => undefined)
  })

  constructor(path: string) {
    this.path = path
  }

  async listen(): Promise<void> {
    this.#server.listen(this.path)
    await once(this.#server, 'listening')
  }

  close(): void {
    this.#server.close()
  }
}

async function setExecution(client: Client, status: string): Promise<unknown> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  return (await client.raw({ method: 'PATCH', path: '/admin/execution', headers, body: { status } })).json()
}

async function untilCleanedUp(client: Client): Promise<void> {
  for (;;) {
    const state = (await client.raw({ path: '/admin/execution' })).json()
    if (state['status'] === 'CleanupComplete') return
  }
}

const paths = '/apis/usvc-dev.developer.microsoft.com/v1'
/** A line with a time of its own, then a server. */
const program = `console.log('2026-01-01T00:00:00Z ready')
require('node:http').createServer((_, answer) => answer.end('hello')).listen(process.env.PORT, 'localhost')`

/** The state of an object that a watch shows, as soon as it is so. */
async function seen<K extends typeof Executable | typeof Service>(
  client: Client,
  kind: K,
  isSo: (object: Stored<ObjectOf<K>>) => boolean,
): Promise<Stored<ObjectOf<K>>> {
  for await (const event of client.watch(kind))
    if ('object' in event && isSo(event.object as never)) return event.object as never
  throw new Error('the watch has ended')
}

async function gone(client: Client, kind: typeof Executable, name: string): Promise<void> {
  while (await client.find(kind, { name }));
}

/** As a host reads it: followed, until the first line is there. */
async function logOf(client: Client, app: KubeObject): Promise<string> {
  let text = ''
  const parameters = { follow: true, timestamps: true, source: 'stdout' }
  for await (const piece of client.subresource('log').stream(app, { parameters })) {
    text += piece
    if (text.includes('\n')) break
  }
  return text
}

/** A zombie counts as ended. */
function isAlive(pid: number | null | undefined): boolean {
  return pid !== undefined && pid !== null && systemTable().find(pid) !== undefined
}

test('a host asks for the version, starts a session, uses its API, and ends it', async () => {
  // 1: before everything else.
  const info = await session.run(['info', '--container-runtime', 'podman'])
  expect(JSON.parse(info.out)).toMatchObject({
    version: expect.stringMatching(/^0\.(?:2[3-9]|[3-9]\d)\.\d+$/) as string,
    containers: { runtime: 'podman', hostName: 'host.containers.internal' },
  })
  // 2: the command returns, the server goes on.
  const host = session.startHost()
  const logs = new LogListener(join(session.folder, 'log'))
  await logs.listen()
  const words = ['start-apiserver', '--monitor', String(host.pid), '--detach', '--kubeconfig', session.kubeconfig]
  expect(await session.run(words, { DCP_LOG_SOCKET: logs.path })).toEqual({ code: 0, out: '', err: '' })
  // 3: the file is complete when it is there, and for its owner only.
  await untilThere(session.kubeconfig)
  expect((await stat(session.kubeconfig)).mode & 0o777).toBe(0o600)
  const client = await connect({ kubeconfig: session.kubeconfig })
  // 4: create, list, get, JSON Patch, watch, log, delete.
  await client.create(Service, { metadata: { name: 'Catalog_HTTP' }, spec: { protocol: 'TCP' } })
  expect((await client.list(Service)).items.map(({ metadata }) => metadata.name)).toEqual(['Catalog_HTTP'])
  const service = await seen(client, Service, ({ status }) => (status?.effectivePort ?? 0) > 0)
  expect(service.status).toMatchObject({ state: 'NotReady', effectiveAddress: 'localhost' })
  const app = await client.create(Executable, {
    metadata: { name: 'app', annotations: { 'service-producer': '[{"serviceName":"Catalog_HTTP"}]' } },
    spec: {
      executablePath: process.execPath,
      args: ['-e', program],
      env: [{ name: 'PORT', value: '{{- portForServing "Catalog_HTTP" -}}' }],
      start: false,
    },
  })
  const patched = await client.patch(app, [{ op: 'replace', path: '/spec/start', value: true }], { type: 'json' })
  expect(patched.spec?.start).toBe(true)
  const running = await seen(client, Executable, ({ status }) => status?.state === 'Running')
  await seen(client, Service, ({ status }) => status?.state === 'Ready')
  const url = `http://localhost:${service.status?.effectivePort}`
  expect(await (await fetch(url, { headers: { connection: 'close' } })).text()).toBe('hello')
  expect(await logOf(client, app)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 2026-01-01T00:00:00Z ready\n/)
  const answer = await client.raw({ method: 'DELETE', path: `${paths}/executables/app` })
  expect(answer.json()).toMatchObject({
    kind: 'Executable',
    metadata: { name: 'app', uid: app.metadata.uid, deletionTimestamp: expect.any(String) as string },
    status: { pid: running.status?.pid },
  })
  await gone(client, Executable, 'app')
  expect(isAlive(running.status?.pid)).toBe(false)
  // One that is left to the end of the session.
  await client.create(Executable, { metadata: { name: 'left' }, spec: { executablePath: 'sleep', args: ['1000'] } })
  const left = await seen(client, Executable, ({ status }) => status?.state === 'Running')
  // 5: the objects first, then the program.
  expect(await setExecution(client, 'CleaningResources')).toMatchObject({ status: 'CleaningResources' })
  await untilCleanedUp(client)
  expect((await client.list(Service)).items).toEqual([])
  const folderGone = untilThere(session.sessionFolder, false)
  expect(await setExecution(client, 'Stopping')).toMatchObject({ status: 'Stopping' })
  await client.close()
  // 6: nothing is left.
  await folderGone
  expect(isAlive(left.status?.pid)).toBe(false)
  expect(logs.text).toMatch(/^\S+Z\tinfo\tdcp\tserver is ready \{"url":"https:\/\/127\.0\.0\.1:\d+"\}$/m)
  logs.close()
})

test('a dcp that is killed leaves no program', async () => {
  const { child } = session.start(['start-apiserver', '--kubeconfig', session.kubeconfig])
  await untilThere(session.kubeconfig)
  const client = await connect({ kubeconfig: session.kubeconfig })
  const spec = { executablePath: '/bin/sh', args: ['-c', 'setsid sleep 1000 & sleep 1000'] }
  await client.create(Executable, { metadata: { name: 'tree' }, spec })
  const { status } = await seen(client, Executable, ({ status: now }) => now?.state === 'Running')
  const pids = await descendantsOf(status?.pid ?? 0, 3)
  await client.close()
  child.kill('SIGKILL')
  const clock = new SystemClock()
  for (const pid of pids) await waitForEnd(pid, { clock, signal: new AbortController().signal, intervalMs: 10 })
  expect(pids.filter(isAlive)).toEqual([])
})

/** A process and its descendants, as soon as there are so many. */
async function descendantsOf(root: number, count: number): Promise<readonly number[]> {
  const [table, clock] = [systemTable(), new SystemClock()]
  for (;;) {
    const found = new Set([root])
    for (const { pid, parentPid } of await table.list(0, () => nextTurn(clock)))
      if (found.has(parentPid)) found.add(pid)
    if (found.size >= count) return [...found]
  }
}

test('a session ends with the process that is monitored, and removes its folder', async () => {
  const host = session.startHost()
  const words = ['start-apiserver', '--monitor', String(host.pid), '--kubeconfig', session.kubeconfig]
  const { ended } = session.start(words)
  await untilThere(session.kubeconfig)
  host.kill('SIGKILL')
  expect(await ended).toMatchObject({
    code: 0,
    err: expect.stringContaining('monitored process ended') as string,
  })
  await expect(access(session.sessionFolder)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('row 34: a folder whose logs are to be kept stays, without the kubeconfig; the given token is not written', async () => {
  const env = { DCP_PRESERVE_EXECUTABLE_LOGS: 'on', DCP_SECURE_TOKEN: 'a-token-of-the-host' }
  const { child, ended } = session.start(['start-apiserver', '--kubeconfig', session.kubeconfig], env)
  await untilThere(session.kubeconfig)
  expect(await readFile(session.kubeconfig, 'utf8')).not.toContain('a-token-of-the-host')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await access(session.sessionFolder)
  await expect(access(session.kubeconfig)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('the certificate of the host is used, and clients can verify it', async () => {
  const options = { clock: new SystemClock(), random: new SystemRandom() }
  const authority = makeAuthority(options)
  const { certificatePem, keyPem } = issueServerCertificate(authority, { ...options, names: ['localhost'] })
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(session.folder, name)
    await writeFile(path, text)
    return path
  }
  const files = {
    'tls-cert-file': await write('cert', certificatePem),
    'tls-key-file': await write('key', keyPem),
    'tls-ca-file': await write('ca', authority.certificatePem),
    'tls-cert-thumbprint': new X509Certificate(certificatePem).fingerprint,
  }
  const flags = Object.entries(files).map(([name, value]) => `--${name}=${value}`)
  const { child, ended } = session.start(['start-apiserver', '--kubeconfig', session.kubeconfig, ...flags])
  await untilThere(session.kubeconfig)
  expect(await readFile(session.kubeconfig, 'utf8')).toContain('https://localhost:')
  const client = await connect({ kubeconfig: session.kubeconfig })
  expect((await client.list(Executable)).items).toEqual([])
  await client.close()
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})
