/**
 * Ports of Processes and Services come from one allocator, so that no two objects get the same.
 *
 * Before the first port is chosen, those in the statuses of all objects are taken over: an earlier Evenkeel has chosen them.
 */
import type { Client } from 'evenkeel'
import type { NamedPort, Ports } from '../ports.ts'
import type { LaunchFailure, PortHolder, ProcessHost } from '../process-host.ts'
import { Process } from '../process-kind.ts'
import type { Session } from '../session.ts'
import { Service } from './service-kind.ts'

interface PortClaimsOptions {
  /** Containers take theirs from it as well. */
  readonly ports: Ports
  readonly host: Pick<ProcessHost, 'findPortHolders'>
  readonly session: Pick<Session, 'runs'>
}

interface Reading {
  readonly client: Pick<Client, 'list'>
}

/** What a Service requests. A port that a person has fixed is not kept when the choice is ours again. */
export function requestFor(port: number): NamedPort {
  return { name: port === 0 ? 'chosen' : 'fixed', port }
}

export class PortClaims {
  readonly #options: PortClaimsOptions
  readonly #ports: Ports
  #hasAdopted = false

  constructor(options: PortClaimsOptions) {
    this.#options = options
    this.#ports = options.ports
  }

  /** Ports that nothing listens on; 0 stands for any, which then stays the same. */
  async allocate(
    uid: string,
    requests: readonly NamedPort[],
    reading: Reading,
  ): Promise<{ readonly ports: readonly NamedPort[] } | LaunchFailure> {
    if (requests.length === 0) return { ports: [] }
    await this.#adopt(reading)
    const result = await this.#ports.allocate(uid, requests)
    if ('ports' in result) return result
    if ('taken' in result) return takenBy(result.taken)
    const owner = await findOwner(result.reservedBy, reading)
    return { reason: 'PortTaken', message: `port ${result.port} belongs to ${owner}: choose another port` }
  }

  /** Whether a Service that listens there may stay. */
  isKept(port: number, wanted: number): boolean {
    return wanted === 0 ? this.#ports.isInRange(port) : wanted === port
  }

  /** A port for this program itself: no object gets it. */
  reserve(name: string, port: number): void {
    this.#ports.adopt(name, [{ name, port }])
  }

  /** Who listens on a port, as the reason why it cannot be had. */
  async explain(port: number): Promise<LaunchFailure> {
    const [holder] = await this.#options.host.findPortHolders([port])
    return takenBy(holder ?? { port })
  }

  /** The object is gone. */
  release(uid: string): void {
    this.#ports.release(uid)
  }

  async #adopt({ client }: Reading): Promise<void> {
    if (this.#hasAdopted) return
    const [processes, services] = await Promise.all([client.list(Process), client.list(Service)])
    if (this.#hasAdopted) return
    this.#hasAdopted = true
    for (const { owner, ports } of this.#options.session.runs()) this.#ports.adopt(owner.uid, ports)
    for (const { metadata, status } of processes.items)
      if (metadata.uid !== undefined) this.#ports.adopt(metadata.uid, status?.run?.ports ?? [])
    for (const { metadata, status, spec } of services.items)
      if (metadata.uid !== undefined && status?.port !== undefined && spec.proxyless !== true)
        if (this.isKept(status.port, spec.port ?? 0))
          this.#ports.adopt(metadata.uid, [{ ...requestFor(spec.port ?? 0), port: status.port }])
  }
}

function takenBy({ port, pid, command }: PortHolder): LaunchFailure {
  const holder = pid === undefined ? 'a process of another user' : `process ${pid} (${command ?? 'unknown'})`
  return { reason: 'PortTaken', message: `port ${port} is taken by ${holder}: end it, or choose another port` }
}

async function findOwner(uid: string, { client }: Reading): Promise<string> {
  for (const kind of [Process, Service] as const) {
    const { items } = await client.list(kind)
    const found = items.find(({ metadata }) => metadata.uid === uid)
    if (found) return `${kind.kind} ${found.metadata.namespace ?? 'default'}/${found.metadata.name ?? ''}`
  }
  return uid === routerPort ? 'the router' : 'another object'
}

/** Stands for the router where others have a uid. */
export const routerPort = 'router'
