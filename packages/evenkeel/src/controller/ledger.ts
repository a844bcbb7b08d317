/**
 * The causal ledger: which reconcile wrote which version, and which versions made which reconcile run.
 *
 *   reconcile ──writes──▶ version ──watch──▶ cause ──▶ reconcile ──writes──▶ …
 *
 * Worked example: run r1 of Website `shop` creates Deployment `shop`; the response has version 41, so the ledger notes
 * `Deployment shop 41 → r1`. The watch delivers version 41 and adds key `shop` with the cause `update Deployment shop 41`.
 * When run r2 starts, `explain` finds that its cause was written by r1.
 *
 * The server does not have to help. Timelines, "why?", the hot-loop detector and links between traces read from here.
 *
 * `writeHooks` connects a client: it reports its writes, before and after, to the ledger and the cache.
 *
 * Invariants: bounded, however long the process lives: the oldest runs and versions are forgotten; a write of an aborted
 * reconcile is refused before it is sent; a version that existed before the write has no writer.
 */
import { defaultCluster, formatKey, parseApiVersion, type KubeObject } from '#api'
import { Channel, type AbortOptions } from '#base'
import type { ObjectCache } from '#cache'
import type { WriteHooks, WriteNotice } from '#client'
import { peek } from './reconcile-client.ts'
import {
  RunRecord,
  type Cause,
  type LedgerEntry,
  type NewRun,
  type RunCause,
  type RunEnd,
  type Writer,
} from './run-record.ts'

export interface LedgerOptions {
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** How many runs are remembered. @default 1000 */
  readonly runsMax?: number
  /** How many versions are remembered. @default 10_000 */
  readonly versionsMax?: number
}

interface LedgerQuery {
  readonly controller?: string
  /** The canonical key of a reconciled object. */
  readonly key?: string
  /** The newest so many. @default all */
  readonly limit?: number
}

export class Ledger {
  readonly #cluster: string
  readonly #runsMax: number
  readonly #versionsMax: number
  /** Runs that have not ended: never forgotten, because their writes may have to be refused. */
  readonly #active = new Map<string, RunRecord>()
  readonly #ended = new Map<string, RunRecord>()
  /** The writer of a version by key and version; `deleted` instead of the version for a delete. */
  readonly #writers = new Map<string, Writer>()
  #sequence = 0
  readonly #readers = new Set<Channel<LedgerEntry, string>>()

  constructor({ cluster = defaultCluster, runsMax = 1000, versionsMax = 10_000 }: LedgerOptions = {}) {
    if (!(Number.isInteger(runsMax) && runsMax >= 1))
      throw new RangeError(`runsMax must be a whole number of 1 or more, got ${runsMax}`)
    if (!(Number.isInteger(versionsMax) && versionsMax >= 1))
      throw new RangeError(`versionsMax must be a whole number of 1 or more, got ${versionsMax}`)
    this.#cluster = cluster
    this.#runsMax = runsMax
    this.#versionsMax = versionsMax
  }

