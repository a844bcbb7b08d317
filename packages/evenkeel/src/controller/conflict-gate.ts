/**
 * Defers a key after a conflict until the cache has seen the write that it conflicted with.
 *
 * A retry at once would read the same old state and conflict again. Worked example, for a key that wrote version 11 of
 * its object and lost against a writer whose version 12 the watch has not delivered yet:
 *
 *      0 ms   conflict: the gate closes at version 11
 *      5 ms   back-off is over, the cache still has 11   wait 10 ms
 *     15 ms   still 11                                   wait 20 ms, then 40, 80 … at most 1000 ms
 *     60 ms   the watch delivers 12 and adds the key     the gate opens, the key runs
 *
 * If the cache has not moved after `patienceMs`, the gate reads the object from the server, shows it in the cache until
 * the watch catches up, and opens.
 */
import { isApiError, type TypeMeta } from '#api'
import { exponentialMs, type Clock } from '#base'
import type { CacheKey, ObjectCache } from '#cache'
import type { Client, WriteNotice } from '#client'
import { peek } from './reconcile-client.ts'
import type { Run } from './run.ts'

/** An object that another writer changed, and the version that our cache had of it when we wrote. */
interface PendingConflict extends TypeMeta {
  readonly key: CacheKey
  readonly version: string
  readonly sinceMs: number
  checks: number
}

interface ConflictGateOptions {
  readonly cache: ObjectCache
  readonly client: Client
  readonly clock: Clock
  /** How long to wait for the cache before the server is asked. @default 5000 */
  readonly patienceMs?: number
}

const wait = { baseMs: 10, maxMs: 1000 }

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

  /** Closes the gate for the key of a run that failed with this conflict, if it is known which object it was about. */
  close(run: Run, conflict: unknown): void {
    const refused = run.record?.lastRefused(isApiError(conflict) ? conflict.subject?.name : undefined)
    const name = refused?.write.name
    if (!refused || name === undefined) return
    const { apiVersion, kind, namespace } = refused.write
    const version = isOwnObject(run, refused.write) ? (newestVersion(run) ?? refused.version) : refused.version
    if (version === undefined) return
    this.#pending.set(run.item.key, {
      apiVersion,
      kind,
      key: { name, ...(namespace !== undefined && { namespace }) },
      version,
      sinceMs: this.#clock.monotonic(),
      checks: 0,
    })
  }

  /** How long the key has to wait; 0: the gate is open. A server that does not answer does not keep it closed. */
  async waitMs({ item: { key }, signal }: Run): Promise<number> {
    const conflict = this.#pending.get(key)
    if (!conflict) return 0
    const waitedMs = this.#clock.monotonic() - conflict.sinceMs
    const hasPassed = this.#versionOf(conflict) !== conflict.version
    if (!hasPassed && waitedMs < this.#patienceMs) return exponentialMs(conflict.checks++, wait)
    this.#pending.delete(key)
    if (!hasPassed) await this.#refresh(conflict, signal).catch(() => undefined)
    return 0
  }

  #versionOf({ apiVersion, kind, key }: PendingConflict): string | undefined {
    return peek(this.#cache, { apiVersion, kind }, key)?.metadata.resourceVersion
  }

  async #refresh({ apiVersion, kind, key }: PendingConflict, signal: AbortSignal): Promise<void> {
    const found = await this.#client.find({ apiVersion, kind }, key, { signal })
    if (found) this.#cache.noteWrite(found)
    else this.#cache.noteDelete({ apiVersion, kind, metadata: { ...key } })
  }
}

/** Whether the refused write was about the object of the run's own key. */
function isOwnObject({ key }: Run, { kind, name, namespace }: WriteNotice): boolean {
  return key.kind === kind && key.name === name && (key.namespace ?? '') === (namespace ?? '')
}

/** The newest version of its object that the run knew: of its own last write, or of the object that it got. */
function newestVersion({ item: { key }, record, object }: Run): string | undefined {
  return (
    record?.writes.findLast((write) => write.object === key && write.resourceVersion !== undefined)?.resourceVersion ??
    object?.metadata.resourceVersion
  )
}
