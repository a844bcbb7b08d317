/**
 * The record of one reconcile: why it ran, what it wrote, how it ended.
 *
 * Causes are for people: logs, traces, "why did this run?". A reconcile must come to the same result without them.
 *
 * `changedPaths` names the fields that differ between two states of an object: `status.phase`, `spec.containers[0].image`.
 * It is iterative and bounded, so that neither depth nor size of an object matters; fields that change with every write
 * (resourceVersion, generation, managedFields) are left out.
 */
import { deepEqual, getOwn, isJsonObject, type JsonObject } from '#api'
import type { WriteNotice } from '#client'

/** One write that the server accepted. */
interface WriteRecord {
  readonly verb: string
  /** The canonical key; without a name for `deleteAllOf`. */
  readonly object: string
  readonly subresource?: string
  readonly uid?: string
  readonly resourceVersion?: string
  /** The server had nothing to change: the version is that of another write. */
  readonly isNoop?: boolean
}

/** How a reconcile ended. */
export interface RunEnd {
  readonly durationMs: number
  /** `success`, `requeue_after`, `requeue` or `error`, as in the metrics; `aborted` when it was aborted. */
  readonly result: string
  readonly error?: string
  /** The line of the program that threw: `app.ts:12`. */
  readonly at?: string
  /** In how long the key runs again by itself. */
  readonly afterMs?: number
  /** What the key waits for, if it is parked. */
  readonly waitingFor?: string
}

/** A reconcile as the ledger shows it; plain JSON. */
export interface LedgerEntry {
  readonly reconcileId: string
  readonly controller: string
  readonly key: string
  /** Milliseconds since 1970. */
  readonly startedMs: number
  readonly attempt: number
  readonly priority: number
  readonly causes: readonly RunCause[]
  /** Causes that were dropped because there were too many. */
  readonly causesLeftOut: number
  readonly writes: readonly WriteRecord[]
  /** Writes that were dropped because there were too many. */
  readonly writesLeftOut: number
  /** How often this key has caused itself in a row, directly or through other keys, without an external cause. */
  readonly rounds: number
  /** Absent while it runs. */
  readonly end?: RunEnd
}

export interface NewRun extends Pick<
  LedgerEntry,
  'reconcileId' | 'controller' | 'key' | 'startedMs' | 'attempt' | 'priority' | 'causes' | 'causesLeftOut' | 'rounds'
> {
  /** The signal of the run: its writes are refused once it aborts. */
  readonly signal: AbortSignal
}

const writesMax = 256

/** A reconcile that runs or has ended. */
export class RunRecord implements LedgerEntry {
  /** In the order of their start. */
  readonly sequence: number
  readonly reconcileId: string
  readonly controller: string
  readonly key: string
  readonly startedMs: number
  readonly attempt: number
  readonly priority: number
  /** With their writers as far as they are known: the watch may deliver a write before its response arrives. */
  causes: readonly RunCause[]
  readonly causesLeftOut: number
  readonly rounds: number
  readonly writes: WriteRecord[] = []
  writesLeftOut = 0
  end?: RunEnd
  /** The span context, if tracing is on. */
  spanContext: unknown
  /** Undefined once it can no longer abort: a signal takes more memory than the rest of a short run. */
  #signal: AbortSignal | undefined
  /** Writes without a response, and the version that the cache had of their object when they were sent. */
  #unanswered: Map<WriteNotice, string | undefined> | undefined

  constructor({ signal, ...facts }: NewRun, sequence: number) {
    this.sequence = sequence
    this.reconcileId = facts.reconcileId
    this.controller = facts.controller
    this.key = facts.key
    this.startedMs = facts.startedMs
    this.attempt = facts.attempt
    this.priority = facts.priority
    this.causes = facts.causes
    this.causesLeftOut = facts.causesLeftOut
    this.rounds = facts.rounds
    this.#signal = signal
  }

  /** @throws {RunAborted} when it was aborted */
  throwIfAborted(): void {
    this.#signal?.throwIfAborted()
  }