  /** A run starts. */
  begin(facts: NewRun): RunRecord {
    const record = new RunRecord(facts, this.#sequence++)
    this.#active.set(record.reconcileId, record)
    return record
  }

  /** A run has ended; streams get its entry. */
  finish(record: RunRecord, end: RunEnd): void {
    record.finish(end)
    record.causes = this.explain(record.causes)
    this.#active.delete(record.reconcileId)
    this.#ended.set(record.reconcileId, record)
    if (this.#ended.size > this.#runsMax) this.#ended.delete(oldestOf(this.#ended))
    if (this.#readers.size === 0) return
    const entry = record.toJSON()
    for (const reader of this.#readers) reader.push(entry)
  }

  /** A run by its id, while it is remembered. */
  find(reconcileId: string): RunRecord | undefined {
    return this.#active.get(reconcileId) ?? this.#ended.get(reconcileId)
  }

  /** Causes with the reconciles that wrote them, as far as they are known. */
  explain(causes: readonly (Cause | RunCause)[]): readonly RunCause[] {
    return causes.map((cause: RunCause) => {
      const writer = cause.writer ? undefined : this.#writerOf(cause)
      return writer ? { ...cause, writer } : cause
    })
  }

  /**
   * For a client's `beforeWrite`. `version` is that of the object in our cache now.
   *
   * @throws {RunAborted} when the reconcile that writes was aborted: nothing is sent.
   */
  beforeWrite(write: WriteNotice, version: string | undefined): void {
    const record = this.#recordOf(write)
    if (!record) return
    record.throwIfAborted()
    record.noteSent(write, version)
  }

  /** For a client's `afterWrite`. */
  afterWrite(write: WriteNotice, object: KubeObject | undefined): void {
    const record = this.#recordOf(write)
    const before = record?.noteAnswered(write)
    if (!record || write.dryRun) return
    const name = write.name ?? object?.metadata.name ?? ''
    const key = formatKey({
      cluster: this.#cluster,
      group: parseApiVersion(write.apiVersion).group,
      kind: write.kind,
      namespace: write.namespace ?? '',
      name,
    })
    const { uid, resourceVersion } = object?.kind === write.kind ? object.metadata : {}
    const isNoop = resourceVersion !== undefined && write.verb !== 'delete' && before === resourceVersion
    record.noteWrite({
      verb: write.verb,
      object: key,
      ...(write.subresource !== undefined && { subresource: write.subresource }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(isNoop && { isNoop }),
    })
    if (resourceVersion !== undefined && !isNoop) this.#noteWriter(`${key} ${resourceVersion}`, record)
    if (write.verb === 'create') this.#writers.delete(`${key} deleted`)
    if (write.verb === 'delete') this.#noteWriter(`${key} deleted`, record)
  }

  /** The remembered runs, the last started first. */
  entries({ controller, key, limit = Infinity }: LedgerQuery = {}): LedgerEntry[] {
    const found: LedgerEntry[] = []
    const records = [...this.#ended.values(), ...this.#active.values()].sort((a, b) => b.sequence - a.sequence)
    for (const record of records) {
      if (found.length >= limit) break
      if ((controller === undefined || record.controller === controller) && (key === undefined || record.key === key))
        found.push(record.toJSON())
    }
    return found
  }

  /** Runs as they end. A reader that is too slow loses its stream, with the reason `overflow`. */
  stream({ signal, backlogMax = 1000 }: AbortOptions & { backlogMax?: number } = {}): Channel<LedgerEntry, string> {
    const channel: Channel<LedgerEntry, string> = new Channel<LedgerEntry, string>({
      weightMax: backlogMax,
      overflow: 'overflow',
      ...(signal && { signal }),
      onClose: () => {
        this.#readers.delete(channel)
      },
    })
    if (channel.open) this.#readers.add(channel)
    return channel
  }

  #recordOf({ reconcileId }: WriteNotice): RunRecord | undefined {
    return reconcileId === undefined ? undefined : this.find(reconcileId)
  }

  #writerOf({ type, object, resourceVersion }: Cause): Writer | undefined {
    if (object === undefined) return undefined
    return this.#writers.get(`${object} ${type === 'delete' ? 'deleted' : (resourceVersion ?? '')}`)
  }

  /** Only the writer's names: a version may be remembered longer than its run. */
  #noteWriter(version: string, { reconcileId, controller, key }: RunRecord): void {
    this.#writers.delete(version)
    this.#writers.set(version, { reconcileId, controller, key })
    if (this.#writers.size > this.#versionsMax) this.#writers.delete(oldestOf(this.#writers))
  }
}

function oldestOf(map: ReadonlyMap<string, unknown>): string {
  const [first = ''] = map.keys()
  return first
}

/**
 * The hooks of a client that report its writes to the ledger and the cache.
 *
 * A client is made before the cache that reads through it, so the cache is a function.
 *
 * @example
 * const ledger = new Ledger()
 * const client = new Client({ transport, ...writeHooks({ ledger, cache: () => cache }) })
 * const cache = new ObjectCache({ client })
 */

interface WriteHookParts {
  readonly ledger: Ledger
  readonly cache: () => ObjectCache | undefined
}

export function writeHooks({ ledger, cache }: WriteHookParts): Required<WriteHooks> {
  return {
    beforeWrite(write) {
      const { name, namespace } = write
      const known =
        write.reconcileId === undefined || name === undefined
          ? undefined
          : peek(cache(), write, { name, ...(namespace !== undefined && { namespace }) })
      ledger.beforeWrite(write, known?.metadata.resourceVersion)
    },
    afterWrite(write, object) {
      ledger.afterWrite(write, object)
      cache()?.afterWrite(write, object)
    },
  }
}
