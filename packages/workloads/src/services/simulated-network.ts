/**
 * A network in memory: the ports that a program listens on, servers of others, and clients. For tests and for the Explorer.
 *
 * A new subscriber is a program that has been started again: as a kernel does, the network then closes what the one before
 * listened on.
 *
 * A connection has two ends; what is written to one is read from the other. As in a kernel a write is done when there is
 * room at the other end, an end (`end`) is one for the reader of the other side, and a reset is an error for it.
 */
import { Duplex } from 'node:stream'
import {
  formatAddress,
  listenFailureOf,
  type Connection,
  type ConnectionFeed,
  type ListenFailure,
  type Network,
  type SocketAddress,
} from './network.ts'

type Accept = (connection: Connection, at: SocketAddress) => void

const everywhere: Readonly<Record<string, string>> = { '127.0.0.1': '0.0.0.0', '::1': '::' }

export class SimulatedNetwork implements Network {
  readonly #listening = new Map<string, SocketAddress>()
  readonly #servers = new Map<string, (connection: Connection) => void>()
  readonly #failures = new Map<string, ListenFailure>()
  #subscriber: Accept | undefined

  get connections(): ConnectionFeed {
    return {
      subscribe: (call) => {
        this.#listening.clear()
        this.#subscriber = call
        return () => {
          if (this.#subscriber === call) this.#subscriber = undefined
        }
      },
      dial: (to) =>
        new Promise((resolve) => {
          resolve(this.connect(to))
        }),
    }
  }

  listen(at: SocketAddress): Promise<ListenFailure | undefined> {
    const key = formatAddress(at)
    const isTaken = this.#servers.has(key) && !this.#listening.has(key)
    const failure = this.#failures.get(key) ?? (isTaken ? listenFailureOf('EADDRINUSE', at) : undefined)
    if (!failure) this.#listening.set(key, at)
    return Promise.resolve(failure)
  }

  unlisten(at: SocketAddress): Promise<void> {
    this.#listening.delete(formatAddress(at))
    return Promise.resolve()
  }

  /* What happens on the network, for tests. */

  /** Where the program listens. */
  listening(): readonly string[] {
    return [...this.#listening.keys()].sort()
  }

  /** From now on another program listens there, or none does. */
  serve(at: SocketAddress, accept: ((connection: Connection) => void) | undefined): void {
    if (accept) this.#servers.set(formatAddress(at), accept)
    else this.#servers.delete(formatAddress(at))
  }

  /** From now on nothing can listen there, or it can. */
  setFailure(at: SocketAddress, failure: ListenFailure | undefined): void {
    if (failure) this.#failures.set(formatAddress(at), failure)
    else this.#failures.delete(formatAddress(at))
  }

  /** A client connects. @throws when nothing listens there. */
  connect(to: SocketAddress): Connection {
    const places = [to, { ...to, address: everywhere[to.address] ?? to.address }]
    const [client, server] = connectionPair()
    for (const place of places) {
      const key = formatAddress(place)
      const accept = this.#servers.get(key)
      const at = this.#listening.get(key)
      const subscriber = this.#subscriber
      if (accept) accept(server)
      else if (at && subscriber) subscriber(server, at)
      else continue
      return client
    }
    throw connectionError('ECONNREFUSED', `nothing listens on ${formatAddress(to)}`)
  }
}

/** The two ends of a connection. */
function connectionPair(): readonly [Connection, Connection] {
  const [one, other] = [new MemoryConnection(), new MemoryConnection()]
  one.peer = other
  other.peer = one
  // As an accepted connection of this machine: nothing is read before its receiver does so.
  other.pause()
  return [one, other]
}

const bufferBytes = 16_384

class MemoryConnection extends Duplex implements Connection {
  peer!: MemoryConnection
  /** Goes on with a write of the other end, when there is room here. */
  #onRoom: (() => void) | undefined
  #isReset = false

  constructor() {
    super({ allowHalfOpen: true, highWaterMark: bufferBytes })
  }

  resetAndDestroy(): this {
    this.#isReset = true
    return this.destroy()
  }

  override _read(): void {
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    const { peer } = this
    if (peer.destroyed) done(connectionError('EPIPE', 'the other side has closed the connection'))
    else if (peer.push(chunk)) done()
    else peer.#onRoom = done
  }

  override _final(done: () => void): void {
    if (!this.peer.destroyed) this.peer.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { peer } = this
    this._read()
    if (!peer.destroyed && !this.writableFinished) {
      if (this.#isReset || error) peer.destroy(connectionError('ECONNRESET', 'the other side has reset the connection'))
      else peer.push(null)
    }
    done(error)
  }
}

function connectionError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
