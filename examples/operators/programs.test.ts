/**
 * Runs each program as a user does, in its own process and without a cluster, and checks its effects.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findCondition } from 'evenkeel'
import { connect } from 'evenkeel/client'
import { ConfigMap } from 'evenkeel/kinds/core/v1'

const runner = fileURLToPath(new URL('../../tools/run.mjs', import.meta.url))

let home = ''
let child: ChildProcess | undefined
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'evenkeel-operators-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

/** Starts a program with its own home directory; returns the kubeconfig it prints. */
async function start(file: string): Promise<string> {
  const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: _host, ...rest } = process.env
  child = spawn(process.execPath, [runner, fileURLToPath(new URL(file, import.meta.url))], {
    cwd: home,
    env: { ...rest, HOME: home, USERPROFILE: home, TMPDIR: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  return await new Promise((resolve, reject) => {
    const append = (piece: Buffer): void => {
      text += piece.toString()
      const found = /export KUBECONFIG=(\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    child?.stdout?.on('data', append)
    child?.stderr?.on('data', append)
    child?.on('exit', (code) => {
      reject(new Error(`the program ended with ${code}: ${text}`))
    })
  })
}

/** Creates an object and waits for a condition. */
async function tryIt(
  kubeconfig: string,
  kind: string,
  { spec, condition = 'Ready' }: { spec: object; condition?: string },
): Promise<void> {
  const client = await connect({ kubeconfig })
  await client.create(ConfigMap, { metadata: { name: 'shop' }, data: { price: '5' } })
  const object = { apiVersion: 'demo.example.com/v1', kind, metadata: { name: 'first', namespace: 'default' }, spec }
  await client.create(object)
  for await (const event of client.watch({ apiVersion: object.apiVersion, kind }, { namespace: 'default' })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    const { status } = event.object as { status?: { conditions?: Parameters<typeof findCondition>[0] } }
    if (findCondition(status?.conditions, condition)?.status === 'True') break
  }
  await client.close()
}

async function stop(): Promise<unknown> {
  const exit = once(child as ChildProcess, 'exit')
  child?.kill('SIGTERM')
  return ((await exit) as [unknown])[0]
}

const programs = [
  ['minimal', 'Note', { spec: { text: 'two words' } }],
  ['time-driven', 'Password', { spec: { everySeconds: 60 } }],
  ['one-shot', 'Migration', { spec: { database: 'shop' }, condition: 'Complete' }],
  ['leader-elected', 'Ticket', { spec: { who: 'me' } }],
] as const

for (const [name, kind, tried] of programs) {
  test(`${name} runs by itself, and ends on a signal`, async () => {
    await tryIt(await start(`./${name}.ts`), kind, tried)
    expect(await stop()).toBe(0)
  })
}

test('hybrid runs by itself, and ends on a signal', async () => {
  const page = createServer((_, response) => {
    response.end('hello')
  }).listen(0, '127.0.0.1')
  await once(page, 'listening')
  try {
    await tryIt(await start('./hybrid.ts'), 'Mirror', {
      spec: { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}` },
    })
    expect(await stop()).toBe(0)
  } finally {
    page.close()
    page.closeAllConnections()
  }
})
