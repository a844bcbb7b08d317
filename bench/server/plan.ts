/**
 * The amounts of the real run and of a smoke run, whose figures are meaningless. Case names contain the actual amounts.
 */
import type { Bounds } from './load/jobs.ts'

export interface Plan {
  readonly connections: readonly number[]
  readonly requests: Bounds
  /** Sizes of the listed collections, the smaller first. */
  readonly lists: readonly number[]
  readonly list: Bounds
  /** The peer gets larger collections only on request: creating them takes minutes. */
  readonly peerListMax: number
  readonly watchers: readonly number[]
  readonly watchWriters: number
  /** The duration of writes, and the maximum number of events for all watchers. */
  readonly watch: { readonly durationMs: number; readonly eventsMax: number; readonly writesMax: number }
  /** The idle time before memory is measured. */
  readonly settleMs: number
}

const real: Plan = {
  connections: [1, 16, 64],
  requests: { durationMs: 2000, countMax: 20_000, warmMs: 300 },
  lists: [10_000, 100_000],
  list: { durationMs: 3000, countMax: 30 },
  peerListMax: 10_000,
  watchers: [100, 1000],
  watchWriters: 64,
  watch: { durationMs: 3000, eventsMax: 2_000_000, writesMax: 10_000 },
  settleMs: 3000,
}

const quick: Plan = {
  connections: [1, 4],
  requests: { durationMs: 100, countMax: 200, warmMs: 20 },
  lists: [50, 200],
  list: { durationMs: 50, countMax: 3 },
  peerListMax: 50,
  watchers: [5],
  watchWriters: 4,
  watch: { durationMs: 100, eventsMax: 500, writesMax: 100 },
  settleMs: 50,
}

export function planFor({ quick: isQuick, peer100k }: { quick: boolean; peer100k: boolean }): Plan {
  const plan = isQuick ? quick : real
  return peer100k ? { ...plan, peerListMax: Math.max(...plan.lists) } : plan
}

/** `10k` for 10,000. */
export function countName(count: number): string {
  return count >= 1000 && count % 1000 === 0 ? `${count / 1000}k` : String(count)
}
