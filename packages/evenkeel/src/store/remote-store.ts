/**
 * A store of another thread of this process: the thread with the store calls {@link storeFunctions}, the other one has a
 * {@link RemoteStore}. The guarantees of the contract hold, because every operation is one of the store itself.
 *
 *   RemoteStore.commit(write)  ──▶  store.commit(write)
 *   RemoteStore.watch(prefix)  ──▶  store.watch(prefix); one batch at a time, the next one once it is read
 *
 * A reader that does not read therefore holds one batch; the rest waits in the store, which ends the watch with `overflow`
 * when it is too much.
 *
 * Invariant: an aborted operation rejects at once. Its commit may still take place, as with any remote store.
 */
import {
  abortable,
  copyBytes,
  Transfer,
  type AbortOptions,
  type PortCalls,
  type PortError,
  type PortFunctions,
} from '#base'
import {
  StoreError,
  type CommitOptions,
  type CommitResult,
  type Entry,
  type GetResult,
  type HashResult,
  type Lease,
  type RangeOptions,
  type RangeResult,
  type ReadOptions,
  type Store,
  type StoreErrorReason,
  type StoreFailure,
  type UnavailableRevision,
  type Watch,
  type WatchBatch,
  type WatchEnd,
  type WatchOptions,
  type Write,
} from './store.ts'
import { checkPrefix, checkRevision } from './validation.ts'
import { watchChannel, type WatchChannel } from './watch.ts'

/** What a thread with a store serves to the others. `calls` are those to the thread with the {@link RemoteStore}. */
export function storeFunctions(store: Store, calls: () => Pick<PortCalls, 'call' | 'notify'>): PortFunctions {
  const watches = new Map<number, Watch>()
  const pump = async (id: number, watch: Watch): Promise<void> => {
    for await (const { revision, changes } of watch) {
      const copies = new Copies()
      const copied = changes.map((change) => ({
        ...change,
        ...(change.entry && { entry: copies.of(change.entry) }),
        ...(change.previous && { previous: copies.of(change.previous) }),
      }))
      await calls().call('store.batch', id, copies.transfer({ revision, changes: copied } satisfies WatchBatch))
    }
  }
  return {
    'store.head': () => store.head(),
    'store.compacted': () => store.compacted(),
    'store.commit': (write: Write, options: CommitOptions) => store.commit(write, options).then(copyResult),
    'store.commitAll': (writes: readonly Write[], options: CommitOptions) =>
      store.commitAll(writes, options).then(copyResult),
    'store.get': async (key: string, options: ReadOptions) => {
      const result = await store.get(key, options)
      const copies = new Copies()
      return copies.transfer(result.ok ? { ...result, entry: copies.of(result.entry) } : result)
    },
    'store.range': async (prefix: string, options: RangeOptions) => {
      const result = await store.range(prefix, options)
      const copies = new Copies()
      return copies.transfer(
        result.ok ? { ...result, entries: result.entries.map((entry) => copies.of(entry)) } : result,
      )
    },
    'store.compact': (revision: number) => store.compact(revision),
    'store.grant': (ttlMs: number) => store.grant(ttlMs),
    'store.renew': (lease: string) => store.renew(lease),
    'store.revoke': (lease: string) => store.revoke(lease),
    'store.hash': (prefix: string, options: ReadOptions) => store.hash(prefix, options),
    'store.watch': async (id: number, prefix: string, options: WatchOptions) => {
      const watch = store.watch(prefix, options)
      watches.set(id, watch)
      try {
        await pump(id, watch)
      } finally {
        watches.delete(id)
        watch.close()
      }
      return watch.end ?? { reason: 'closed' }
    },
    'store.progress': (id: number) => watches.get(id)?.requestProgress(),
    'store.unwatch': (id: number) => watches.get(id)?.close(),
  }
}

function copyResult(result: CommitResult): Transfer {
  const copies = new Copies()
  return copies.transfer(result.ok ? result : { ...result, current: copies.of(result.current) })
}

/** Copies of entries for one message: all readers of the store share their values. */
class Copies {
  readonly #values: Uint8Array[] = []

  of<T extends Entry | undefined>(entry: T): T {
    if (!entry) return entry
    const value = copyBytes(entry.value)
    this.#values.push(value)
    return { ...entry, value }
  }

  transfer(value: unknown): Transfer {
    return new Transfer(value, this.#values)
  }
}

/** An error of a store in another thread. */
export function reviveStoreError({ name, message, reason, stack }: PortError): Error {
  const error =
    name === 'StoreError'
      ? new StoreError(reason as StoreErrorReason, message)
      : name === 'RangeError'
        ? new RangeError(message)
        : new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}

export class RemoteStore implements Store {
  readonly #calls: () => Pick<PortCalls, 'call' | 'notify'>
  readonly #watches = new Map<number, RemoteWatch>()
  #lastWatch = 0
  #isClosed = false

  /** @param calls to the thread with {@link storeFunctions} */
  constructor(calls: () => Pick<PortCalls, 'call' | 'notify'>) {
    this.#calls = calls
  }

  /** What this side serves to the thread with the store. */
  readonly functions: PortFunctions = {
    'store.batch': (id: number, batch: WatchBatch) => this.#watches.get(id)?.take(batch),
  }

