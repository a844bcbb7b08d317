/**
 * Writing: one transaction per commit, numbered by etcd.
 *
 *   compare every key with what is expected ──all equal──▶ put and delete
 *                                           └──otherwise──▶ read them, so the loser learns why
 *
 * When the answer is lost, the commit may have happened, may not have, or may still happen: the
 * server can have it in hand. Then the keys are read again:
 *
 *   a key carries our nonce ─────────────────────────▶ it happened, at that key's revision
 *   a key we put went from `expect` on without us ───▶ it did not and cannot: a lost race
 *   nothing moved, and a write expects a revision ───▶ try again: of two tries at most one can win
 *   anything else ───────────────────────────────────▶ nobody can know; we say so
 *
 * Invariants: a commit is made at most once; "ok" is said only of a commit that was made, with
 * its revision, and "not ok" only of one that never will be.
 */
import type { AbortOptions, Logger, Random } from '#base'
import { StoreError } from '../store-error.ts'
import type { Check, CommitResult, Write } from '../store.ts'
import type { Keyspace } from './keyspace.ts'
import { methods } from './rpc/client.ts'
import type { Client } from './rpc/client.ts'
import { decodeRange, decodeTxn, encodeRange, encodeReads, encodeTxn } from './rpc/kv-messages.ts'
import type { KeyValue, TxnAnswer } from './rpc/kv-messages.ts'
import type { ProtobufWriter } from './rpc/protobuf.ts'
import { RpcError } from './rpc/rpc-error.ts'
import { isWrittenBy, nonceBytes, valueHeader } from './stored-value.ts'

export interface CommitterOptions {
  client: Client
  keyspace: Keyspace
  random: Random
  log: Logger
}

interface Attempt {
  readonly writes: readonly Write[]
  /** Writes, then checks: the order in which the first one that is not as expected is named. */
  readonly expected: readonly Check[]
  readonly nonce: Uint8Array
  readonly request: ProtobufWriter
}

/** How many times a commit whose answer was lost is tried again, and how far back a key is followed. */
const retriesMax = 3
const stepsBackMax = 64

export class Commits {
  readonly #client: Client
  readonly #keyspace: Keyspace
  readonly #random: Random
  readonly #log: Logger

  constructor({ client, keyspace, random, log }: CommitterOptions) {
    this.#client = client
    this.#keyspace = keyspace
    this.#random = random
    this.#log = log
  }

  /** @throws {StoreError} `NoLease`, `Failed` when nobody can know whether it happened, or an `RpcError`. */
  async commit(writes: readonly Write[], checks: readonly Check[], { signal }: AbortOptions = {}): Promise<CommitResult> {
    const attempt = this.#prepare(writes, checks)
    for (let retries = 0; ; retries++) {
      try {
        return this.#read(attempt, await this.#client.call(methods.txn, attempt.request, { signal, isOnce: true }))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (error.says('requested lease not found')) throw noLease(writes, error)
        if (!error.isUncertain) throw error
        this.#log.warn('the answer to a commit was lost', { key: writes[0]?.key, error })
        const result = await this.#resolve(attempt, error, { signal })
        if (result) return result
        if (retries === retriesMax) throw unknown(attempt, error)
      }
    }
  }

