/**
 * Holds a key back after a conflict until the cache has seen what it conflicted with.
 *
 * Running again at once would read the same old state and conflict again. The event that brings the new state adds the
 * key by itself, so the wait ends with it; if it does not come in time, the server is asked.
 */
import type { Clock } from '#base'
import type { TypeMeta } from '#api'
import type { CacheKey, ObjectCache } from '#cache'
import type { Client } from '#client'
import { peek } from '../context/peek.ts'

/** An object that changed under us: the cache had this version of it when we wrote. */
interface Expectation extends TypeMeta {
  readonly key: CacheKey
  readonly version: string
}

interface PendingConflict extends Expectation {
  readonly sinceMs: number
  checks: number
}

interface ConflictGateOptions {
  readonly cache: ObjectCache
  readonly client: Client
  readonly clock: Clock
  /** How long the cache is waited for. @default 5000 */
  readonly patienceMs?: number
}

const firstWaitMs = 10
const longestWaitMs = 1000

export class ConflictGate {
  readonly #cache: ObjectCache
  readonly #client: Client
  readonly #clock: Clock
  readonly #patienceMs: number
  readonly #pending = new Map<string, PendingConflict>()

  constructor({ cache, client, clock, patienceMs = 5000 }: ConflictGateOptions) {
    this.#cache = cache
    this.#client = client
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  close(key: string, expectation: Expectation): void {
    this.#pending.set(key, { ...expectation, sinceMs: this.#clock.monotonic(), checks: 0 })
  }

  /** How long to wait before the key is worth running; 0: now. */
  async waitMs(key: string, { signal }: { signal: AbortSignal }): Promise<number> {
    const held = this.#pending.get(key)
    if (!held) return 0
    const waitedMs = this.#clock.monotonic() - held.sinceMs
    const isPassed = this.#versionOf(held) !== held.version
    if (!isPassed && waitedMs < this.#patienceMs)
      return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(10, held.checks++))
    this.#pending.delete(key)
    if (!isPassed) await this.#refresh(held, signal)
    return 0
  }

  #versionOf({ apiVersion, kind, key }: PendingConflict): string | undefined {
    return peek(this.#cache, { apiVersion, kind }, key)?.metadata.resourceVersion
  }

  /** The watch is late: what the server says now is shown until it has caught up. */
  async #refresh({ apiVersion, kind, key }: PendingConflict, signal: AbortSignal): Promise<void> {
    const found = await this.#client.find({ apiVersion, kind }, key, { signal })
    if (found) this.#cache.noteWrite(found)
    else this.#cache.noteDelete({ apiVersion, kind, metadata: { ...key } })
  }
}
