/**
 * Who has which cluster IP and node port.
 *
 * A cluster IP is an IPAddress object, a node port an entry of its own; both are written and removed in the commit of the
 * Service. So no two Services ever have the same, also when several servers write to one store, and nothing is left over
 * after a crash:
 *
 *   commit: Service default/web (new)  +  IPAddress 10.96.8.7 (must be absent)  +  node port 30080 (must be absent)
 *
 * The informer of IPAddresses may be behind. Then the commit fails, and the write is repeated with what others took.
 */
import { formatApiVersion, formatTime, objectIn, textIn, textsIn, type UnstructuredObject } from '#api'
import { assert, randomUuid, type Clock, type Random } from '#base'
import { AddressRange, type AllocatedValues, type Allocations, type Resource } from '@evenkeel/builtins'
import type { Write } from '#store'
import type { Informer, Informers } from '../informers.ts'
import type { ResourceRef } from '../request-context.ts'
import { keyPrefix, objectKey, type Storage } from '../storage/storage.ts'
import { Unstamped } from '../storage/stored-object.ts'
import type { Registry } from './registry.ts'

interface AllocationServices {
  readonly informers: Informers
  readonly storage: Storage
  readonly registry: Registry
  readonly clock: Clock
  readonly random: Random
}

interface ObjectChange {
  readonly next?: UnstructuredObject
  readonly old?: UnstructuredObject
}

/** Node ports are not served as a resource: their keys are next to those of the core group. */
const portStorage = { group: '', plural: 'servicenodeports', version: 'v1', kind: 'ServiceNodePort' }
const networkingGroup = 'networking.k8s.io'
const none: readonly Write[] = []

export class ServiceAllocations {
  readonly #services: AllocationServices
  readonly #addresses: Informer
  readonly #cidrs: Informer
  readonly #addressResource: Resource
  /** The ranges of the cluster, as CIDRs. */
  readonly ranges: readonly string[]

  /** @throws {RangeError} for a range that is not valid, and for two of one family. */
  constructor(services: AllocationServices, ranges: readonly string[]) {
    checkRanges(ranges)
    this.ranges = ranges
    this.#services = services
    this.#addresses = services.informers.forResource(networkingGroup, 'ipaddresses')
    this.#cidrs = services.informers.forResource(networkingGroup, 'servicecidrs')
    const resource = services.registry.stored(networkingGroup, 'ipaddresses')
    assert(resource, 'IPAddresses are built in')
    this.#addressResource = resource
  }

  /** What is free for an object; undefined for kinds that allocate nothing. */
  async forWrite(target: ResourceRef): Promise<Allocations | undefined> {
    if (target.resource.strategy.allocated === undefined) return undefined
    const ports = await this.#takenPorts(target)
    return {
      ranges: this.#allRanges(),
      isTaken: (address) => {
        const holder = this.#addresses.get(address)
        return holder !== undefined && !isHeldBy(holder, target)
      },
      isPortTaken: (port) => ports.has(port),
    }
  }

  /**
   * The writes that go with a write of an object: what it takes and what it gives back. Undefined, without a turn of the
   * event loop, for kinds that allocate nothing.
   */
  writesFor(target: ResourceRef, change: ObjectChange): Promise<readonly Write[]> | undefined {
    const { allocated } = target.resource.strategy
    if (allocated === undefined) return undefined
    const valuesOf = (object: UnstructuredObject | undefined): AllocatedValues =>
      object ? allocated(object) : { addresses: [], ports: [] }
    return this.#writes(target, change, { after: valuesOf(change.next), before: valuesOf(change.old) })
  }

