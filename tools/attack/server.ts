/**
 * The attacked server: a process with a small heap that listens on loopback and reports what it used. Its store is in the
 * folder of its argument, because only a store on disk commits in groups.
 *
 * It answers `reset` when it has compacted, collected garbage and started to count anew, and `measure` with everything
 * since then. A thread samples its memory every 20 ms, so that a peak is seen while the main thread is busy. It ends with
 * its parent.
 */
import { request } from 'node:https'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { startServer, type Server } from 'evenkeel/server'
import { keepHeapHeadroom, SystemClock } from 'evenkeel/unstable/base'
import { openFileStore } from 'evenkeel/unstable/store'
import { fixtures, hostileGroup, hostileTokens, tokens } from './fixtures.ts'
import type { AttackRequest } from './shape.ts'
import type { FromServer, ToServer } from './target.ts'

/** Slow bodies are cut after this and a second, so that a shape need not hold them for long. */
const bodyGraceMs = 2_000
/** The delay of the event loop is recorded by a timer: a stall is seen in the turn after it. */
const turnMs = 10

/** Plain JavaScript: a thread must not load the sources again. */
const sampler = `
const { workerData } = require('node:worker_threads')
const peak = new Float64Array(workerData)
setInterval(() => { peak[0] = Math.max(peak[0], process.memoryUsage.rss()) }, 20)
`
const shared = new SharedArrayBuffer(8)
const peak = new Float64Array(shared)
const thread = new Worker(sampler, { eval: true, workerData: shared, execArgv: [] })
const delay = monitorEventLoopDelay({ resolution: 1 })
let cpu = process.cpuUsage()
let maxRss = 0

// As `evenkeel serve`.
keepHeapHeadroom(new SystemClock())
const store = await openFileStore(process.argv[2] ?? '')
const server = await startServer({
  store,
  ...(process.argv[3] === 'besieged'
    ? { listen: {} }
    : { listen: { limits: { bodyGraceMs } }, compactionMs: 3_600_000 }),
  authentication: {
    tokens: Object.fromEntries([
      ...Object.entries(tokens).map(([name, token]) => [token, { name, groups: [] }] as const),
      ...hostileTokens.map((token) => [token, { name: token, groups: [hostileGroup] }] as const),
    ]),
  },
})
for (const fixture of fixtures) await prepare(server, fixture)
const { port = 0, caPem = '', token = '' } = server.address ?? {}
delay.enable()
process.on('message', (message: ToServer) => {
  void answer(message)
})
process.on('disconnect', () => {
  process.exit(1)
})
tell({ kind: 'ready', port, caPem, token })

function tell(message: FromServer): void {
  process.send?.(message)
}

async function answer(message: ToServer): Promise<void> {
  if (message === 'stop') return stop()
  await turn()
  if (message === 'reset') await reset()
  else tell(usage())
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, turnMs))
}

async function reset(): Promise<void> {
  await startThread()
  await server.compact()
  globalThis.gc?.()
  await turn()
  const rss = process.memoryUsage.rss()
  peak[0] = rss
  maxRss = process.resourceUsage().maxRSS
  delay.reset()
  cpu = process.cpuUsage()
  tell({ kind: 'reset', rss })
}

/** A thread for large writes starts with the first of them: no shape shall pay for that. */
function startThread(): Promise<void> {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'large' },
    data: { text: 'x'.repeat(100_000) },
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        ca: caPem,
        agent: false,
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps?dryRun=All',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        response.resume()
        response.on('end', resolve)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(object))
  })
}

/** The largest memory of the process counts when it is new: then no sample can have missed it. */
function usage(): FromServer {
  const { user, system } = process.cpuUsage(cpu)
  const largest = process.resourceUsage().maxRSS
  return {
    kind: 'usage',
    cpuMs: (user + system) / 1000,
    rss: process.memoryUsage.rss(),
    heapUsed: process.memoryUsage().heapUsed,
    heapTotal: process.memoryUsage().heapTotal,
    external: process.memoryUsage().external,
    peakRss: Math.max(peak[0] ?? 0, largest > maxRss ? largest * 1024 : 0),
    stallMs: Math.max(0, delay.max / 1e6 - 1),
  }
}

async function stop(): Promise<void> {
  await server.stop({ graceMs: 0 })
  await store.close()
  await thread.terminate()
  process.disconnect()
  process.exit(0)
}

async function prepare({ transport }: Server, { method, path, body = '' }: AttackRequest): Promise<void> {
  const response = await transport({
    method,
    target: path,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(body),
    signal: new AbortController().signal,
  })
  if (response.status < 300) return
  throw new Error(`${method} ${path}: ${response.status} ${String(response.body).slice(0, 500)}`)
}
