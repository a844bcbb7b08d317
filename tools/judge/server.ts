/**
 * Fresh servers for the suites, each in a process of its own, with a folder that is removed at the end.
 *
 *   plane        `evenkeel serve`: the server with the controllers of the plane, for suites that judge a cluster
 *   API server   the kube-apiserver of envtest: the server alone, for suites that start nothing but a kube-apiserver
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))

/** The program for envtest that takes the flags of kube-apiserver. */
export const apiServerProgram = join(packages, 'evenkeel/envtest/kube-apiserver')

export interface JudgedServer {
  readonly kubeconfig: string
  readonly port: number
  /** For programs that find the server by their environment. */
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const token = 'admin-token'
/** The token that the scripts of kubectl send. */
const tokens = `${token},admin,admin,"system:masters"\n`

export async function startPlaneServer(flags: readonly string[]): Promise<JudgedServer> {
  const folder = await newFolder()
  const child = spawn(
    process.execPath,
    [
      join(packages, 'evenkeel/bin/evenkeel.mjs'),
      'serve',
      ...['--data', join(folder, 'data')],
      ...['--port', '0'],
      '--json',
      ...['--token-auth-file', join(folder, 'tokens.csv')],
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const stop = stopOf(child, folder)
  const line = await firstLine(child.stdout, (text) => text.includes('"kubeconfig"'))
  if (line === undefined) return neverStarted(stop)
  const { url, kubeconfig } = JSON.parse(line) as { url: string; kubeconfig: string }
  return { kubeconfig, port: Number(new URL(url).port), env: { KUBECONFIG: kubeconfig }, stop }
}

export async function startApiServer(flags: readonly string[]): Promise<JudgedServer> {
  const folder = await newFolder()
  const child = spawn(
    process.execPath,
    [
      apiServerProgram,
      `--cert-dir=${folder}`,
      '--secure-port=0',
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--v=2',
      ...flags,
    ],
    { stdio: ['ignore', 'inherit', 'pipe'] },
  )
  const stop = stopOf(child, folder)
  const line = await firstLine(child.stderr, (text) => text.includes('"serving"'))
  if (line === undefined) return neverStarted(stop)
  const { url } = JSON.parse(line) as { url: string }
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, kubeconfigOf(url, join(folder, 'apiserver.crt')), { mode: 0o600 })
  return { kubeconfig, port: Number(new URL(url).port), env: { KUBECONFIG: kubeconfig }, stop }
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judged-'))
  await writeFile(join(folder, 'tokens.csv'), tokens, { mode: 0o600 })
  return folder
}

/** A kubeconfig in JSON, which is YAML too. */
function kubeconfigOf(server: string, authorityFile: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'judged', cluster: { server, 'certificate-authority': authorityFile } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'judged', context: { cluster: 'judged', user: 'admin', namespace: 'default' } }],
    'current-context': 'judged',
  })
}

/** The rest of the stream is read and dropped, so that the program never waits. */
async function firstLine(stream: Readable, fits: (line: string) => boolean): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream }))
    if (fits(line)) {
      stream.resume()
      return line
    }
  return undefined
}

function stopOf(child: ChildProcess, folder: string): () => Promise<void> {
  return async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    await rm(folder, { recursive: true, force: true })
  }
}

async function neverStarted(stop: () => Promise<void>): Promise<never> {
  await stop()
  throw new Error('the server did not start: build the packages first, with npm run build')
}

/** Stops the server at the end. */
export async function withServer<T>(
  started: Promise<JudgedServer>,
  run: (server: JudgedServer) => Promise<T>,
): Promise<T> {
  const server = await started
  try {
    return await run(server)
  } finally {
    await server.stop()
  }
}
