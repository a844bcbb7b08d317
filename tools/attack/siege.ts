/**
 * A siege: many hostile clients at once, for minutes, with polite clients beside them.
 *
 * Three processes, so that only the work of the server is measured: the server with its small heap, the polite clients,
 * and the hostile ones, which have a low priority on this machine, as if they were elsewhere. Each hostile client
 * sends one shape of the catalogue after the other, by its own seed, as its own user. A quota bounds what they may store.
 *
 * The polite clients work undisturbed first. Then the same during the siege: their 99th percentile, the memory of the
 * server, and every write that they were promised are judged.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sourceArguments } from '../run.mjs'
import { buildServer } from './built-server.ts'
import { scratchCollections } from './fixtures.ts'
import type { AttackAddress } from './shape.ts'
import type { PoliteReport } from './siege-polite.ts'
import { Target } from './target.ts'

export interface SiegeOptions {
  readonly minutes: number
  readonly clients: number
  readonly seed: string
  readonly onProgress?: (text: string) => void
}

export interface SiegeReport {
  readonly minutes: number
  readonly clients: number
  readonly attacks: number
  readonly undisturbed: PoliteReport
  readonly besieged: PoliteReport
  readonly p99Ratio: number
  readonly peakMb: number
  readonly longestStallMs: number
  readonly lostWrites: number
  readonly failures: readonly string[]
}

/** What is promised. */
export const siegeBounds = { p99Ratio: 5, peakMb: 450 } as const

const tidyMs = 2_000

export async function siege({ minutes, clients, seed, onProgress }: SiegeOptions): Promise<SiegeReport> {
  const target = await Target.start({ program: await buildServer(), isBesieged: true })
  const polite = new Helper('siege-polite.ts', target.address)
  const hostile = new Helper('siege-hostile.ts', target.address)
  const over = new AbortController()
  try {
    const siegeMs = minutes * 60_000
    const undisturbed = await target.during(polite.ask<PoliteReport>({ forMs: Math.min(60_000, siegeMs / 2) }))
    await target.reset()
    const attacking = hostile.ask<{ attacks: number }>({ forMs: siegeMs, clients, seed })
    const tidying = tidy(target, over.signal)
    const reporting = report(target, { signal: over.signal, onProgress })
    const besieged = await target.during(polite.ask<PoliteReport>({ forMs: siegeMs }))
    const { attacks } = await target.during(attacking)
    over.abort()
    const peak = await reporting
    await tidying
    const { lost } = await target.during(polite.ask<{ lost: number }>('verify'))
    return judged({ minutes, clients, attacks, undisturbed, besieged, lostWrites: lost, ...peak })
  } finally {
    over.abort()
    polite.stop()
    hostile.stop()
    await target.stop()
  }
}

function judged(measured: Omit<SiegeReport, 'p99Ratio' | 'failures'>): SiegeReport {
  const { undisturbed, besieged, peakMb, lostWrites } = measured
  const p99Ratio = besieged.p99Ms / undisturbed.p99Ms
  const failures = [
    ...(p99Ratio > siegeBounds.p99Ratio ? [`p99 is ${p99Ratio.toFixed(1)} times the undisturbed one`] : []),
    ...(peakMb > siegeBounds.peakMb ? [`${Math.round(peakMb)} MB of memory`] : []),
    ...(measured.attacks === 0 ? ['no attack was answered'] : []),
    ...(lostWrites > 0 ? [`${lostWrites} acknowledged writes are lost`] : []),
    ...(besieged.errors > 0 ? [`${besieged.errors} requests of polite clients failed: ${besieged.firstError}`] : []),
  ]
  return { ...measured, p99Ratio, failures }
}

/** The report for a terminal. */
export function describeSiege(report: SiegeReport): string {
  const { minutes, clients, attacks, undisturbed, besieged, p99Ratio, peakMb, longestStallMs, lostWrites } = report
  const line = (name: string, { requests, p50Ms, p99Ms, slowestMs, retries, errors }: PoliteReport): string =>
    `  ${name.padEnd(12)} ${requests} requests, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, slowest ${slowestMs.toFixed(0)} ms, ${retries} retries, ${errors} errors`
  return [
    `${clients} hostile clients for ${minutes} minutes: ${attacks} attacks`,
    'polite clients',
    line('undisturbed', undisturbed),
    line('besieged', besieged),
    `  p99 ${p99Ratio.toFixed(1)} times the undisturbed one (bound ${siegeBounds.p99Ratio}), ${lostWrites} acknowledged writes lost`,
    `server: ${Math.round(peakMb)} MB at its peak (bound ${siegeBounds.peakMb}), longest stall ${Math.round(longestStallMs)} ms`,
    ...(report.failures.length === 0 ? ['all within the bounds'] : report.failures.map((failure) => `FAIL ${failure}`)),
    '',
  ].join('\n')
}

/** Deletes what the hostile clients stored, as the owner of a cluster would. */
async function tidy(target: Target, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const path of scratchCollections)
      await target.send({ method: 'DELETE', path, user: 'admin' }, AbortSignal.timeout(30_000)).catch(() => undefined)
    await sleep(tidyMs, undefined, { signal }).catch(() => undefined)
  }
}

async function report(
  target: Target,
  { signal, onProgress }: { signal: AbortSignal; onProgress: SiegeOptions['onProgress'] },
): Promise<{ peakMb: number; longestStallMs: number }> {
  const startMs = performance.now()
  for (;;) {
    const { rss, heapUsed, heapTotal, external, peakRss, stallMs } = await target.measure()
    const numbers = `rss ${mb(rss)} MB, heap ${mb(heapUsed)} of ${mb(heapTotal)} MB, buffers ${mb(external)} MB, peak ${mb(peakRss)} MB, stall ${Math.round(stallMs)} ms`
    onProgress?.(`${Math.round((performance.now() - startMs) / 1000)} s: ${numbers}`)
    if (signal.aborted) return { peakMb: peakRss / 1e6, longestStallMs: stallMs }
    await sleep(1_000, undefined, { signal }).catch(() => undefined)
  }
}

function mb(bytes: number): number {
  return Math.round(bytes / 1e6)
}

/** A process of clients: takes one order at a time and answers when it is done. */
class Helper {
  readonly #child: ChildProcess

  constructor(name: string, address: AttackAddress) {
    const file = fileURLToPath(new URL(name, import.meta.url))
    this.#child = fork(file, [JSON.stringify(address)], {
      execArgv: sourceArguments(file).slice(0, -1),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }

  async ask<T>(order: unknown): Promise<T> {
    this.#child.send(order as object)
    const gone = once(this.#child, 'exit').then(() => {
      throw new Error('a process of clients ended')
    })
    gone.catch(() => undefined)
    const [answer] = (await Promise.race([once(this.#child, 'message'), gone])) as [T]
    return answer
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
