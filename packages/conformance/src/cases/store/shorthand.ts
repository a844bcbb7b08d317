/**
 * Helpers for the cases: put, remove, read a watch up to a revision.
 */
import assert from 'node:assert/strict'
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import { isStoreError } from 'evenkeel/unstable/store'
import type {
  Change,
  CommitOptions,
  Entry,
  RangeOptions,
  Store,
  StoreErrorReason,
  Watch,
  WatchBatch,
  WatchEnd,
  Write,
} from 'evenkeel/unstable/store'
import { plainChange, plainEntry } from '../../model/store-model.ts'
import type { PlainChange, PlainEntry } from '../../model/store-model.ts'

/** Gives the store a turn between two calls that return immediately. */
const turns = new SystemClock()

/** A text as bytes, one byte per character. */
export function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

export function textOf(entry: Entry | undefined): string | undefined {
  return plainEntry(entry)?.value
}

/** Narrows a result that must be a success. */
export function good<T extends { readonly ok: boolean }>(result: T): Extract<T, { readonly ok: true }> {
  assert.equal(result.ok, true, `expected success, got ${JSON.stringify(result)}`)
  return result as Extract<T, { readonly ok: true }>
}

/** Writes a text; `expect` defaults to 0. Returns the revision. */
export async function put(
  store: Store,
  key: string,
  { value = `value of ${key}`, expect = 0, ...rest }: Partial<Omit<Write, 'value'>> & { value?: string } = {},
): Promise<number> {
  return good(await store.commit({ key, value: bytes(value), expect, ...rest })).revision
}

export async function remove(store: Store, key: string, expect: number): Promise<number> {
  return good(await store.commit({ key, expect })).revision
}

export async function commitAll(store: Store, writes: readonly Write[], options?: CommitOptions): Promise<number> {
  return good(await store.commitAll(writes, options)).revision
}

export async function entryAt(store: Store, key: string, revision?: number): Promise<PlainEntry | undefined> {
  return plainEntry(good(await store.get(key, { revision })).entry)
}

export async function entriesAt(store: Store, prefix: string, options?: RangeOptions): Promise<PlainEntry[]> {
  return good(await store.range(prefix, options)).entries.map((entry) => plainEntry(entry))
}

export async function keysBelow(store: Store, prefix: string, options?: RangeOptions): Promise<string[]> {
  return (await entriesAt(store, prefix, options)).map(({ key }) => key)
}

export async function hashOf(store: Store, prefix = '', revision?: number): Promise<string> {
  return good(await store.hash(prefix, { revision })).hash
}

export function rejectsRange(promise: Promise<unknown>): Promise<void> {
  return assert.rejects(promise, RangeError)
}

export function rejectsStore(promise: Promise<unknown>, reason: StoreErrorReason): Promise<void> {
  return assert.rejects(
    promise,
    (error) => isStoreError(error, reason) || assert.fail(`expected a StoreError ${reason}, got ${String(error)}`),
  )
}

/** Reads a watch by hand, one batch at a time or up to a revision. */
export class Reader {
  readonly #watch: Watch
  readonly #iterator: AsyncIterator<WatchBatch, WatchEnd | undefined>

  constructor(watch: Watch) {
    this.#watch = watch
    this.#iterator = watch[Symbol.asyncIterator]()
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#iterator.next()
  }

  /** The next batch with changes. */
  async batch(): Promise<WatchBatch> {
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done) return assert.fail(`the watch ended: ${JSON.stringify(value)}`)
      if (value.changes.length > 0) return value
    }
  }

  /** Every batch up to and including the one that reaches the revision. */
  async until(revision: number): Promise<WatchBatch[]> {
    const batches: WatchBatch[] = []
    this.#watch.requestProgress()
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done) return assert.fail(`the watch ended before revision ${revision}: ${JSON.stringify(value)}`)
      batches.push(value)
      if (value.revision >= revision) return batches
      if (value.changes.length > 0) continue
      await nextTurn(turns)
      this.#watch.requestProgress()
    }
  }

  /** Every change up to and including a revision. */
  async changes(revision: number): Promise<PlainChange[]> {
    return changesOf(await this.until(revision))
  }

  /** The remaining batches, and the reason of the end. */
  async rest(): Promise<{ batches: WatchBatch[]; end: WatchEnd | undefined }> {
    const batches: WatchBatch[] = []
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done) return { batches, end: value }
      batches.push(value)
    }
  }

  async leave(): Promise<void> {
    await this.#iterator.return?.()
  }
}

export function changesOf(batches: readonly WatchBatch[]): PlainChange[] {
  return batches.flatMap(({ changes }) => changes.map((change: Change) => plainChange(change)))
}

/** The changes under a prefix after a revision, up to another one, from a watch that is closed afterwards. */
export async function changesBetween(
  store: Store,
  prefix: string,
  { after, until }: { after: number; until: number },
): Promise<PlainChange[]> {
  const reader = new Reader(store.watch(prefix, { after }))
  const changes = await reader.changes(until)
  await reader.leave()
  return changes
}

/** Why a watch ended immediately. */
export async function endOf(watch: Watch): Promise<WatchEnd | undefined> {
  const { batches, end } = await new Reader(watch).rest()
  assert.deepEqual(batches, [], 'a rejected watch sends nothing')
  assert.deepEqual(watch.end, end)
  return end
}
