/**
 * What a host of applications asks of `dcp`, in its order, by a client of ours in another process.
 */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { access, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect, type Client } from 'evenkeel/client'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestSession, untilThere } from './dcp-process.fixture.ts'
import { Executable } from './kinds/executable.ts'
import { Service } from './kinds/network.ts'

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
  const created = await client.create(Service, { metadata: { name: 'Catalog_HTTP' }, spec: { protocol: 'TCP' } })
  expect((await client.list(Service)).items.map(({ metadata }) => metadata.name)).toEqual(['Catalog_HTTP'])
  await client.subresource('status').patch(created, { status: { effectivePort: 5000 } })
  expect((await client.get(Service, { name: 'Catalog_HTTP' })).status?.effectivePort).toBe(5000)
  const app = await client.create(Executable, { metadata: { name: 'app' }, spec: { executablePath: '/bin/app' } })
  const patch = [{ op: 'add', path: '/metadata/annotations', value: { 'service-producer': '[]' } }]
  const patched = await client.patch(app, patch, { type: 'json' })
  expect(patched.metadata.annotations).toEqual({ 'service-producer': '[]' })
  for await (const event of client.watch(Executable)) {
    expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'app' } } })
    break
  }
  const out = join(session.sessionFolder, 'out')
  await writeFile(out, '1 2030-01-31T12:00:00.000Z ready\n')
  await client.subresource('status').patch(app, { status: { stdOutFile: out } })
  expect(await client.subresource('log').text(app, { parameters: { timestamps: true } })).toBe(
    '2030-01-31T12:00:00.000Z ready\n',
  )
  await client.delete(app)
  // 5: the objects first, then the program.
  expect(await setExecution(client, 'CleaningResources')).toMatchObject({ status: 'CleaningResources' })
  await untilCleanedUp(client)
  expect((await client.list(Service)).items).toEqual([])
  const gone = untilThere(session.sessionFolder, false)
  expect(await setExecution(client, 'Stopping')).toMatchObject({ status: 'Stopping' })
  await client.close()
  // 6: nothing is left.
  await gone
  expect(logs.text).toMatch(/^\S+Z\tinfo\tdcp\tthe server is ready \{"url":"https:\/\/127\.0\.0\.1:\d+"\}$/m)
  logs.close()
})

test('a session ends with the process that is monitored, and removes its folder', async () => {
  const host = session.startHost()
  const words = ['start-apiserver', '--monitor', String(host.pid), '--kubeconfig', session.kubeconfig]
  const { ended } = session.start(words)
  await untilThere(session.kubeconfig)
  host.kill('SIGKILL')
  expect(await ended).toMatchObject({
    code: 0,
    err: expect.stringContaining('the monitored process has ended') as string,
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
