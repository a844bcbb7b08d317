/**
 * The proxies of all Services of this program, and where each of them listens.
 *
 * An address counts as ours from before the first attempt to listen on it until it is closed: after a lost answer it is listened
 * on again, or closed, and never forgotten.
 *
 * Invariant: a Service listens on at most one address, but for the time of a change.
 */
import { createLogger, type Clock, type Logger } from 'evenkeel/unstable/base'
import { formatAddress, type Connection, type ListenFailure, type Network, type SocketAddress } from './network.ts'
import { ServiceProxy, type ProxyNote } from './service-proxy.ts'

/** The Service that a proxy belongs to. */
export interface ServiceOwner {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

interface ProxiesOptions {
  readonly network: Network
  readonly clock: Clock
  /** @default none */
  readonly log?: Logger | undefined
  /** Something about a Service has changed that its object should show. */
  readonly onChange: (owner: ServiceOwner, note: string) => void
}

/** A Service of this program. */
interface Entry {
  readonly owner: ServiceOwner
  readonly proxy: ServiceProxy
  /** Notes that are not events yet. */
  readonly notes: ProxyNote[]
  /** Addresses that are ours; the value: whether it is known that we listen. The last one is the current one. */
  readonly addresses: Map<string, { readonly at: SocketAddress; isOpen: boolean }>
}

type Accept = (connection: Connection) => void

const silent = createLogger({ clock: { now: () => 0 } as Clock, sink: () => undefined })

export class Proxies {
  readonly #options: ProxiesOptions
  readonly #log: Logger
  readonly #entries = new Map<string, Entry>()
  readonly #accepts = new Map<string, Accept>()
  #unsubscribe: (() => void) | undefined

  constructor(options: ProxiesOptions) {
    this.#options = options
    this.#log = options.log ?? silent
  }

  /** Begins to receive connections. */
  open(): void {
    this.#unsubscribe ??= this.#options.network.connections.subscribe((connection, at) => {
      const accept = this.#accepts.get(formatAddress(at))
      if (accept) accept(connection)
      else connection.destroy()
    })
  }

  /** The proxy of a Service, made when there is none. */
  of(owner: ServiceOwner): ServiceProxy {
    return this.#entryOf(owner).proxy
  }

  /** Where a Service listens, or tries to. */
  addressOf(uid: string): SocketAddress | undefined {
    return [...(this.#entries.get(uid)?.addresses.values() ?? [])].at(-1)?.at
  }

  /** Notes that were not taken before. */
  takeNotes(uid: string): readonly ProxyNote[] {
    return this.#entries.get(uid)?.notes.splice(0) ?? []
  }

  /** From now on a Service listens there, and nowhere else. */
  async listen(owner: ServiceOwner, at: SocketAddress): Promise<ListenFailure | undefined> {
    const { addresses, proxy } = this.#entryOf(owner)
    const key = formatAddress(at)
    const others = [...addresses.values()].filter((one) => formatAddress(one.at) !== key)
    // Two addresses with one port exclude each other.
    for (const other of others) if (other.at.port === at.port) await this.#close(owner.uid, other.at)
    const known = addresses.get(key) ?? { at, isOpen: false }
    addresses.delete(key)
    addresses.set(key, known)
    if (!known.isOpen) {
      const failure = await this.listenWith(at, (connection) => {
        proxy.accept(connection)
      })
      if (failure) {
        addresses.delete(key)
        return failure
      }
      known.isOpen = true
    }
    for (const other of others) if (other.at.port !== at.port) await this.#close(owner.uid, other.at)
    return undefined
  }

  /** Listens for something that is no Service. */
  async listenWith(at: SocketAddress, accept: Accept): Promise<ListenFailure | undefined> {
    const key = formatAddress(at)
    this.#accepts.set(key, accept)
    const failure = await this.#options.network.listen(at)
    if (failure) this.#accepts.delete(key)
    return failure
  }

  async unlistenWith(at: SocketAddress): Promise<void> {
    await this.#options.network.unlisten(at)
    this.#accepts.delete(formatAddress(at))
  }

  /** A Service listens nowhere. Connections that were accepted go on. */
  async unlisten(uid: string): Promise<void> {
    for (const { at } of [...(this.#entries.get(uid)?.addresses.values() ?? [])]) await this.#close(uid, at)
  }

  /** The Service is gone. */
  forget(uid: string): void {
    this.#entries.get(uid)?.proxy.close()
    this.#entries.delete(uid)
  }

  /** Nothing is accepted any more: the program is stopping. */
  async stopListening(): Promise<void> {
    for (const uid of this.#entries.keys()) await this.unlisten(uid)
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  /** Ends every connection. */
  close(): void {
    for (const uid of [...this.#entries.keys()]) this.forget(uid)
  }

  async #close(uid: string, at: SocketAddress): Promise<void> {
    await this.unlistenWith(at)
    this.#entries.get(uid)?.addresses.delete(formatAddress(at))
  }

  #entryOf(owner: ServiceOwner): Entry {
    const known = this.#entries.get(owner.uid)
    if (known) return known
    const notes: ProxyNote[] = []
    const proxy = new ServiceProxy({
      clock: this.#options.clock,
      network: this.#options.network,
      onNote: (note) => {
        notes.push(note)
        const { namespace, name } = owner
        this.#log[note.type === 'Warning' ? 'warn' : 'info']('connections of a service', {
          kind: 'Service',
          object: name,
          namespace,
          reason: note.reason,
          note: note.note,
        })
        this.#options.onChange(owner, note.note)
      },
      onDrained: () => {
        this.#options.onChange(owner, 'its connections have ended')
      },
    })
    const entry: Entry = { owner, proxy, notes, addresses: new Map() }
    this.#entries.set(owner.uid, entry)
    return entry
  }
}