  /** It has ended; later writes are refused only if it was aborted before. */
  finish(end: RunEnd): void {
    this.end = end
    if (this.#signal?.aborted === false) this.#signal = undefined
    if (this.#unanswered?.size === 0) this.#unanswered = undefined
  }

  noteSent(write: WriteNotice, version: string | undefined): void {
    this.#unanswered ??= new Map()
    this.#unanswered.set(write, version)
    if (this.#unanswered.size > writesMax)
      for (const oldest of [...this.#unanswered.keys()].slice(0, 1)) this.#unanswered.delete(oldest)
  }

  /** Returns the version that the object had when the write was sent. */
  noteAnswered(write: WriteNotice): string | undefined {
    const version = this.#unanswered?.get(write)
    this.#unanswered?.delete(write)
    return version
  }

  /** The last refused write to an object of that name, and the version that the object had when it was sent. */
  lastRefused(
    name: string | undefined,
  ): { readonly write: WriteNotice; readonly version: string | undefined } | undefined {
    const [write, version] =
      [...(this.#unanswered ?? [])].filter(([refused]) => name === undefined || refused.name === name).at(-1) ?? []
    return write && { write, version }
  }

  noteWrite(write: WriteRecord): void {
    if (this.writes.length < writesMax) this.writes.push(write)
    else this.writesLeftOut++
  }

  toJSON(): LedgerEntry {
    const {
      reconcileId,
      controller,
      key,
      startedMs,
      attempt,
      priority,
      causes,
      causesLeftOut,
      writes,
      writesLeftOut,
      rounds,
      end,
    } = this
    return {
      reconcileId,
      controller,
      key,
      startedMs,
      attempt,
      priority,
      causes,
      causesLeftOut,
      writes: [...writes],
      writesLeftOut,
      rounds,
      ...(end && { end }),
    }
  }
}

/** `event`: an external source. `request`: `enqueue` was called. `retry`: the last run failed. `timer`: the last run asked for it. */
export type CauseType = 'add' | 'update' | 'delete' | 'resync' | 'event' | 'request' | 'retry' | 'timer'

export interface Cause {
  readonly type: CauseType
  /** Where it came from: `for Website`, `owns Deployment`, the name of a channel. */
  readonly source: string
  /** The canonical key of the object that changed. */
  readonly object?: string
  /** The version of the object after the change. */
  readonly resourceVersion?: string
  /** The object existed when the controller started. */
  readonly isInitial?: boolean
  /** The note of the caller of `enqueue`. */
  readonly note?: string
  /** The fields that changed; computed only where a hot loop is suspected. */
  readonly changed?: readonly string[]
}

/** The reconcile that wrote the version of a cause. */
export interface Writer {
  readonly reconcileId: string
  readonly controller: string
  readonly key: string
}

/** A cause, with the reconcile that wrote it if it was one of ours. */
export interface RunCause extends Cause {
  readonly writer?: Writer
}

const ignored: ReadonlySet<string> = new Set([
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.managedFields',
])

interface Pair {
  readonly path: string
  readonly a: unknown
  readonly b: unknown
}

/** At most `pathsMax` paths, in the order of the object. */
export function changedPaths(a: unknown, b: unknown, { pathsMax = 16 }: { pathsMax?: number } = {}): string[] {
  const found: string[] = []
  const pairs: Pair[] = [{ path: '', a, b }]
  for (let pair = pairs.pop(); pair && found.length < pathsMax; pair = pairs.pop()) {
    if (ignored.has(pair.path) || deepEqual(pair.a, pair.b)) continue
    const inside = childrenOf(pair)
    if (inside) pairs.push(...inside.reverse())
    else found.push(pair.path)
  }
  return found
}

/** The parts to compare one by one; undefined when the values differ as a whole. */
function childrenOf({ path, a, b }: Pair): Pair[] | undefined {
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.map((item: unknown, index) => ({ path: `${path}[${index}]`, a: item, b: (b as unknown[])[index] }))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return undefined
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].map((key) => ({
    path: stepTo(path, key),
    a: getOwn(a as JsonObject, key),
    b: getOwn(b as JsonObject, key),
  }))
}

function stepTo(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
