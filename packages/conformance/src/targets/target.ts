/**
 * What a store must offer to be judged: how to open it, close it, crash it and move its time.
 *
 *   engine ──start──▶ running engine ──target──▶ one fresh store, for one case ──end──▶ gone
 *
 * Invariant: whatever a case leaves open, `end` closes; whatever an engine started, `stop` ends.
 */
import type { Store } from 'evenkeel/unstable/store'
import type { Case } from '../case.ts'

/**
 * - `alone`: nobody else uses up revisions; an empty store is at 1 and every commit adds 1.
 * - `time`: time stands still until it is moved.
 * - `reopen`, `crash`: what was acknowledged is there again.
 * - `large`: values up to the limit of the contract, which is 3 MiB.
 */
export type StoreNeed = 'alone' | 'time' | 'reopen' | 'crash' | 'large'

/** Longer than any case moves time: an engine that forgets by age does so behind the back of the model. */
export const lastingMs = 1e12

export type StoreCase = Case<StoreTarget, StoreNeed>

/** A place for one store, empty at first. */
export interface StoreTarget {
  /** The engine's name. */
  readonly name: string
  /** What it cannot do, with the reason. */
  readonly lacks: Readonly<Partial<Record<StoreNeed, string>>>
  /** The shortest time to live worth asking for. */
  readonly ttlMs: number
  open(): Promise<Store>
  /** Closes the store in good order and opens it again. */
  reopen(): Promise<Store>
  /** Cuts the power and opens what is left. */
  crash(): Promise<Store>
  /** Moves time; where it is real it passes by itself and this does nothing. */
  advance(byMs: number): Promise<void>
  /** Moves the wall clock only. */
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
  /** Why it cannot be judged on this machine; undefined when it can. */
  unavailable(): string | undefined
  start(): Promise<RunningEngine>
}

/** Runs something on a fresh target, and cleans up behind it. */
export async function onTarget<T>(running: RunningEngine, run: (target: StoreTarget) => Promise<T>): Promise<T> {
  const target = await running.target()
  try {
    return await run(target)
  } finally {
    await target.end()
  }
}

/** What a case needs and the engine lacks, as a reason to skip it; undefined when it can run. */
export function reasonToSkip({ needs = [] }: StoreCase, { lacks }: StoreEngine): string | undefined {
  return needs.map((need) => lacks[need]).find((reason) => reason !== undefined)
}
