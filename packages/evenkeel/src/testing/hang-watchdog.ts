/**
 * Notices a program that never lets go: an endless loop, or a computation that takes far too long, in one turn of the machine.
 *
 * Nothing in this thread can stop that, or even say it. So another thread watches: when the world has not moved for a
 * while it says what was going on, and ends the process. It is one thread for the whole process, and keeps nobody alive.
 */
import { url as debuggerUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'

/** After how long somebody who never lets go is given up. */
const limitMs = 30_000
const textMax = 1000

/** Numbers that both threads see: how often the world has moved, after how long to give up (0: nobody runs), how long the text is. */
const shared = new SharedArrayBuffer(16 + textMax)
const numbers = new Int32Array(shared, 0, 4)
const bytes = new Uint8Array(shared, 16)
const encoder = new TextEncoder()
let watcher: Worker | undefined
let lastAction = ''
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
  writeSync(2, 'the program never lets go: for ' + limitMs / 1000 + ' s it has computed without a pause.\\n' + text + '\\n  hint: an endless loop, or a promise-free wait, in a reconcile holds up everything in its process; this one is ended now\\n')
  process.kill(pid, 'SIGKILL')
}
`

/** Watches until told otherwise; not under a debugger, where it is a person who holds things up. @returns what ends it */
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

/** The world moves: what it does now. */
export function noteAction(actor: string, what: string): void {
  Atomics.add(numbers, 0, 1)
  lastAction = `${actor}: ${what}`
  publishActivity()
}

/** A reconcile begins. */
export function noteReconcile(controller: string, key: string): void {
  lastReconcile = `${controller} ${key}`
  publishActivity()
}

/** What is going on, for the other thread. */
function publishActivity(): void {
  const { written } = encoder.encodeInto(
    `  it began to reconcile ${lastReconcile}; the last thing that happened was ${lastAction}`,
    bytes,
  )
  Atomics.store(numbers, 2, written)
}
