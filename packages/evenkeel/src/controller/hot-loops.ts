/**
 * Finds reconciles that keep causing themselves, and slows them down.
 *
 *   run ──writes──▶ its own object, or one that makes another run ──writes──▶ … ──▶ the same key again
 *
 * One round is normal: a status that was written is observed once more. Many rounds without an external cause are a bug: a
 * timestamp in the status, two controllers that want different values. From `roundsMax` rounds on, the fields that keep
 * changing are named in the log, and each further round waits twice as long. An external cause ends that at once.
 * Worked example with the defaults, a status with a timestamp:
 *
 *   round   1 … 9     10       11       12       13
 *   wait    none      100 ms   200 ms   400 ms   800 ms … 60 s
 *
 * Invariants: what is kept is bounded; fields are compared only for keys that are suspected.
 */
import { exponentialMs } from '#base'
import type { Ledger } from './ledger.ts'
import type { Cause, LedgerEntry, RunCause } from './run-record.ts'

export interface HotLoopOptions {
  readonly ledger: Ledger
  /** Rounds before it counts as a hot loop. @default 10 */
  readonly roundsMax?: number | undefined
  /** The wait of the first round that is slowed down. @default 100 */
  readonly baseMs?: number | undefined
  /** The longest wait. @default 60_000 */
  readonly maxMs?: number | undefined
}

/** A key that keeps causing itself. */
interface HotLoop {
  readonly rounds: number
  /** Fields that changed in more than one round. */
  readonly fields: readonly string[]
  /** How long this round has to wait. */
  readonly delayMs: number
}

const ancestorsMax = 64
const suspectsMax = 1000
const roundsKept = 8

export class HotLoops {
  readonly #ledger: Ledger
  readonly #roundsMax: number
  readonly #baseMs: number
  readonly #maxMs: number
  /** By key: which fields changed, in the last few rounds. */
  readonly #suspects = new Map<string, (readonly string[])[]>()

  constructor({ ledger, roundsMax = 10, baseMs = 100, maxMs = 60_000 }: HotLoopOptions) {
    if (!(Number.isInteger(roundsMax) && roundsMax >= 2))
      throw new RangeError(`roundsMax must be a whole number of 2 or more, got ${roundsMax}`)
    if (!(baseMs > 0 && maxMs >= baseMs && maxMs < Infinity))
      throw new RangeError(`baseMs must be above 0 and maxMs at least that, got ${baseMs} and ${maxMs}`)
    this.#ledger = ledger
    this.#roundsMax = roundsMax
    this.#baseMs = baseMs
    this.#maxMs = maxMs
  }

  /** How often this key has caused itself in a row; 0 when there was an external cause. */
  roundsOf({ controller, key, causes }: Pick<LedgerEntry, 'controller' | 'key' | 'causes'>): number {
    if (causes.length === 0 || !causes.every(isOurs)) return 0
    const seen = new Set<string>()
    const pending = causes.map(writerOf)
    for (let id = pending.shift(); id !== undefined && seen.size < ancestorsMax; id = pending.shift()) {
      if (seen.has(id)) continue
      seen.add(id)
      const run = this.#ledger.find(id)
      if (run?.controller === controller && run.key === key) return run.rounds + 1
      if (run?.causes.every(isOurs)) pending.push(...run.causes.map(writerOf))
    }
    return 0
  }

  /** Mostly false, and cheap to read. */
  get suspectsAny(): boolean {
    return this.#suspects.size > 0
  }

  /** Whether the changed fields of this key are needed. */
  suspects(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** The hot loop that a run would continue; undefined: let it run. */
  detect(key: string, rounds: number, causes: readonly Cause[]): HotLoop | undefined {
    if (rounds === 0) this.#suspects.delete(key)
    if (rounds < this.#roundsMax - roundsKept / 2) return undefined
    const changes = this.#note(key, causes)
    if (rounds < this.#roundsMax) return undefined
    return {
      rounds,
      fields: repeated(changes),
      delayMs: exponentialMs(rounds - this.#roundsMax, { baseMs: this.#baseMs, maxMs: this.#maxMs }),
    }
  }

  #note(key: string, causes: readonly Cause[]): readonly (readonly string[])[] {
    const before = this.#suspects.get(key) ?? []
    const changed = [...new Set(causes.flatMap((cause) => cause.changed ?? []))]
    const changes = [...before, changed].slice(-roundsKept)
    this.#suspects.delete(key)
    this.#suspects.set(key, changes)
    if (this.#suspects.size > suspectsMax)
      for (const oldest of [...this.#suspects.keys()].slice(0, 1)) this.#suspects.delete(oldest)
    return changes
  }
}

function isOurs({ writer }: RunCause): boolean {
  return writer !== undefined
}

function writerOf({ writer }: RunCause): string {
  return writer?.reconcileId ?? ''
}

function repeated(changes: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>()
  for (const fields of changes) for (const field of fields) counts.set(field, (counts.get(field) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([field]) => field)
}
