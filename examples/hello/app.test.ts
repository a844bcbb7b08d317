/**
 * Runs the program as a user does, without a cluster and with one, and checks its effects.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from 'evenkeel/client'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { startServer, writeKubeconfig } from 'evenkeel/server'

const [runner, app] = ['../../tools/run.mjs', './app.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

let home = ''
let child: ChildProcess | undefined
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'evenkeel-hello-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

/** Starts the program with its own home directory; returns the matching part of its output. */
async function start(env: Record<string, string>, ready: RegExp): Promise<string> {
  const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: _host, ...rest } = process.env
  child = spawn(process.execPath, [runner ?? '', app ?? ''], {
    cwd: home,
    env: { ...rest, HOME: home, USERPROFILE: home, TMPDIR: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  return await new Promise((resolve, reject) => {
    const append = (piece: Buffer): void => {
      text += piece.toString()
      const found = ready.exec(text)
      if (found) resolve(found[1] ?? found[0])
    }
    child?.stdout?.on('data', append)
    child?.stderr?.on('data', append)
    child?.on('exit', (code) => {
      reject(new Error(`the program ended with ${code}: ${text}`))
    })
  })
}

/** Creates a Greeting, waits for its ConfigMap, changes that, and waits until it is restored. */
async function tryIt(kubeconfig: string): Promise<void> {
  const client = await connect({ kubeconfig })
  const greeting = {
    apiVersion: 'demo.example.com/v1',
    kind: 'Greeting',
    metadata: { name: 'first', namespace: 'default' },
    spec: { who: 'you' },
  }
  const watch = client.watch(ConfigMap, { namespace: 'default' })
  const seen: string[] = []
  await client.create(greeting)
  for await (const event of watch) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    const { metadata, data } = event.object
    if (metadata.name !== 'first' || data?.['text'] === seen.at(-1)) continue
    seen.push(data?.['text'] ?? '')
    if (seen.length === 1) await client.patch(event.object, { data: { text: 'spoilt' } }, { type: 'merge' })
    if (seen.length === 3) break
  }
  expect(seen).toEqual(['Hello, you!', 'spoilt', 'Hello, you!'])
  for await (const event of client.watch(
    { apiVersion: greeting.apiVersion, kind: 'Greeting' },
    { namespace: 'default' },
  )) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    const { status } = event.object as { status?: object }
    if (status === undefined) continue
    expect(status).toMatchObject({
      text: 'Hello, you!',
      observedGeneration: 1,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 1 },
        { type: 'ChildrenReady', status: 'True' },
      ],
    })
    break
  }
  await client.close()
}

async function stop(): Promise<unknown> {
  const exit = once(child as ChildProcess, 'exit')
  child?.kill('SIGTERM')
  const [code] = (await exit) as [unknown]
  return code
}

test('the hello world runs without a cluster, and leaves only its data folder behind', async () => {
  const kubeconfig = await start({}, /export KUBECONFIG=(\S+)/)
  await tryIt(kubeconfig)
  expect(await stop()).toBe(0)
  expect(kubeconfig).toBe(join(home, 'data', 'kubeconfig'))
  expect(readdirSync(join(home, 'data')).toSorted()).toEqual(['.gitignore', 'identity', 'kubeconfig', 'store'])
})

test('the hello world runs on a cluster over HTTPS, and releases its lease', async () => {
  const server = await startServer({ listen: {} })
  try {
    const { url, token, caPem } = server.address ?? { url: '', token: '', caPem: '' }
    const kubeconfig = join(home, 'cluster')
    await writeKubeconfig(kubeconfig, { server: url, token, ...(caPem !== undefined && { caPem }) })
    await start({ KUBECONFIG: kubeconfig }, /became leader/)
    await tryIt(kubeconfig)
    expect(await stop()).toBe(0)
    const client = await connect({ kubeconfig })
    const lease = (await client.get(
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      { name: 'greeting-controller', namespace: 'default' },
    )) as { spec?: { holderIdentity?: string } }
    expect(lease.spec?.holderIdentity).toBe('')
    await client.close()
  } finally {
    await server.stop({ graceMs: 100 })
  }
})
