/**
 * Writing: one transaction per commit, numbered by etcd.
 *
 *   compare every key with what is expected ──all equal──▶ put and delete
 *                                           └──otherwise──▶ read them, so the loser learns why
 *
 * When the answer is lost, the commit may have happened, may not have, or may still happen: the
 * server can have it in hand. Then the keys are read again:
 *
 *   a key carries our nonce, or did ─────────────────▶ it happened, at that key's revision
 *   a key moved on from what we expected, without us ─▶ it did not and cannot: a lost race
 *   nothing moved, and a write expects a revision ────▶ try again: of two tries at most one can win
 *   anything else ────────────────────────────────────▶ nobody can know; we say so
 *
 * Invariants: a commit is made at most once; "ok" is said only of a commit that was made, with
 * its revision, and "not ok" only of one that never will be.
 */
import type { AbortOptions, Logger, Random } from '#base'
import { StoreError, type Check, type CommitResult, type Lease, type Write } from '../store.ts'
import { methods, type EtcdClient } from './client.ts'
import { RpcError } from './grpc.ts'
import { isWrittenBy, nonceBytes, valueHeader, type EtcdKeyspace } from './keyspace.ts'
import {
  decodeGrantedTtl,
  decodeLease,
  decodeRange,
  decodeTxn,
  encodeGrant,
  encodeLease,
  encodeRange,
  encodeReads,
  encodeTxn,
  type KeyValue,
  type TxnResponse,
} from './messages.ts'
import type { ProtobufWriter } from './protobuf.ts'

interface CommitterOptions {
  client: EtcdClient
  keyspace: EtcdKeyspace
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

/** The number that stands for a text no lease has: etcd says no to it, but only after it has compared the keys. */
const noSuchLease = 2n ** 63n - 1n

/** How many times a commit whose answer was lost is tried again, and how far back a key is followed. */
const retriesMax = 3
const stepsBackMax = 64

export class Committer {
  readonly #client: EtcdClient
  readonly #keyspace: EtcdKeyspace
  readonly #random: Random
  readonly #log: Logger

  constructor({ client, keyspace, random, log }: CommitterOptions) {
    this.#client = client
    this.#keyspace = keyspace
    this.#random = random
    this.#log = log
  }

  /** @throws {StoreError} `NoLease`, `Failed` when nobody can know whether it happened, or an `RpcError`. */
  async commit(
    writes: readonly Write[],
    checks: readonly Check[],
    { signal }: AbortOptions = {},
  ): Promise<CommitResult> {
    const attempt = this.#prepare(writes, checks)
    let lost: RpcError | undefined
    for (let retries = 0; ; retries++) {
      try {
        const { isDone, revision, found } = decodeTxn(
          await this.#client.call(methods.txn, attempt.request, { signal, isOnce: true }),
        )
        if (isDone) return { ok: true, revision }
        if (!lost) return this.#raceLost(attempt, found)
        return (await this.#judge(attempt, found, { signal })) ?? throwUnknown(attempt, lost)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (!error.isUncertain && !lost) throw error.says('requested lease not found') ? noLease(writes, error) : error
        this.#log.warn('the answer to a commit was lost', { key: writes[0]?.key, error })
        lost = error
      }
      const result = await this.#resolve(attempt, lost, { signal })
      if (result) return result
      if (retries === retriesMax) throw unknown(attempt, lost)
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
        ...(value && { value: [valueHeader(nonce, stampAt), value] }),
        ...(lease !== undefined && { lease: parseLease(lease) ?? noSuchLease }),
      })),
    })
    return { writes, expected, nonce, request }
  }

  /** The first key that is not as expected. */
  #raceLost({ expected }: Attempt, found: TxnResponse['found']): CommitResult {
    const index = expected.findIndex(({ expect }, at) => (found[at]?.modified ?? 0) !== expect)
    const current = found[index]
    return { ok: false, key: expected[index]?.key ?? '', current: current && this.#keyspace.entry(current) }
  }

  /** What became of a commit whose answer was lost; undefined when it was not made and it is safe to try again. */
  async #resolve(attempt: Attempt, cause: RpcError, { signal }: AbortOptions): Promise<CommitResult | undefined> {
    const keys = attempt.expected.map(({ key }) => this.#keyspace.inEtcd(key))
    let found: TxnResponse['found']
    try {
      found = decodeTxn(await this.#client.call(methods.txn, encodeReads(keys), { signal })).found
    } catch (error) {
      throw error instanceof RpcError ? unknown(attempt, cause) : error
    }
    const judged = await this.#judge(attempt, found, { signal })
    if (judged) return judged
    const isUnmoved = attempt.expected.every(({ expect }, index) => (found[index]?.modified ?? 0) === expect)
    const isFenced = attempt.writes.some(({ expect }) => expect > 0)
    return isUnmoved && isFenced ? undefined : throwUnknown(attempt, cause)
  }

  /** Whether a commit happened, from what its keys are like now; undefined when they do not tell, or it may still happen. */
  async #judge(
    attempt: Attempt,
    found: TxnResponse['found'],
    { signal }: AbortOptions,
  ): Promise<CommitResult | undefined> {
    const own = attempt.writes
      .map((_, index) => found[index])
      .find((entry) => entry && isWrittenBy(attempt.nonce, entry.value))
    if (own) return { ok: true, revision: own.modified }
    const isOver = attempt.expected.some(({ expect }, index) => expect > 0 && (found[index]?.modified ?? 0) !== expect)
    if (!isOver) return undefined
    const revision = await this.#revisionOf(attempt, found, { signal })
    if (revision === 0) return this.#raceLost(attempt, found)
    return revision === undefined ? undefined : { ok: true, revision }
  }

  /** The revision at which a commit was made that others have written over; 0 if it never was, undefined if history does not tell. */
  async #revisionOf(
    { writes, nonce }: Attempt,
    found: TxnResponse['found'],
    { signal }: AbortOptions,
  ): Promise<number | undefined> {
    if (writes.some((write, index) => isUntouched(write, found[index]))) return 0
    const index = writes.findIndex(({ value, expect }, at) => value && expect > 0 && found[at])
    const expect = writes[index]?.expect
    let entry: KeyValue | undefined = found[index]
    for (let step = 0; entry && step < stepsBackMax; step++) {
      if (isWrittenBy(nonce, entry.value)) return entry.modified
      if (entry.modified === expect) return 0
      entry = await this.#before(entry, { signal })
    }
    return undefined
  }

  /** The same key before it got this value; undefined when that cannot be read any more. */
  async #before({ key, modified }: KeyValue, { signal }: AbortOptions): Promise<KeyValue | undefined> {
    try {
      return decodeRange(
        await this.#client.call(methods.range, encodeRange({ key, revision: modified - 1 }), { signal }),
      ).entries[0]
    } catch (error) {
      if (error instanceof RpcError) return undefined
      throw error
    }
  }
}

