/**
 * Commits and leases in etcd.
 *
 * A commit is one transaction, and etcd assigns its revision:
 *
 *   compare every key with its expected revision ──all equal──▶ put and delete
 *                                                └──otherwise──▶ read the keys, to report the conflict
 *
 * When the response is lost, the commit may have been applied, may not have been, or may still be
 * applied: the request can be in progress. Then the keys are read again:
 *
 *   a key carries our nonce, or did before ───────────────▶ applied, at the revision of that key
 *   a key changed from what we expected, without our nonce ▶ not applied, and never will be: a conflict
 *   no key changed, and a write expects a revision ────────▶ retry: of two attempts at most one succeeds
 *   anything else ─────────────────────────────────────────▶ unknown; the caller gets `Failed`
 *
 * Leases: etcd counts in whole seconds, and not below a few times its election timeout. The id of a
 * lease is chosen here, so that a grant whose response was lost is not made twice.
 *
 * Invariants: a commit is applied at most once; the result is `ok` only for a commit that was
 * applied, with its revision, and not `ok` only for one that never will be; a lease lives at least
 * as long as requested, and the caller gets its real time to live.
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
  /** Writes, then checks: a conflict reports the first one in this order. */
  readonly expected: readonly Check[]
  readonly nonce: Uint8Array
  readonly request: ProtobufWriter
}

/** The id for an invalid lease name: etcd refuses it, but only after it has compared the keys. */
const noSuchLease = 2n ** 63n - 1n

/** How many times a commit whose response was lost is retried, and how many versions back a key is searched. */
const retriesMax = 3
const stepsBackMax = 64

/** Commits writes as etcd transactions. */
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

  /** @throws {StoreError} `NoLease`, `Failed` when the outcome is unknown, or an `RpcError`. */
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
        if (!lost) return this.#conflict(attempt, found)
        return (await this.#outcomeFrom(attempt, found, { signal })) ?? throwUnknown(attempt, lost)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (!error.isUncertain && !lost) throw error.says('requested lease not found') ? noLease(writes, error) : error
        this.#log.warn('lost the response to a commit; checking whether it was applied', { key: writes[0]?.key, error })
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

  /** The first key that is not at its expected revision. */
  #conflict({ expected }: Attempt, found: TxnResponse['found']): CommitResult {
    const index = expected.findIndex(({ expect }, at) => (found[at]?.modified ?? 0) !== expect)
    const current = found[index]
    return { ok: false, key: expected[index]?.key ?? '', current: current && this.#keyspace.entry(current) }
  }

  /** The outcome of a commit whose response was lost; undefined when it was not applied and a retry is safe. */
  async #resolve(attempt: Attempt, cause: RpcError, { signal }: AbortOptions): Promise<CommitResult | undefined> {
    const keys = attempt.expected.map(({ key }) => this.#keyspace.inEtcd(key))
    let found: TxnResponse['found']
    try {
      found = decodeTxn(await this.#client.call(methods.txn, encodeReads(keys), { signal })).found
    } catch (error) {
      throw error instanceof RpcError ? unknown(attempt, cause) : error
    }
    const outcome = await this.#outcomeFrom(attempt, found, { signal })
    if (outcome) return outcome
    const isUnmoved = attempt.expected.every(({ expect }, index) => (found[index]?.modified ?? 0) === expect)
    const isFenced = attempt.writes.some(({ expect }) => expect > 0)
    return isUnmoved && isFenced ? undefined : throwUnknown(attempt, cause)
  }

  /** The outcome of a commit according to the current state of its keys; undefined when that does not tell, or when it may still be applied. */
  async #outcomeFrom(
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
    if (revision === 0) return this.#conflict(attempt, found)
    return revision === undefined ? undefined : { ok: true, revision }
  }

  /** The revision of a commit whose keys were overwritten since; 0 if it was never applied, undefined if the history does not tell. */
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
      entry = await this.#previousVersion(entry, { signal })
    }
    return undefined
  }

  /** The previous version of a key; undefined when it is compacted or cannot be read. */
  async #previousVersion({ key, modified }: KeyValue, { signal }: AbortOptions): Promise<KeyValue | undefined> {
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

/** True when a write was certainly not applied: its key is unchanged, or should have been deleted and has existed ever since. */
function isUntouched({ value, expect }: Write, found: KeyValue | undefined): boolean {
  if (!found || expect === 0) return false
  return found.modified === expect || (!value && found.created <= expect)
}

/** The numeric id of a lease; undefined for an invalid name. */
function parseLease(lease: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(lease)) return undefined
  const id = BigInt(lease)
  return id < 2n ** 63n ? id : undefined
}

function noLease(writes: readonly Write[], cause: RpcError): StoreError {
  const leases = [...new Set(writes.flatMap(({ lease }) => lease ?? []))]
  return new StoreError(
    'NoLease',
    `cannot write ${writes.map(({ key }) => key).join(', ')}: lease ${leases.join(' or ')} does not exist; grant a new lease`,
    { cause },
  )
}

function unknown({ writes }: Attempt, cause: RpcError): StoreError {
  return new StoreError(
    'Failed',
    `lost the response to the commit of ${writes.map(({ key }) => key).join(', ')} (${cause.message}): it may or may not have been stored; read the keys to find out`,
    { cause },
  )
}

function throwUnknown(attempt: Attempt, cause: RpcError): never {
  throw unknown(attempt, cause)
}

/** The limit of etcd, about 285 years. */
const ttlSecondsMax = 9_000_000_000

/** Leases in etcd. */
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
      // The id is random, so the existing lease is ours, from an attempt whose response was lost.
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
        throw new RpcError('Internal', 'etcd ended a LeaseKeepAlive stream without a response', { isUncertain: true })
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

  /** 63 random bits; never 0, which would make etcd choose the id. */
  #newId(): bigint {
    return (BigInt(this.#random.uint32() >>> 1) << 32n) | BigInt(this.#random.uint32()) || 1n
  }
}
