/**
 * Ports for processes that leave the choice to us: distinct, stable over restarts, and outside the range from which the
 * kernel takes ports for outgoing connections, so that it never takes one away between two runs.
 *
 * A reservation belongs to an object and the name of a port. It is written into the status; another Evenkeel begins with the
 * reservations that it finds there.
 *
 * Invariants: two objects never have the same reserved port; a reservation does not move while no other program listens on it.
 */
import type { PortHolder, ProcessHost } from './process-host.ts'

interface PortRequest {
  readonly name: string
  /** 0: any. */
  readonly port: number
}

export interface NamedPort {
  readonly name: string
  readonly port: number
}

type PortResult =
  | { readonly ports: readonly NamedPort[] }
  | { readonly taken: PortHolder }
  | { readonly reservedBy: string; readonly port: number }

interface PortsOptions {
  readonly host: Pick<ProcessHost, 'findPortHolders'>
  /** The first and the last port to choose from. @default 10000 to 32767, below the range of Linux */
  readonly range?: readonly [first: number, last: number]
}

/** How many ports are tried in one call of the host. */
const triedAtOnce = 16

export class Ports {
  readonly #host: Pick<ProcessHost, 'findPortHolders'>
  readonly #range: readonly [first: number, last: number]
  /** By port: the object. */
  readonly #owners = new Map<number, string>()
  /** By object: its ports. */
  readonly #reserved = new Map<string, NamedPort[]>()

  constructor({ host, range = [10_000, 32_767] }: PortsOptions) {
    this.#host = host
    this.#range = range
  }

  /** Whether a port is one of those that are chosen from. */
  isInRange(port: number): boolean {
    return port >= this.#range[0] && port <= this.#range[1]
  }

  /** Takes over the ports in a status, unless they are reserved already. */
  adopt(uid: string, ports: readonly NamedPort[]): void {
    for (const port of ports) if (!this.#owners.has(port.port)) this.#reserve(uid, port)
  }

  /** Ports for a run that is about to start: none of them is taken. */
  async allocate(uid: string, requests: readonly PortRequest[]): Promise<PortResult> {
    const fixed = requests.filter(({ port }) => port !== 0)
    const conflict = fixed.find(({ port }) => (this.#owners.get(port) ?? uid) !== uid)
    if (conflict) return { reservedBy: this.#owners.get(conflict.port) ?? '', port: conflict.port }
    const kept = (this.#reserved.get(uid) ?? []).filter(({ name }) =>
      requests.some((one) => one.name === name && one.port === 0),
    )
    const holders = await this.#host.findPortHolders([...fixed, ...kept].map(({ port }) => port))
    const taken = holders.find(({ port }) => fixed.some((one) => one.port === port))
    if (taken) return { taken }
    this.release(uid)
    for (const port of fixed) this.#reserve(uid, port)
    for (const port of kept) if (!holders.some((holder) => holder.port === port.port)) this.#reserve(uid, port)
    for (const { name } of requests) if (!this.#portOf(uid, name)) await this.#choose(uid, name)
    return { ports: requests.flatMap(({ name }) => this.#portOf(uid, name) ?? []) }
  }

  /** The object is gone. */
  release(uid: string): void {
    for (const { port } of this.#reserved.get(uid) ?? []) this.#owners.delete(port)
    this.#reserved.delete(uid)
  }

  #portOf(uid: string, name: string): NamedPort | undefined {
    return this.#reserved.get(uid)?.find((one) => one.name === name)
  }

  #reserve(uid: string, port: NamedPort): void {
    this.#owners.set(port.port, uid)
    this.#reserved.set(uid, [...(this.#reserved.get(uid) ?? []), { name: port.name, port: port.port }])
  }

  /** Reserves candidates before they are tried: others that choose meanwhile get different ones. */
  async #choose(uid: string, name: string): Promise<void> {
    for (let next = this.#range[0]; ;) {
      const candidates: number[] = []
      for (; candidates.length < triedAtOnce && next <= this.#range[1]; next++)
        if (!this.#owners.has(next)) candidates.push(next)
      if (candidates.length === 0)
        throw new Error(`no port from ${this.#range.join(' to ')} is free: end a process, or choose a fixed port`)
      for (const port of candidates) this.#owners.set(port, uid)
      const holders = await this.#host.findPortHolders(candidates).catch((error: unknown) => {
        for (const port of candidates) this.#owners.delete(port)
        throw error
      })
      const free = candidates.find((port) => !holders.some((holder) => holder.port === port))
      for (const port of candidates) this.#owners.delete(port)
      if (free === undefined) continue
      this.#reserve(uid, { name, port: free })
      return
    }
  }
}