/** True when a write has certainly not happened: its key is as it was, or was to be deleted and has been there all along. */
function isUntouched({ value, expect }: Write, found: KeyValue | undefined): boolean {
  if (!found || expect === 0) return false
  return found.modified === expect || (!value && found.created <= expect)
}

/** The number of a lease; undefined for a text that no lease has. */
function parseLease(lease: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(lease)) return undefined
  const id = BigInt(lease)
  return id < 2n ** 63n ? id : undefined
}

function noLease(writes: readonly Write[], cause: RpcError): StoreError {
  const leases = [...new Set(writes.flatMap(({ lease }) => lease ?? []))]
  return new StoreError(
    'NoLease',
    `lease ${leases.join(' or ')} is gone; grant a new one before writing ${writes.map(({ key }) => key).join(', ')}`,
    { cause },
  )
}

function unknown({ writes }: Attempt, cause: RpcError): StoreError {
  return new StoreError(
    'Failed',
    `the answer to the commit of ${writes.map(({ key }) => key).join(', ')} was lost; it may or may not have been stored, read to know: ${cause.message}`,
    { cause },
  )
}

function throwUnknown(attempt: Attempt, cause: RpcError): never {
  throw unknown(attempt, cause)
}

/*
 * Leases: etcd counts them in whole seconds, and not below a few times its election timeout.
 *
 * Invariants: a lease lives at least as long as was asked for, and the caller is told how long; a
 * grant whose answer was lost is not made twice, because we choose the number of the lease.
 */

/** etcd's limit, some 285 years. */
const ttlSecondsMax = 9_000_000_000

export class EtcdLeases {
  readonly #client: EtcdClient
  readonly #random: Random

  constructor(client: EtcdClient, random: Random) {
    this.#client = client
    this.#random = random
  }

  async grant(ttlMs: number, { signal }: AbortOptions = {}): Promise<Lease> {
    const id = this.#newId()
    const seconds = Math.min(Math.ceil(ttlMs / 1000), ttlSecondsMax)
    try {
      const { ttl } = decodeLease(await this.#client.call(methods.grant, encodeGrant(id, seconds), { signal }))
      return { id: String(id), ttlMs: ttl * 1000 }
    } catch (error) {
      // The number is new, so the lease that has it is ours, from a try whose answer was lost.
      if (!(error instanceof RpcError && error.says('lease already exists'))) throw error
    }
    const granted = decodeGrantedTtl(await this.#client.call(methods.timeToLive, encodeLease(id), { signal }))
    return { id: String(id), ttlMs: Math.max(granted, seconds) * 1000 }
  }

  async renew(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    const id = parseLease(lease)
    if (id === undefined) return false
    return this.#client.attempt(
      async (connection) => {
        for await (const message of connection.stream(methods.keepAlive, encodeLease(id), { signal }))
          return decodeLease(message).ttl > 0
        throw new RpcError('Internal', 'etcd ended a keep-alive without a word', { isUncertain: true })
      },
      { signal },
    )
  }

  async revoke(lease: string, { signal }: AbortOptions = {}): Promise<boolean> {
    const id = parseLease(lease)
    if (id === undefined) return false
    try {
      await this.#client.call(methods.revoke, encodeLease(id), { signal })
      return true
    } catch (error) {
      if (error instanceof RpcError && error.says('requested lease not found')) return false
      throw error
    }
  }

  /** 63 random bits, never 0, which would mean that etcd chooses. */
  #newId(): bigint {
    return (BigInt(this.#random.uint32() >>> 1) << 32n) | BigInt(this.#random.uint32()) || 1n
  }
}
