/**
 * Which versions of objects are our own doing.
 *
 * A change is ours alone if we know the version that our write replaced: then nothing of anybody else's hides in it.
 * Writes that do not know what they replaced (apply, a patch without a lock) are never taken for the whole story.
 *
 * Invariant: at most `writesMax` are remembered, the oldest go first; what is forgotten counts as somebody else's.
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

/*
 * What we wrote and the watch has not told yet.
 *
 *   nothing ──we write──▶ ahead ──the stream tells of it, or has passed it──▶ nothing
 *
 * While an object is ahead, readers see our version of it and the stream's version waits aside. A stream is in order, so
 * once it has passed our version without a word about the object, somebody took the object away in between: then what
 * the stream said last is true again. Deletes have no version of their own and wait for the word.
 */

export interface PendingWrite<T extends KubeObject> {
  readonly namespace: string
  readonly name: string
  /** What we wrote; undefined when we took the object away. */
  readonly item: Item<T> | undefined
  /** The version of our write; for a delete, the last one that was known before it. */
  readonly version: string
  /** Of the object that we deleted; empty when it is not known. */
  readonly uid: string
  /** What the stream said last. */
  observed: Item<T> | undefined
}

/** Whether a change of this very object makes our own knowledge of it old. */
export function isConfirmedBy<T extends KubeObject>(ahead: PendingWrite<T>, { type, item }: ChangeEvent<T>): boolean {
  // A stream without gaps tells of our delete before it tells of whatever came under the same name afterwards.
  if (ahead.item === undefined) return type === 'DELETED' && (ahead.uid === '' || item.uid === ahead.uid)
  const order = compareVersions(item.version, ahead.version)
  if (order !== undefined) return order >= 0
  return type === 'DELETED' || item.version === ahead.version
}

/** Whether a stream that has come to a version leaves no doubt about our write. */
export function isPassed<T extends KubeObject>(ahead: PendingWrite<T>, version: string): boolean {
  return ahead.item !== undefined && (compareVersions(version, ahead.version) ?? -1) >= 0
}

/** Whether a list of a version, with this item or none in our object's place, makes our own knowledge old. */
export function isConfirmedByList<T extends KubeObject>(
  ahead: PendingWrite<T>,
  version: string,
  listed: Item<T> | undefined,
): boolean {
  if ((compareVersions(version, ahead.version) ?? 0) < 0) return false
  return ahead.item !== undefined || listed === undefined || (ahead.uid !== '' && listed.uid !== ahead.uid)
}

/*
 * Asks the server about writes of ours that the watch does not tell of.
 *
 * Mostly the watch tells, or passes the write; this is for deletes that nobody announces, for servers whose versions
 * cannot be compared, and for watches that are stuck. One timer, only while something waits.
 */

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

  /** Something waits: look at it after a while. */
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

/*
 * Waiting until a cache has seen a version.
 *
 * Invariant: who leaves by its signal is forgotten at once.
 */

export class VersionWaiters {
  readonly #waiting = new Set<{ readonly version: string; readonly done: Deferred<void> }>()
  #seen = ''

  get waiting(): number {
    return this.#waiting.size
  }

  /** The cache has come this far. A new list counts for all, also for versions that nobody can compare. */
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
