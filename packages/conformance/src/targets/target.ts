/**
 * What the suite needs from a store: open, close, crash, and move its time.
 *
 *   engine ──start──▶ running engine ──target──▶ one fresh store, for one case ──end──▶ gone
 *
 * Invariant: `end` closes everything that a case leaves open; `stop` ends everything that an engine started.
 */
import type { Store } from 'evenkeel/unstable/store'
import type { Case } from '../case.ts'

/**
 * - `alone`: no other client uses up revisions; an empty store is at 1 and every commit adds 1.
 * - `time`: time stands still until it is moved.
 * - `reopen`, `crash`: acknowledged commits are available again.
 * - `large`: values up to the limit of the contract, which is 3 MiB.
 */
export type StoreNeed = 'alone' | 'time' | 'reopen' | 'crash' | 'large'

/** Longer than any case moves time: an engine that compacts by age would surprise the model. */
export const lastingMs = 1e12

export type StoreCase = Case<StoreTarget, StoreNeed>

/** One store, initially empty. */
export interface StoreTarget {
  /** The engine's name. */
  readonly name: string
  /** What it cannot do, with the reason. */
  readonly lacks: Readonly<Partial<Record<StoreNeed, string>>>
  /** The shortest supported time to live. */
  readonly ttlMs: number
  open(): Promise<Store>
  /** Closes the store cleanly and opens it again. */
  reopen(): Promise<Store>
  /** Cuts the power and opens the remaining data. */
  crash(): Promise<Store>
  /** Moves time; with real time this does nothing. */
  advance(byMs: number): Promise<void>
  /** Moves only the wall clock. */
  jumpWall(byMs: number): void
  end(): Promise<void>
}

export interface RunningEngine {
  target(): Promise<StoreTarget>
  stop(): Promise<void>
}

export interface StoreEngine {
  readonly name: string
  readonly lacks: Readonly<Partial<Record<StoreNeed, string>>>
  /** Why it cannot be tested on this machine; undefined when it can. */
  unavailable(): string | undefined
  start(): Promise<RunningEngine>
}

/** Runs a function on a fresh target and cleans up afterwards. */
export async function onTarget<T>(running: RunningEngine, run: (target: StoreTarget) => Promise<T>): Promise<T> {
  const target = await running.target()
  try {
    return await run(target)
  } finally {
    await target.end()
  }
}

/** Why a case is skipped: a capability that the engine lacks; undefined when it can run. */
export function reasonToSkip({ needs = [] }: StoreCase, { lacks }: StoreEngine): string | undefined {
  return needs.map((need) => lacks[need]).find((reason) => reason !== undefined)
}
