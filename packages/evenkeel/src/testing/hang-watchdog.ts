/**
 * The watchdog for a blocked event loop: an endless loop, or a very long computation, in the program.
 *
 * Nothing in the blocked thread can end that, or even report it. So a second thread watches: when the world has not moved
 * for a while, it prints what was running and kills the process. There is one such thread per process, and it keeps no
 * process alive.
 */
import { url as debuggerUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'

/** A program that blocks the event loop for longer is killed. */
const limitMs = 30_000
const textMax = 1000

/** Shared by both threads: how many events have run, the limit in milliseconds (0: no schedule runs), the length of the text. */
const shared = new SharedArrayBuffer(16 + textMax)
const numbers = new Int32Array(shared, 0, 4)
const bytes = new Uint8Array(shared, 16)
const encoder = new TextEncoder()
let watcher: Worker | undefined
let lastEvent = ''
let lastReconcile = ''

const watchdogCode = `
const { workerData: { shared, pid } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const numbers = new Int32Array(shared, 0, 4)
const bytes = new Uint8Array(shared, 16)
let [seen, stillMs] = [-1, 0]
for (;;) {
  Atomics.wait(numbers, 3, 0, 250)
  const [moves, limitMs] = [Atomics.load(numbers, 0), Atomics.load(numbers, 1)]
  stillMs = limitMs === 0 || moves !== seen ? 0 : stillMs + 250
  seen = moves
  if (stillMs < limitMs || limitMs === 0) continue
  const text = Buffer.from(bytes.slice(0, Atomics.load(numbers, 2))).toString()
  writeSync(2, 'the program has blocked the event loop for ' + limitMs / 1000 + ' s.\\n' + text + '\\n  hint: look for an endless loop or a synchronous wait in this reconcile; the process is killed now\\n')
  process.kill(pid, 'SIGKILL')
}
`

/** Starts watching, except under a debugger, where a person pauses the program. @returns a function that ends it */
export function startHangWatchdog({ blockedMs = limitMs }: { blockedMs?: number | undefined } = {}): () => void {
  if (blockedMs === 0 || debuggerUrl() !== undefined) return () => undefined
  if (!watcher) {
    watcher = new Worker(watchdogCode, { eval: true, workerData: { shared, pid: process.pid } })
    watcher.unref()
  }
  const before = Atomics.exchange(numbers, 1, blockedMs)
  return () => {
    Atomics.store(numbers, 1, before)
  }
}

/** An event runs. */
export function noteEvent(actor: string, what: string): void {
  Atomics.add(numbers, 0, 1)
  lastEvent = `${actor}: ${what}`
  publishActivity()
}

/** A reconcile begins. */
export function noteReconcile(controller: string, key: string): void {
  lastReconcile = `${controller} ${key}`
  publishActivity()
}

/** Writes the current activity for the other thread. */
function publishActivity(): void {
  const { written } = encoder.encodeInto(`  last reconcile: ${lastReconcile}; last event: ${lastEvent}`, bytes)
  Atomics.store(numbers, 2, written)
}
