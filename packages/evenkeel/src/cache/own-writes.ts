/**
 * Our own writes: which versions of objects are ours, which of them the watch has not delivered yet, and how to wait for
 * a version.
 *
 * `OwnWrites` says whether a change is ours alone. That is known only if we know the version that our write replaced:
 * then no change of another writer is hidden in it. Writes without that knowledge (apply, a patch without a
 * resourceVersion) never count as ours alone.
 *
 *   we write v5 → v8, the watch delivers v5 → v8    ours alone
 *   we write v5 → v8, the watch delivers v4 → v8    v4 → v5 was another writer
 *
 * A `PendingWrite` is a write that the watch has not delivered:
 *
 *   none ──we write──▶ pending ──the watch delivers it, or passes its version──▶ none
 *
 * While a write is pending, readers see our version and the version of the watch is kept aside. A watch is in order: once
 * it has passed our version without an event for the object, the object was deleted in between, and the state of the
 * watch is true again. Deletes have no version of their own and wait for their event.
 *
 * `PendingWriteCheck` asks the server about writes that stay pending: deletes without an event, servers whose versions
 * cannot be compared, watches that are stuck. It has one timer, only while a write is pending.
 *
 * Invariants: at most `writesMax` writes are remembered, the oldest are forgotten first and count as another writer's; a
 * wait for a version whose signal aborts is forgotten at once.
 */
import type { KubeObject } from '#api'
import {
  deferred,
  LightAbortController,
  onAbort,
  type AbortOptions,
  type Cancel,
  type Clock,
  type Deferred,
} from '#base'
import { compareVersions, hasReachedVersion, type Item } from './items.ts'
import type { ChangeEvent } from './list-watch.ts'
import type { Store } from './store.ts'

const writesMax = 4096

interface OwnWrite {
  readonly namespace: string
  readonly name: string
  /** The version that was replaced; empty when the object was created. */
  readonly from: string
  readonly to: string
}

export class OwnWrites {
  /** The replaced version, by object and new version. */
  readonly #writes = new Map<string, string>()

  note({ namespace, name, from, to }: OwnWrite): void {
    if (to === '' || from === to) return
    this.#writes.set(`${namespace}/${name}/${to}`, from)
    if (this.#writes.size <= writesMax) return
    const [oldest] = this.#writes.keys()
    if (oldest !== undefined) this.#writes.delete(oldest)
  }

  /** Whether our writes alone lead from one version to the other. */
  explains({ namespace, name, from, to }: OwnWrite): boolean {
    for (let version = to, steps = 0; steps < writesMax; steps++) {
      const before = this.#writes.get(`${namespace}/${name}/${version}`)
      if (before === undefined) return false
      if (before === from) return true
      version = before
    }
    return false
  }
}

export interface PendingWrite<T extends KubeObject> {
  readonly namespace: string
  readonly name: string
  /** What we wrote; undefined for a delete. */
  readonly item: Item<T> | undefined
  /** The version of our write; for a delete, the last version known before it. */
  readonly version: string
  /** The uid of the deleted object; empty when it is not known. */
  readonly uid: string
  /** The item of the watch. */
  observed: Item<T> | undefined
}

/** Whether a change of this object makes our write obsolete. */
export function isConfirmedBy<T extends KubeObject>(ahead: PendingWrite<T>, { type, item }: ChangeEvent<T>): boolean {
  // A watch without gaps delivers our delete before a new object of the same name.
  if (ahead.item === undefined) return type === 'DELETED' && (ahead.uid === '' || item.uid === ahead.uid)
  const order = compareVersions(item.version, ahead.version)
  if (order !== undefined) return order >= 0
  return type === 'DELETED' || item.version === ahead.version
}

/** Whether a watch that has reached a version leaves no doubt about our write. */
export function isPassed<T extends KubeObject>(ahead: PendingWrite<T>, version: string): boolean {
  return ahead.item !== undefined && (compareVersions(version, ahead.version) ?? -1) >= 0
}

/** Whether a list of a version, with this item or none for our object, makes our write obsolete. */
export function isConfirmedByList<T extends KubeObject>(
  ahead: PendingWrite<T>,
  version: string,
  listed: Item<T> | undefined,
): boolean {
  if ((compareVersions(version, ahead.version) ?? 0) < 0) return false
  return ahead.item !== undefined || listed === undefined || (ahead.uid !== '' && listed.uid !== ahead.uid)
}

interface PendingWriteCheckOptions<T extends KubeObject> {
  readonly store: Store<T>
  readonly find:
    | ((key: { namespace: string; name: string }, options: AbortOptions) => Promise<Item<T> | undefined>)
    | undefined
  readonly shape: (item: Item<T>) => Item<T>
  readonly clock: Clock
  readonly checkMs: number
}

export class PendingWriteCheck<T extends KubeObject> {
  readonly #options: PendingWriteCheckOptions<T>
  #cancel: Cancel | undefined
  #controller = new LightAbortController()

