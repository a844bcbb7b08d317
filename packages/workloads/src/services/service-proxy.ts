/**
 * The connections of one Service: each is passed on to one of its ready endpoints in turn, or waits for one.
 *
 *   client ──▶ endpoint ready? ──▶ dial, the next one if it fails ──▶ joined until both have ended
 *                  └ none, or none answers ──▶ parking lot ──▶ dialled again when the endpoints change, and every 200 ms
 *
 * Invariants: an endpoint that is withdrawn gets no more connections and keeps those that it has; a note about waiting and one
 * about dropped connections is given once until a connection gets through, however many there are.
 */
import { deadline, onAbort, type Clock } from 'evenkeel/unstable/base'
import { joinConnections, type ConnectionPair } from './connection-pair.ts'
import { HeldConnection } from './held-connection.ts'
import { formatAddress, type Connection, type Network, type SocketAddress } from './network.ts'
import { ParkingLot, type DropReason, type Waiter } from './parking-lot.ts'

/** What people should know about the connections of a service. */
export interface ProxyNote {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
}

interface ServiceProxyOptions {
  readonly clock: Clock
  readonly network: Pick<Network, 'connections'>
  readonly onNote: (note: ProxyNote) => void
  /** The last connection has ended after `drain` was called. */
  readonly onDrained: () => void
}

/** How long an endpoint may take to answer, when those that did not are tried again, and how long an end may take. */
const [dialMs, retryMs, endMs] = [5000, 200, 1000]

/** A connection that was not given an endpoint. */
export class NoEndpointError extends Error {
  override readonly name = 'NoEndpointError'
}

const dropTexts: Readonly<Record<DropReason, string>> = {
  TooMany: 'more than 100 connections waited for an endpoint: the oldest are closed',
  TooLong: 'connections waited 30 s for an endpoint, and none got ready: they are closed',
  Closed: 'connections waited for an endpoint when the Service was deleted: they are closed',
}

export class ServiceProxy {
  readonly #options: ServiceProxyOptions
  readonly #lot: ParkingLot
  readonly #dialling = new Set<Waiter>()
  readonly #open = new Set<ConnectionPair>()
  readonly #noted = new Set<string>()
  #endpoints: readonly SocketAddress[] = []
  #next = 0
  #cancelRetry: (() => void) | undefined
  #drainSinceMs: number | undefined

  constructor(options: ServiceProxyOptions) {
    this.#options = options
    this.#lot = new ParkingLot({
      clock: options.clock,
      onDrop: (reason) => {
        this.#note({ type: 'Warning', reason: 'ConnectionsDropped', note: dropTexts[reason] })
      },
    })
  }

  /** From now on connections go to these. */
  setEndpoints(endpoints: readonly SocketAddress[]): void {
    const isSame = endpoints.map(formatAddress).join() === this.#endpoints.map(formatAddress).join()
    this.#endpoints = endpoints
    if (!isSame) this.#retry()
  }

  /** A client has connected. */
  accept(client: Connection): void {
    const waiter: Waiter = new HeldConnection(client, {
      onGiven: (endpoint, head) => {
        this.#track(joinConnections(client, endpoint, { head }))
      },
      onGone: () => {
        this.#lot.leave(waiter)
      },
    })
    this.#seek(waiter)
  }

  /** A connection to an endpoint, as soon as there is one. @throws {NoEndpointError} @throws the reason of the signal */
  connect({ signal }: { readonly signal: AbortSignal }): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const waiter = {
        isGone: false,
        give: (endpoint: Connection) => {
          stop()
          this.#track(pairOf(endpoint))
          resolve(endpoint)
        },
        drop: (reason: DropReason) => {
          stop()
          waiter.isGone = true
          reject(new NoEndpointError(dropTexts[reason]))
        },
      }
      const stop = onAbort(signal, (reason) => {
        waiter.isGone = true
        this.#lot.leave(waiter)
        reject(reason as Error)
      })
      if (!signal.aborted) this.#seek(waiter)
    })
  }

  /**
   * Takes the next step to end all connections: those that wait at once, the others when they have had `drainMs` to end by
   * themselves. Returns when to take the next one; undefined when none is left.
   */
  drain(drainMs: number): number | undefined {
    const nowMs = this.#options.clock.monotonic()
    this.#drainSinceMs ??= nowMs
    this.#cancelRetry?.()
    this.#lot.close()
    const leftMs = this.#drainSinceMs + drainMs - nowMs
    if (this.#open.size === 0) return undefined
    if (leftMs > 0) return leftMs
    for (const pair of this.#open) {
      if (leftMs > -endMs) pair.end()
      else pair.reset()
    }
    return leftMs > -endMs ? leftMs + endMs : undefined
  }

  /** Ends all connections by itself. */
  close(): void {
    if (this.drain(0) !== undefined)
      this.#options.clock.after(endMs, () => {
        this.drain(0)
      })
  }

  #seek(waiter: Waiter): void {
    if (this.#drainSinceMs !== undefined) waiter.drop('Closed')
    else if (this.#endpoints.length === 0) this.#park(waiter)
    // A dial that fails is an answer.
    else void this.#attempt(waiter)
  }

  async #attempt(waiter: Waiter): Promise<void> {
    if (this.#dialling.has(waiter)) return
    this.#dialling.add(waiter)
    const endpoint = await this.#dial()
    this.#dialling.delete(waiter)
    if (waiter.isGone || this.#drainSinceMs !== undefined) {
      endpoint?.destroy()
      if (!waiter.isGone) waiter.drop('Closed')
    } else if (endpoint) {
      this.#lot.leave(waiter)
      this.#noted.clear()
      waiter.give(endpoint)
    } else this.#park(waiter)
  }

  /** Tries every endpoint once, beginning with the next one. */
  async #dial(): Promise<Connection | undefined> {
    const { clock, network } = this.#options
    const endpoints = this.#endpoints
    const first = this.#next++
    for (const index of endpoints.keys()) {
      const to = endpoints[(first + index) % endpoints.length]
      if (!to) continue
      const limit = deadline(clock, dialMs)
      try {
        return await network.connections.dial(to, { signal: limit.signal })
      } catch {
        // The next one may answer; when none does, the connection waits.
      } finally {
        limit.done()
      }
    }
    return undefined
  }

  #park(waiter: Waiter): void {
    this.#lot.add(waiter)
    const count = this.#endpoints.length
    this.#note({
      type: 'Normal',
      reason: 'ConnectionsWaiting',
      note:
        count === 0
          ? 'connections wait for an endpoint: none is ready'
          : `connections wait for an endpoint: none of ${count} accepts a connection`,
    })
    if (count > 0)
      this.#cancelRetry ??= this.#options.clock.after(retryMs, () => {
        this.#retry()
      })
  }

  #retry(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    if (this.#endpoints.length > 0) for (const waiter of this.#lot.waiters()) void this.#attempt(waiter)
  }

  #track(pair: ConnectionPair): void {
    this.#open.add(pair)
    void pair.closed.then(() => {
      this.#open.delete(pair)
      if (this.#drainSinceMs !== undefined && this.#open.size === 0) this.#options.onDrained()
    })
  }

  #note(note: ProxyNote): void {
    if (this.#noted.has(note.reason)) return
    this.#noted.add(note.reason)
    this.#options.onNote(note)
  }
}

/** A connection whose client speaks for itself: the router. */
function pairOf(endpoint: Connection): ConnectionPair {
  return {
    closed: new Promise((resolve) => {
      endpoint.once('close', () => {
        resolve()
      })
    }),
    end: () => undefined,
    reset: () => {
      endpoint.resetAndDestroy()
    },
  }
}
