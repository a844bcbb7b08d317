/**
 * The shop of the examples: from the command to all of it ready, and from SIGTERM to all of it gone. The peer is the same
 * chain of programs, started by hand one after the other as soon as the one before answers: what the programs take for
 * themselves. What is above it is ours.
 *
 *   ours   evenkeel run app.ts ──▶ db ready ──▶ migrate ends ──▶ api ready ──▶ web ready, worker runs
 *   bare                    spawn db ──▶ 200 ──▶ migrate ends ──▶ api 200 ──▶ web 200
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median, type BenchOptions } from '../print.ts'

const [sources = '', modules = '', command = ''] = [
  '../../examples/shop',
  '../../node_modules',
  '../../packages/evenkeel/bin/evenkeel.mjs',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
const programs = ['Process/db', 'Task/migrate', 'Process/api', 'Process/web', 'Process/worker']
const pollMs = 3

interface Times {
  readonly readyMs: number
  readonly goneMs: number
}

export async function measureShop({ rounds, only, print }: BenchOptions): Promise<void> {
  const cases = ['shop ready', 'shop gone'].filter((name) => name.includes(only))
  if (cases.length === 0) return
  const [ours, bare]: [Times[], Times[]] = [[], []]
  // The first round fills the compile cache: the goal is a warm start.
  for (let round = 0; round <= rounds; round++) {
    const pair = [await inFolder(runOurs), await inFolder(runBare)] as const
    if (round === 0) continue
    ours.push(pair[0])
    bare.push(pair[1])
  }
  for (const name of cases) {
    const of = (times: readonly Times[]) =>
      median(times.map(({ readyMs, goneMs }) => (name === 'shop ready' ? readyMs : goneMs)))
    print({
      case: name,
      ours: of(ours),
      peer: of(bare),
      peerName: 'the programs alone',
      unit: 'ms',
      lessIsBetter: true,
      more: { 'above the programs': Math.round(of(ours) - of(bare)), goal: 1_000 },
    })
  }
}

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evenkeel-bench-')))
  try {
    cpSync(sources, folder, { recursive: true, filter: (path) => basename(path) !== 'data' })
    symlinkSync(modules, join(folder, 'node_modules'))
    // In the repository the package.json above it says so.
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface WorkloadEvent {
  readonly event: string
  readonly kind?: string
  readonly name?: string
  readonly isSettled?: boolean
}

async function runOurs(folder: string): Promise<Times> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [command, 'run', 'app.ts', '--json', '--memory', '--port', '0'], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await allSettled(child.stdout)
  return { readyMs: performance.now() - startedMs, goneMs: await end([child]) }
}

/** Resolves when every program is ready or has completed; goes on reading, so that nothing waits for this reader. */
function allSettled(output: Readable): Promise<void> {
  const missing = new Set(programs)
  let rest = ''
  return new Promise((resolve, reject) => {
    output.on('data', (piece: Buffer) => {
      const lines = `${rest}${piece.toString()}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { event, kind, name, isSettled } = JSON.parse(line) as WorkloadEvent
        if (event === 'workload' && isSettled === true) missing.delete(`${kind}/${name}`)
      }
      if (missing.size === 0) resolve()
    })
    output.on('close', () => {
      reject(new Error(`the shop ended before these were ready: ${[...missing].join(', ')}`))
    })
  })
}

async function runBare(folder: string): Promise<Times> {
  const startedMs = performance.now()
  const start = (words: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn(process.execPath, words, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore' })
  const served = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const port = await freePort()
    const child = start(words, { ...env, PORT: `${port}` })
    const url = `http://127.0.0.1:${port}`
    while (!(await answers(`${url}/healthz`))) await sleep(pollMs)
    return { child, url }
  }
  const database = await served(['programs/database.mjs', 'data/shop.json'])
  const env = { DATABASE_URL: database.url }
  await once(start(['programs/migrate.mjs'], env), 'exit')
  const worker = start(['programs/worker.mjs'], env)
  const api = await served(['programs/api.mjs'], env)
  const web = await served(['programs/web.mjs'], { API_URL: api.url })
  const readyMs = performance.now() - startedMs
  return { readyMs, goneMs: await end([web.child, worker, api.child, database.child]) }
}

/** Milliseconds from SIGTERM until the last of them has ended. */
async function end(children: readonly ChildProcess[]): Promise<number> {
  const startedMs = performance.now()
  await Promise.all(
    children.map(async (child) => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }),
  )
  return performance.now() - startedMs
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { headers: { connection: 'close' } })).ok
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