  async #writes(
    target: ResourceRef,
    { next, old }: ObjectChange,
    { after, before }: { readonly after: AllocatedValues; readonly before: AllocatedValues },
  ): Promise<readonly Write[]> {
    const owner = { ...target, name: (next ?? old)?.metadata.name ?? target.name }
    const [addresses, ports] = [added(after.addresses, before.addresses), added(after.ports, before.ports)]
    const released = [
      ...added(before.addresses, after.addresses).map((address) => this.#addressKey(address)),
      ...added(before.ports, after.ports).map((port) => this.#portKey(port)),
    ]
    return [
      ...addresses.map((address) => this.#takeAddress(address, owner)),
      ...ports.map((port) => this.#takePort(port, owner)),
      ...(await Promise.all(released.map((key) => this.#release(key)))).flat(),
    ]
  }

  /** Waits until the informers know what other writers took. Needed after a lost race, and for these kinds only. */
  async catchUp({ resource: { strategy } }: ResourceRef): Promise<void> {
    if (strategy.allocated === undefined) return
    const { informers, storage } = this.#services
    await informers.waitForRevision(await storage.store.head())
  }

  /** The configured ranges, and those of ServiceCIDRs that are ready. */
  #allRanges(): string[] {
    const more = this.#cidrs.list().filter(isReady)
    return [...new Set([...this.ranges, ...more.flatMap((cidr) => textsIn(objectIn(cidr, 'spec'), 'cidrs'))])]
  }

  async #takenPorts({ namespace, name }: ResourceRef): Promise<Set<number>> {
    const { store, cluster } = this.#services.storage
    const prefix = keyPrefix(cluster, portStorage)
    const range = await store.range(prefix)
    const entries = range.ok ? range.entries : []
    const own = ownerText({ namespace, name })
    return new Set(
      entries
        .filter(({ value }) => Buffer.from(value).toString() !== own)
        .map(({ key }) => Number(key.slice(key.lastIndexOf('/') + 1))),
    )
  }

  #addressKey(address: string): string {
    return objectKey(this.#services.storage.cluster, this.#addressResource.storage, { name: address })
  }

  #portKey(port: number): string {
    return objectKey(this.#services.storage.cluster, portStorage, { name: String(port) })
  }

  #takeAddress(address: string, { resource, namespace, name }: ResourceRef): Write {
    const { clock, random } = this.#services
    const { kind, group, version } = this.#addressResource.storage
    const { value, stampAt } = new Unstamped({
      kind,
      apiVersion: formatApiVersion({ group, version }),
      metadata: {
        name: address,
        uid: randomUuid(random),
        creationTimestamp: formatTime(clock.now()),
        labels: {
          'ipaddress.kubernetes.io/ip-family': address.includes(':') ? 'IPv6' : 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: resource.plural, namespace, name } },
    })
    return { key: this.#addressKey(address), value, stampAt, expect: 0 }
  }

  #takePort(port: number, owner: ResourceRef): Write {
    return { key: this.#portKey(port), value: Buffer.from(ownerText(owner)), expect: 0 }
  }

  async #release(key: string): Promise<readonly Write[]> {
    const found = await this.#services.storage.store.get(key)
    return found.ok && found.entry ? [{ key, expect: found.entry.revision }] : none
  }
}

/** @throws {RangeError} */
function checkRanges(ranges: readonly string[]): void {
  const parsed = ranges.map((cidr) => AddressRange.parse(cidr))
  if (ranges.length === 0 || parsed.includes(undefined))
    throw new RangeError(`serviceClusterIpRanges must be CIDRs such as 10.96.0.0/12, got ${JSON.stringify(ranges)}`)
  if (ranges.length > 2 || new Set(parsed.map((range) => range?.family)).size < ranges.length)
    throw new RangeError(`serviceClusterIpRanges must be one range of each family, got ${JSON.stringify(ranges)}`)
}

function added<T>(after: readonly T[], before: readonly T[]): T[] {
  return after.filter((one) => !before.includes(one))
}

function ownerText({ namespace, name }: Pick<ResourceRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

function isHeldBy(address: UnstructuredObject, { resource, namespace, name }: ResourceRef): boolean {
  const parent = objectIn(objectIn(address, 'spec'), 'parentRef')
  return (
    textIn(parent, 'resource') === resource.plural &&
    textIn(parent, 'namespace') === namespace &&
    textIn(parent, 'name') === name
  )
}

/** A ServiceCIDR without the condition counts as ready: no controller may be there to set it. */
function isReady(cidr: UnstructuredObject): boolean {
  const { conditions } = objectIn(cidr, 'status') as {
    readonly conditions?: readonly { type: string; status: string }[]
  }
  const ready = conditions?.find(({ type }) => type === 'Ready')
  return cidr.metadata.deletionTimestamp === undefined && (ready?.status ?? 'True') === 'True'
}
