/**
 * The upper bound on this machine: a bare TLS server that writes prepared bytes, and a client that only counts them.
 *
 * Both are Node, one process each, as in the other cases, and neither is tuned: about as much as a server of this kind
 * can deliver, whatever it does inside. A goal far beyond these figures is out of reach on this machine.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { median } from '../../print.ts'
import { countName } from '../plan.ts'
import type { Stage } from './stage.ts'

const step = fileURLToPath(new URL('./limits-step.mjs', import.meta.url))
/** The size of a bench object in an event or a list, with the fields that servers add. */
const eventBytes = 1450
const peerName = 'the limit: a server that only writes'

interface Bare {
  readonly port: number
  readonly caPem: string
  readonly listBytes: number
}

export async function limitBench({ plan, rounds, print, wants }: Stage): Promise<void> {
  const watches = plan.watchers
    .map((watchers) => ({ watchers, name: `limit watch ${watchers} watchers` }))
    .filter(({ name }) => wants(name))
  const lists = plan.lists
    .map((count) => ({ count, name: `limit list ${countName(count)}` }))
    .filter(({ name }) => wants(name))
  for (const { count, name } of lists) {
    const ms = await withBare(count * eventBytes, (bare) => repeat(rounds, () => timeList(bare)))
    print({ case: name, ours: median(ms), peer: undefined, peerName, unit: 'ms', lessIsBetter: true })
  }
  for (const { watchers, name } of watches) {
    const perSecond = await withBare(eventBytes, (bare) =>
      repeat(rounds, () => countEvents(bare, { watchers, durationMs: plan.watch.durationMs })),
    )
    print({ case: name, ours: median(perSecond), peer: undefined, peerName, unit: 'events/s' })
  }
}

async function repeat(rounds: number, measure: () => Promise<number>): Promise<number[]> {
  const results: number[] = []
  for (let round = 0; round < rounds; round++) results.push(await measure())
  return results
}

async function withBare<T>(listBytes: number, use: (bare: Bare) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [step, String(eventBytes), String(listBytes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    return await use(await readyLine(child))
  } finally {
    child.stdin.end()
    await exited
  }
}

async function readyLine({ stdout }: ChildProcess): Promise<Bare> {
  if (stdout) for await (const line of createInterface({ input: stdout })) return JSON.parse(line) as Bare
  throw new Error('the bare server did not start: is the package built (npm run build)?')
}

async function open({ port, caPem }: Bare): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: caPem })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  return socket
}

/** The best of several sequential lists on a warm connection. */
async function timeList(bare: Bare): Promise<number> {
  const socket = await open(bare)
  const times: number[] = []
  for (let index = 0; index < 10; index++) {
    const startedAt = performance.now()
    socket.write('l')
    await received(socket, bare.listBytes)
    times.push(performance.now() - startedAt)
  }
  socket.destroy()
  return median(times)
}

function received(socket: TLSSocket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes
    const count = (chunk: Buffer): void => {
      left -= chunk.length
      if (left > 0) return
      socket.off('data', count)
      resolve()
    }
    socket.on('data', count)
  })
}

async function countEvents(
  bare: Bare,
  { watchers, durationMs }: { watchers: number; durationMs: number },
): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: watchers }, () => open(bare)))
  let bytes = 0
  for (const socket of sockets)
    socket
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      .write('w')
  await pause(durationMs / 10)
  const [startedAt, before] = [performance.now(), bytes]
  await pause(durationMs)
  const perSecond = ((bytes - before) / eventBytes / (performance.now() - startedAt)) * 1000
  for (const socket of sockets) socket.destroy()
  return perSecond
}