  constructor(options: PendingWriteCheckOptions<T>) {
    if (!(options.checkMs > 0)) throw new RangeError(`checkWritesMs must be above 0, got ${options.checkMs}`)
    this.#options = options
  }

  /** A write is pending: check it after a while. */
  expect(): void {
    if (this.#controller.signal.aborted) this.#controller = new LightAbortController()
    this.#cancel ??= this.#options.clock.after(this.#options.checkMs, () => {
      void this.#run()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#controller.abort(new Error('the informer stopped'))
  }

  async #run(): Promise<void> {
    const { store } = this.#options
    const { signal } = this.#controller
    for (const [slot, ahead] of [...store.pendingWrites]) {
      if (signal.aborted) return
      if (store.pendingWrites.get(slot) !== ahead) continue
      await this.#check(slot, ahead).catch(() => undefined)
    }
    if (signal.aborted) return
    this.#cancel = undefined
    if (store.pendingWrites.size > 0) this.expect()
  }

  async #check(slot: string, ahead: PendingWrite<T>): Promise<void> {
    const { store, find, shape } = this.#options
    const { namespace, name } = ahead
    const found = find ? await find({ namespace, name }, { signal: this.#controller.signal }) : ahead.observed
    if (store.pendingWrites.get(slot) !== ahead) return
    if (!find || (found === undefined && ahead.observed === undefined)) store.resolve(namespace, name)
    else if (found === undefined)
      store.note({ namespace, name, item: undefined, version: ahead.version, uid: ahead.uid })
    else if (found.version !== ahead.item?.version)
      store.note({ namespace, name, item: shape(found), version: found.version, uid: found.uid })
  }
}

export class VersionWaiters {
  readonly #waiting = new Set<{ readonly version: string; readonly done: Deferred<void> }>()
  #seen = ''

  get waiting(): number {
    return this.#waiting.size
  }

  /** The cache has reached this version. A new list counts for all waits, also for versions that cannot be compared. */
  reach(version: string, { isList = false }: { isList?: boolean } = {}): void {
    this.#seen = version
    for (const waiter of this.#waiting) {
      if (!hasReachedVersion(version, waiter.version) && !(isList && !/^[0-9]+$/.test(waiter.version))) continue
      this.#waiting.delete(waiter)
      waiter.done.resolve()
    }
  }

  /** Resolves when the cache has seen this version or a later one. */
  async wait(version: string, { signal }: AbortOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    if (hasReachedVersion(this.#seen, version)) return
    const waiter = { version, done: deferred<void>() }
    this.#waiting.add(waiter)
    const stop = onAbort(signal, (reason) => {
      this.#waiting.delete(waiter)
      waiter.done.reject(reason)
    })
    try {
      await waiter.done.promise
    } finally {
      stop()
    }
  }
}