  #prepare(writes: readonly Write[], checks: readonly Check[]): Attempt {
    const nonce = new Uint8Array(nonceBytes)
    const words = new DataView(nonce.buffer)
    words.setUint32(0, this.#random.uint32())
    words.setUint32(4, this.#random.uint32())
    const expected = [...writes, ...checks]
    const request = encodeTxn({
      expected: expected.map(({ key, expect }) => ({ key: this.#keyspace.inEtcd(key), revision: expect })),
      writes: writes.map(({ key, value, stampAt, lease }) => ({
        key: this.#keyspace.inEtcd(key),
        ...value && { value: [valueHeader(nonce, stampAt), value] },
        ...lease !== undefined && { lease: parseLease(lease) ?? throwNoLease(key, lease) },
      })),
    })
    return { writes, expected, nonce, request }
  }

  #read(attempt: Attempt, answer: Uint8Array): CommitResult {
    const { isDone, revision, found } = decodeTxn(answer)
    if (isDone) return { ok: true, revision }
    return this.#recognise(attempt, found) ?? this.#lost(attempt, found)
  }

  /** The commit was made, and it is ours, if any key has our nonce. */
  #recognise({ writes, nonce }: Attempt, found: TxnAnswer['found']): CommitResult | undefined {
    const own = writes.map((_, index) => found[index]).find((entry) => entry && isWrittenBy(nonce, entry.value))
    return own && { ok: true, revision: own.modified }
  }

  /** The first key that is not as expected. */
  #lost({ expected }: Attempt, found: TxnAnswer['found']): CommitResult {
    const index = expected.findIndex(({ expect }, at) => (found[at]?.modified ?? 0) !== expect)
    const current = found[index]
    return { ok: false, key: expected[index]?.key ?? '', current: current && this.#keyspace.entry(current) }
  }

  /** What became of a commit; undefined when it was not made and it is safe to try again. */
  async #resolve(attempt: Attempt, cause: RpcError, { signal }: AbortOptions): Promise<CommitResult | undefined> {
    const keys = attempt.expected.map(({ key }) => this.#keyspace.inEtcd(key))
    let found: TxnAnswer['found']
    try {
      found = decodeTxn(await this.#client.call(methods.txn, encodeReads(keys), { signal })).found
    } catch (error) {
      if (error instanceof RpcError) throw unknown(attempt, cause)
      throw error
    }
    const own = this.#recognise(attempt, found)
    if (own) return own
    const isUnmoved = attempt.expected.every(({ expect }, index) => (found[index]?.modified ?? 0) === expect)
    if (!isUnmoved) return await this.#follow(attempt, found, { signal }) ?? throwUnknown(attempt, cause)
    if (attempt.writes.some(({ expect }) => expect > 0)) return undefined
    throw unknown(attempt, cause)
  }

  /** Follows a key that we put, and that others put since, back to what we expected: were we among them? */
  async #follow(attempt: Attempt, found: TxnAnswer['found'], { signal }: AbortOptions): Promise<CommitResult | undefined> {
    const index = attempt.writes.findIndex(({ value, expect }, at) => value && expect > 0 && found[at])
    const { expect = 0 } = attempt.writes[index] ?? {}
    let entry: KeyValue | undefined = found[index]
    for (let step = 0; entry && step < stepsBackMax; step++) {
      if (isWrittenBy(attempt.nonce, entry.value)) return { ok: true, revision: entry.modified }
      if (entry.modified === expect) return this.#settle(attempt, found)
      entry = await this.#before(entry, { signal })
    }
    return undefined
  }

  /** The key we followed never was ours. If it has moved, it cannot become ours either, and the race is lost. */
  #settle(attempt: Attempt, found: TxnAnswer['found']): CommitResult | undefined {
    const isOver = attempt.expected.some(({ expect }, index) => expect > 0 && (found[index]?.modified ?? 0) !== expect)
    return isOver ? this.#lost(attempt, found) : undefined
  }

  /** The same key before it got this value; undefined when that cannot be read any more. */
  async #before({ key, modified }: KeyValue, { signal }: AbortOptions): Promise<KeyValue | undefined> {
    try {
      return decodeRange(await this.#client.call(methods.range, encodeRange({ key, revision: modified - 1 }), { signal })).entries[0]
    } catch (error) {
      if (error instanceof RpcError) return undefined
      throw error
    }
  }
}

/** The number of a lease; undefined for a text that no lease has. */
export function parseLease(lease: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(lease)) return undefined
  const id = BigInt(lease)
  return id < 2n ** 63n ? id : undefined
}

function throwNoLease(key: string, lease: string): never {
  throw new StoreError('NoLease', `lease ${lease} is gone; grant a new one before writing ${key}`)
}

function noLease(writes: readonly Write[], cause: RpcError): StoreError {
  const leases = [...new Set(writes.flatMap(({ lease }) => lease ?? []))]
  return new StoreError('NoLease', `lease ${leases.join(' or ')} is gone; grant a new one before writing ${writes.map(({ key }) => key).join(', ')}`, { cause })
}

function unknown({ writes }: Attempt, cause: RpcError): StoreError {
  return new StoreError('Failed', `the answer to the commit of ${writes.map(({ key }) => key).join(', ')} was lost; it may or may not have been stored, read to know: ${cause.message}`, { cause })
}

function throwUnknown(attempt: Attempt, cause: RpcError): never {
  throw unknown(attempt, cause)
}
