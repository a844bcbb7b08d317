/**
 * External services in memory, for the right controllers. They are part of the world and are not mutated.
 */
import type { Driver } from 'evenkeel'

/** Buckets with names that the client chooses. */
export class Buckets {
  readonly buckets = new Map<string, { owner: string; region: string }>()

  ensure(name: string, { owner, region = 'here' }: { owner: string; region?: string }): void {
    this.buckets.set(name, { owner, region })
  }

  delete(name: string): void {
    this.buckets.delete(name)
  }

  find(name: string): { owner: string; region: string } | undefined {
    return this.buckets.get(name)
  }
}

/** Buckets with ids that the service chooses. The same token twice is the same bucket. */
export class NumberedBuckets {
  readonly buckets = new Map<string, { token: string; title: string }>()
  #last = 0

  create(token: string, title: string): string {
    const id = this.#idOf(token) ?? `b-${++this.#last}`
    this.buckets.set(id, { token, title })
    return id
  }

  delete(token: string): void {
    const id = this.#idOf(token)
    if (id !== undefined) this.buckets.delete(id)
  }

  #idOf(token: string): string | undefined {
    return [...this.buckets].find(([, bucket]) => bucket.token === token)?.[0]
  }
}

/** Names in a DNS zone, which also has a name of another team. */
export class Zone {
  readonly names = new Map<string, { owner: string; values: readonly string[] }>([
    ['mail', { owner: 'the mail team', values: ['10.0.0.9'] }],
  ])

  set(host: string, owner: string, values: readonly string[]): void {
    this.names.set(host, { owner, values })
  }

  remove(host: string): void {
    this.names.delete(host)
  }

  find(host: string): { owner: string; values: readonly string[] } | undefined {
    return this.names.get(host)
  }
}

/** Signs certificates; each gets the next serial number. A request is signed once. */
export class CertificateAuthority {
  readonly certificates = new Map<string, { serial: number; host: string }>()
  #last = 1000

  sign(request: string, host: string): { serial: number; host: string } {
    const signed = this.certificates.get(request) ?? { serial: ++this.#last, host }
    this.certificates.set(request, signed)
    return signed
  }

  revoke(request: string): void {
    this.certificates.delete(request)
  }
}

/** Addresses of a network; each owner has one. */
export class AddressPool {
  readonly addresses = new Map<string, string>()
  #last = 9

  allocate(owner: string): string {
    const address = this.addresses.get(owner) ?? `10.0.0.${++this.#last}`
    this.addresses.set(owner, address)
    return address
  }

  release(owner: string): void {
    this.addresses.delete(owner)
  }
}

/** Machines that take time to boot. */
export class Machines {
  readonly machines = new Map<string, { size: string; readyAtMs: number }>()
  readonly #clock: { now(): number }

  constructor(clock: { now(): number }) {
    this.#clock = clock
  }

  boot(name: string, size: string): void {
    if (this.machines.get(name)?.size !== size) this.machines.set(name, { size, readyAtMs: this.#clock.now() + 7_000 })
  }

  stop(name: string): void {
    this.machines.delete(name)
  }

  isRunning(name: string): boolean {
    return (this.machines.get(name)?.readyAtMs ?? Number.POSITIVE_INFINITY) <= this.#clock.now()
  }
}

/** Teams of a directory, with their members. */
export class Directory {
  readonly members = new Map<string, readonly string[]>()

  add(team: string, member: string): void {
    this.members.set(team, [...new Set([...this.list(team), member])].sort())
  }

  remove(team: string, member: string): void {
    this.members.set(
      team,
      this.list(team).filter((one) => one !== member),
    )
  }

  drop(team: string): void {
    this.members.delete(team)
  }

  list(team: string): readonly string[] {
    return this.members.get(team) ?? []
  }
}

/** A resource of a service with labels. */
interface Stored<Settings> {
  id: string
  observed: Settings
  labels: Record<string, unknown>
}

/** A service whose resources have settings and ownership labels, as in the guide of `external`. */
export class Labelled<Settings extends object> {
  readonly resources = new Map<string, Stored<Settings>>()
  #last = 0

  read(id: string): Stored<Settings> | undefined {
    return this.resources.get(id)
  }

  put(settings: Settings, labels: object): Stored<Settings> {
    const stored = { id: `r-${++this.#last}`, observed: settings, labels: { ...labels } }
    this.resources.set(stored.id, stored)
    return stored
  }

  change(id: string, settings: Settings, labels: object): void {
    if (!this.resources.has(id)) throw Object.assign(new Error(`no resource ${id}`), { status: 404 })
    this.resources.set(id, { id, observed: settings, labels: { ...labels } })
  }

  drop(id: string): void {
    this.resources.delete(id)
  }

  list(labels: object): Stored<Settings>[] {
    const wanted = Object.entries(labels)
    return [...this.resources.values()].filter((one) => wanted.every(([name, value]) => one.labels[name] === value))
  }
}

/** The part of a driver that is the same for every `Labelled`. */
export function labelledCalls<Settings extends object>(service: {
  [Name in 'read' | 'put' | 'change' | 'drop' | 'list']: (
    ...parameters: Parameters<Labelled<Settings>[Name]>
  ) => Promise<ReturnType<Labelled<Settings>[Name]>>
}): Pick<Driver<never, Settings, Settings>, 'observe' | 'create' | 'update' | 'remove' | 'list'> {
  return {
    observe: (id) => service.read(id),
    create: (settings, { labels }) => service.put(settings, labels),
    async update(id, settings, { labels }) {
      await service.change(id, settings, labels)
    },
    remove: (id) => service.drop(id),
    async *list({ labels }) {
      yield await service.list(labels)
    },
  }
}
