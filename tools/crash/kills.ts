/**
 * Real kills: a process under full load is killed at a random moment, the folder is opened again,
 * and every key is compared with the acknowledged writes.
 *
 * A kill alone proves nothing about power cuts, because the kernel still has the written data:
 * `cuts` tests those. A kill proves that the real files, the real lock and the real
 * start work together.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { randomInt, SeededRandom, sleep, SystemClock } from 'evenkeel/unstable/base'
import type { Random } from 'evenkeel/unstable/base'
import { openFileStore } from 'evenkeel/unstable/store'
import { sourceArguments } from '../run.mjs'
import { keyOf, valueOf, writers } from './workload.ts'

export interface KillResult {
  kills: number
  acked: number
  lost: number
  garbage: number
  /** Stored steps without an acknowledgement. */
  unacked: number
  /** The longest time from the start of opening to the first read, over all kills. */
  recoveryMs: number
}

interface Writer {
  acked: number
}

const clock = new SystemClock()
const victim = fileURLToPath(new URL('./victim.ts', import.meta.url))

export async function runKills(
  wanted: number,
  { ackEarly, seed, onProgress }: { ackEarly: boolean; seed: string; onProgress: (kills: number) => void },
): Promise<KillResult> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'evenkeel-kill-'))
  const random = new SeededRandom(seed)
  const state = Array.from({ length: writers }, (): Writer => ({ acked: 0 }))
  const result: KillResult = { kills: 0, acked: 0, lost: 0, garbage: 0, unacked: 0, recoveryMs: 0 }
  let revision = 0
  try {
    while (result.kills < wanted) {
      const highest = await killOnce(folder, { state, random, ackEarly, result })
      revision = await inspect(folder, { state, result, revision: Math.max(revision, highest) })
      result.kills++
      onProgress(result.kills)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return result
}

/** Runs a victim for a moment and kills it; returns the highest acknowledged revision. */
async function killOnce(
  folder: string,
  { state, random, ackEarly, result }: { state: Writer[]; random: Random; ackEarly: boolean; result: KillResult },
): Promise<number> {
  const steps = state.map(({ acked }) => acked).join(',')
  const child = spawn(
    process.execPath,
    [...sourceArguments(victim), path.join(folder, 'data'), steps, ...(ackEarly ? ['--ack-early'] : [])],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve()
    })
  })
  let highest = 0
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const [first, second, third] = line.split(' ')
    if (first === 'ready') {
      void sleep(clock, randomInt(random, 60)).then(() => child.kill('SIGKILL'))
      return
    }
    const writer = state[Number(first)]
    if (!writer || third === undefined) return
    writer.acked = Number(second)
    highest = Math.max(highest, Number(third))
    result.acked++
  })
  await ended
  return highest
}

/** Opens the folder and compares every key with its last acknowledged step, or the one after it. */
async function inspect(
  folder: string,
  { state, result, revision }: { state: Writer[]; result: KillResult; revision: number },
): Promise<number> {
  const started = performance.now()
  const store = await openFileStore(path.join(folder, 'data'))
  const head = await store.head()
  result.recoveryMs = Math.max(result.recoveryMs, performance.now() - started)
  if (head < revision) result.lost++
  for (const [number, writer] of state.entries()) {
    const found = await store.get(keyOf(number))
    const value = found.ok ? found.entry?.value : undefined
    const step = stepOf(number, { value, acked: writer.acked })
    if (step === undefined) result.garbage++
    else if (step < writer.acked) result.lost++
    else if (step > writer.acked) result.unacked++
    writer.acked = Math.max(step ?? 0, writer.acked)
  }
  await store.close()
  return head
}

/** The step of this value: the next one, the acknowledged one or an older one; undefined for an unknown value. */
function stepOf(
  writer: number,
  { value, acked }: { value: Uint8Array | undefined; acked: number },
): number | undefined {
  for (let step = acked + 1; step > Math.max(acked - 2_000, 0); step--) {
    const expected = valueOf(writer, step)
    if (value ? expected?.equals(value) : !expected) return step
  }
  return value === undefined && acked === 0 ? 0 : undefined
}
