/**
 * Leases: etcd counts them in whole seconds, and not below a few times its election timeout.
 *
 * Invariants: a lease lives at least as long as was asked for, and the caller is told how long; a
 * grant whose answer was lost is not made twice, because we choose the number of the lease.
 */
import type { AbortOptions, Random } from '#base'
import type { Lease } from '../store.ts'
import { parseLease } from './commits.ts'
import { methods } from './rpc/client.ts'
import type { EtcdClient } from './rpc/client.ts'
import { decodeGrantedTtl, decodeLease, encodeGrant, encodeLease } from './rpc/control-messages.ts'
import { RpcError } from './rpc/rpc-error.ts'

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
