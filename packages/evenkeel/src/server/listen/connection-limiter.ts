/**
 * Who is connected: how many connections there may be, and which of them belong to known users.
 *
 * A connection is unknown until one of its requests has shown valid credentials. When there are too many connections, in
 * all or from one address, the oldest unknown one gives way to the new one. So whoever opens thousands of connections
 * without credentials only disconnects its own, and a client with credentials always gets in. What one user has beyond
 * half of all connections gives way as if it were unknown: nobody can hold all of them.
 *
 * Invariants: a known connection within the share of its user is never disconnected for a new one. A closed connection
 * leaves nothing behind.
 *
 *   limit 3     unknown: a b c     d arrives: a is disconnected     unknown: b c d
 *               b authenticates    unknown: c d, known: b           e arrives: c is disconnected
 */
import type { Socket } from 'node:net'
import type { ListenLimits } from './connection.ts'
import { HeldBytes } from './held-bytes.ts'

/** The part of all unread bytes that one user may have. */
const userShare = 0.25
/** The part of all connections that one user may keep. */
const connectionShare = 0.5

type ConnectionLimits = Pick<
  ListenLimits,
  'connectionsMax' | 'connectionsPerAddressMax' | 'unreadBytesMax' | 'unreadBytesPerConnectionMax'
>

/** The connections from one address. */
interface Address {
  count: number
  /** Oldest first. */
  readonly unknown: Set<Socket>
}

/** One connection. */
export interface AdmittedConnection {
  readonly held: HeldBytes
  /** The connection has shown the credentials of this user. */
  identify(user: string): void
}

export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #held: HeldBytes
  readonly #addresses = new Map<string, Address>()
  readonly #users = new Map<string, { readonly held: HeldBytes; connections: number }>()
  /** Oldest first. */
  readonly #unknown = new Set<Socket>()
  #count = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    this.#held = new HeldBytes(limits.unreadBytesMax)
  }

  /** Counts a connection until it closes; undefined when there is no room for it. */
  admit(socket: Socket): AdmittedConnection | undefined {
    const { connectionsMax, connectionsPerAddressMax, unreadBytesPerConnectionMax } = this.#limits
    const { remoteAddress: name = '' } = socket
    const address = this.#addresses.get(name) ?? { count: 0, unknown: new Set<Socket>() }
    // One that gives way at its address makes room for all.
    const isAddressFull = address.count >= connectionsPerAddressMax
    if (isAddressFull && !disconnectOldest(address.unknown)) return undefined
    if (!isAddressFull && this.#count >= connectionsMax && !disconnectOldest(this.#unknown)) return undefined
    this.#addresses.set(name, address)
    address.count++
    this.#count++
    for (const unknown of [this.#unknown, address.unknown]) unknown.add(socket)
    const held = new HeldBytes(unreadBytesPerConnectionMax, { parent: this.#held })
    const identify = this.#identification(socket, { address, held })
    socket.on('close', () => {
      this.#count--
      this.#unknown.delete(socket)
      address.unknown.delete(socket)
      if (--address.count === 0) this.#addresses.delete(name)
    })
    return { held, identify }
  }

  /** The first user of a connection owns what it holds; proxies may send requests of several. */
  #identification(
    socket: Socket,
    { address, held }: { readonly address: Address; readonly held: HeldBytes },
  ): (user: string) => void {
    let isKnown = false
    return (user) => {
      if (isKnown || socket.destroyed) return
      isKnown = true
      const account = this.#users.get(user) ?? {
        held: new HeldBytes(this.#limits.unreadBytesMax * userShare, { parent: this.#held }),
        connections: 0,
      }
      this.#users.set(user, account)
      account.connections++
      if (account.connections <= this.#limits.connectionsMax * connectionShare) {
        this.#unknown.delete(socket)
        address.unknown.delete(socket)
      }
      if (!held.moveTo(account.held)) socket.destroy()
      socket.on('close', () => {
        if (--account.connections === 0) this.#users.delete(user)
      })
    }
  }
}

/** False when there is none. */
function disconnectOldest(unknown: Set<Socket>): boolean {
  for (const socket of unknown) {
    unknown.delete(socket)
    if (socket.destroyed) continue
    socket.destroy()
    return true
  }
  return false
}