  head(options?: AbortOptions): Promise<number> {
    return this.#call(options, 'store.head')
  }

  compacted(options?: AbortOptions): Promise<number> {
    return this.#call(options, 'store.compacted')
  }

  commit(write: Write, options: CommitOptions = {}): Promise<CommitResult> {
    const copied = copyWrite(write)
    return this.#call(options, 'store.commit', new Transfer(copied, valuesOf([copied])), withoutSignal(options))
  }

  commitAll(writes: readonly Write[], options: CommitOptions = {}): Promise<CommitResult> {
    const copied = writes.map(copyWrite)
    return this.#call(options, 'store.commitAll', new Transfer(copied, valuesOf(copied)), withoutSignal(options))
  }

  get(key: string, options: ReadOptions = {}): Promise<GetResult> {
    return this.#call(options, 'store.get', key, withoutSignal(options))
  }

  range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    return this.#call(options, 'store.range', prefix, withoutSignal(options))
  }

  watch(prefix: string, options: WatchOptions): Watch {
    checkPrefix(prefix)
    checkRevision(options.after)
    const id = ++this.#lastWatch
    const watch = new RemoteWatch(options, {
      onProgress: () => {
        this.#calls().notify('store.progress', id)
      },
      onClose: () => {
        this.#watches.delete(id)
        this.#calls().notify('store.unwatch', id)
      },
    })
    if (this.#isClosed) watch.finish({ reason: 'closed' })
    if (watch.end) return watch
    this.#watches.set(id, watch)
    this.#calls()
      .call<WatchEnd>('store.watch', id, prefix, withoutSignal(options))
      .then(
        (end) => {
          watch.finish(end)
        },
        (cause: unknown) => {
          watch.finish({ reason: 'failed', cause })
        },
      )
    return watch
  }

  compact(revision: number, options?: AbortOptions): Promise<{ readonly ok: true } | UnavailableRevision> {
    return this.#call(options, 'store.compact', revision)
  }

  grant(ttlMs: number, options?: AbortOptions): Promise<Lease> {
    return this.#call(options, 'store.grant', ttlMs)
  }

  renew(lease: string, options?: AbortOptions): Promise<boolean> {
    return this.#call(options, 'store.renew', lease)
  }

  revoke(lease: string, options?: AbortOptions): Promise<boolean> {
    return this.#call(options, 'store.revoke', lease)
  }

  hash(prefix: string, options: ReadOptions = {}): Promise<HashResult> {
    return this.#call(options, 'store.hash', prefix, withoutSignal(options))
  }

  /** The thread with the store reports its failures. */
  failure(): StoreFailure | undefined {
    return undefined
  }

  /** Ends the use of the store by this thread; the store itself stays open. */
  close(): Promise<void> {
    this.#isClosed = true
    for (const watch of [...this.#watches.values()]) watch.finish({ reason: 'closed' })
    return Promise.resolve()
  }

  #call<T>({ signal }: AbortOptions = {}, name: string, ...args: readonly unknown[]): Promise<T> {
    if (this.#isClosed) return Promise.reject(new StoreError('Closed', 'the store is closed'))
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    const answer = this.#calls().call<T>(name, ...args)
    return abortable(answer, { signal })
  }
}

/** The writer may go on to use its value. */
function copyWrite(write: Write): Write {
  return write.value === undefined ? write : { ...write, value: copyBytes(write.value) }
}

function valuesOf(writes: readonly Write[]): Uint8Array[] {
  return writes.flatMap(({ value }) => (value === undefined ? [] : [value]))
}

function withoutSignal<T extends AbortOptions>({ signal: _, ...options }: T): Omit<T, 'signal'> {
  return options
}

const unbounded = Number.MAX_SAFE_INTEGER

interface RemoteWatchHooks {
  readonly onProgress: () => void
  readonly onClose: () => void
}

class RemoteWatch implements Watch, AsyncIterator<WatchBatch, WatchEnd | undefined> {
  readonly #channel: WatchChannel
  readonly #hooks: RemoteWatchHooks
  /** Allows the next batch. */
  #onRead: (() => void) | undefined

  constructor(options: WatchOptions, hooks: RemoteWatchHooks) {
    this.#hooks = hooks
    const { backlogBytesMax = unbounded } = options
    // The store bounds the backlog; an invalid bound is refused here.
    this.#channel = watchChannel(
      { ...options, backlogBytesMax: backlogBytesMax > 0 ? unbounded : backlogBytesMax },
      () => {
        this.#onRead?.()
        hooks.onClose()
      },
    )
  }

  get end(): WatchEnd | undefined {
    return this.#channel.reason
  }

  requestProgress(): void {
    this.#hooks.onProgress()
  }

  close(): void {
    this.finish({ reason: 'closed' })
  }

  finish(end: WatchEnd): void {
    this.#channel.end(end)
  }

  /** Takes a batch; resolves when the reader asks for the next one. */
  take(batch: WatchBatch): Promise<void> {
    return new Promise((resolve) => {
      this.#onRead = resolve
      if (this.#channel.open) this.#channel.push(batch)
      else resolve()
    })
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#channel.next().then((read) => {
      this.#onRead?.()
      return read
    })
  }

  return(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#channel.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
