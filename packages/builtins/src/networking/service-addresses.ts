/**
 * Allocation of the cluster IPs and node ports of Services.
 *
 * Cluster IPs come from the service ranges of the cluster, node ports from 30000-32767; no two Services get the same. The
 * search starts at a hash of namespace and name, so that a recreated Service gets its old address, and continues until one
 * is free. The first addresses and ports of a range are left to those who choose theirs. A value chosen by the client is kept if it
 * is free; an allocated value is kept. No proxy serves these addresses.
 *
 * A refusal here comes before validation, as in kube-apiserver, and alone.
 */
import {
  deepEqual,
  fieldError,
  FieldPath,
  internalError,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftsIn, ensureDraft } from '../defaulting.ts'
import type { AllocatedValues, Allocations, ObjectDraft, WriteContext } from '../resource.ts'
import { AddressRange, type Family } from './address-range.ts'
import { validateClusterIPs } from './service-cluster-ips.ts'
import { setFamilies } from './service-families.ts'

export const defaultServiceRange = '10.96.0.0/12'
const [nodePortMin, nodePortMax] = [30_000, 32_767]
/** How many of the first node ports are for clients that choose. */
const staticPorts = 86
const specPath = FieldPath.of('spec')

const unlimited: Allocations = { ranges: [defaultServiceRange], isTaken: () => false, isPortTaken: () => false }

/** Allocates cluster IPs, IP families and node ports. Refuses values of another Service. */
export function allocateService(
  service: ObjectDraft,
  { allocations = unlimited, refuse }: Pick<WriteContext, 'allocations' | 'refuse'> = {},
  old?: UnstructuredObject,
): void {
  const spec = ensureDraft(service, 'spec')
  const before = old && objectIn(old, 'spec')
  const seed = `${textIn(service.metadata, 'namespace')}/${textIn(service.metadata, 'name')}`
  if (spec['type'] !== 'ExternalName') {
    if (textsIn(spec, 'clusterIPs').length === 0 && textIn(spec, 'clusterIP') !== '')
      spec['clusterIPs'] = [textIn(spec, 'clusterIP')]
    // What is wrong already is reported by validation.
    if (validateClusterIPs(spec).length > 0) return
    const unavailable = setFamilies(spec, { before, ranges: rangesOf(allocations) })
    const errors = unavailable.length > 0 ? unavailable : allocateAddresses(spec, { before, allocations, seed })
    errors.forEach((error) => refuse?.(error))
    if (errors.length > 0) return
  }
  const ports = new PortAllocation(spec, { before, allocations, seed })
  for (const error of ports.allocate()) refuse?.(error)
}

/** The values that no other Service may have. */
export function allocatedValues(service: UnstructuredObject): AllocatedValues {
  const spec = objectIn(service, 'spec')
  const hasAddresses = spec['type'] !== 'ExternalName'
  const ports = new Set([...usedPorts(spec), numberIn(spec, 'healthCheckNodePort') ?? 0])
  ports.delete(0)
  return {
    addresses: hasAddresses ? textsIn(spec, 'clusterIPs').filter((one) => one !== 'None' && one !== '') : [],
    ports: [...ports],
  }
}

/** Restores allocated values that an update left out. */
export function keepServiceAllocations(service: ObjectDraft, old: UnstructuredObject): void {
  const [spec, before] = [ensureDraft(service, 'spec'), objectIn(old, 'spec')]
  if (spec['type'] !== 'ExternalName' && before['type'] !== 'ExternalName') keepAddresses(spec, before)
  if (needsNodePorts(spec) && needsNodePorts(before)) keepNodePorts(spec, before)
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(before)) {
    if ((numberIn(spec, 'healthCheckNodePort') ?? 0) === 0)
      spec['healthCheckNodePort'] = numberIn(before, 'healthCheckNodePort') ?? 0
  }
}

/** `clusterIP` is the older of two linked fields: a client that changes it alone means both. */
function keepAddresses(spec: JsonObjectDraft, before: JsonObject): void {
  const [address, old] = [textIn(spec, 'clusterIP'), textIn(before, 'clusterIP')]
  const isSameList = deepEqual(spec['clusterIPs'], before['clusterIPs'])
  if (address !== '' && address !== old && isSameList) spec['clusterIPs'] = [address]
  if (address === '' && isSameList) delete spec['clusterIPs']
  if (address === '') spec['clusterIP'] = old
  if ((address === '' || address === old) && textsIn(spec, 'clusterIPs').length === 0)
    spec['clusterIPs'] = [...textsIn(before, 'clusterIPs')]
  for (const key of ['ipFamilies', 'ipFamilyPolicy'])
    if (spec[key] === undefined && before[key] !== undefined) spec[key] = before[key]
}

export function needsNodePorts(spec: JsonObject): boolean {
  return spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer'
}

/** A load balancer with `externalTrafficPolicy: Local` needs a health check node port. */
export function needsHealthCheckPort(spec: JsonObject): boolean {
  return spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'
}

interface AllocationOptions {
  /** The spec of the stored Service. */
  readonly before: JsonObject | undefined
  readonly allocations: Allocations
  readonly seed: string
}

function rangesOf({ ranges }: Allocations): AddressRange[] {
  return ranges.flatMap((cidr) => AddressRange.parse(cidr) ?? [])
}

/** One address for each family; those that the Service has already are not touched. */
function allocateAddresses(
  spec: JsonObjectDraft,
  { before, allocations, seed }: AllocationOptions,
): readonly FieldError[] {
  const addresses = [...textsIn(spec, 'clusterIPs')]
  if (addresses[0] === 'None') return []
  const kept = before === undefined || before['type'] === 'ExternalName' ? 0 : textsIn(before, 'clusterIPs').length
  const ranges = rangesOf(allocations)
  for (const [index, family] of textsIn(spec, 'ipFamilies').entries()) {
    if (index < kept) continue
    const wanted = addresses[index] ?? ''
    const complaint = wanted === '' ? undefined : addressComplaint(wanted, ranges, allocations)
    if (complaint !== undefined)
      return [
        fieldError.invalid(specPath.child('clusterIPs'), addresses, `failed to allocate IP ${wanted}: ${complaint}`),
      ]
    addresses[index] = wanted || freeAddress(seed, family as Family, { ranges, allocations })
  }
  if (addresses.length > 0) {
    spec['clusterIPs'] = addresses
    spec['clusterIP'] = addresses[0] ?? ''
  }
  return []
}

function addressComplaint(
  address: string,
  ranges: readonly AddressRange[],
  { isTaken }: Allocations,
): string | undefined {
  if (!ranges.some((range) => range.has(address))) return 'the provided network does not match the current range'
  return isTaken(address) ? 'provided IP is already allocated' : undefined
}

interface FreeAddressOptions {
  readonly ranges: readonly AddressRange[]
  readonly allocations: Allocations
}

/** @throws {ApiError} `InternalError`, when all addresses are taken. */
function freeAddress(seed: string, family: Family, { ranges, allocations: { isTaken } }: FreeAddressOptions): string {
  const start = BigInt(hash(seed))
  for (const range of ranges.filter((one) => one.family === family)) {
    const band = staticBand(range.last)
    const dynamic = range.last - band
    // From the hash around the range; the first addresses come last.
    for (let step = 0n; step < range.last; step++) {
      const offset = step < dynamic ? band + ((start + step) % dynamic) : step - dynamic
      const address = range.address(offset + 1n)
      if (!isTaken(address)) return address
    }
  }
  const name = seed.slice(seed.indexOf('/') + 1)
  throw internalError(new Error(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`))
}

/** How many of the first addresses are for clients that choose: a sixteenth, at least 16 and at most 256. */
function staticBand(last: bigint): bigint {
  const sixteenth = last / 16n
  const band = sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth
  return band < last ? band : 0n
}

/** The node ports of one Service. */
class PortAllocation {
  readonly #spec: JsonObjectDraft
  readonly #before: JsonObject
  readonly #isTaken: (port: number) => boolean
  readonly #seed: string
  readonly #used: Set<number>

  constructor(spec: JsonObjectDraft, { before = {}, allocations, seed }: AllocationOptions) {
    this.#spec = spec
    this.#before = before
    this.#isTaken = allocations.isPortTaken
    this.#seed = seed
    this.#used = new Set([...usedPorts(spec), numberIn(spec, 'healthCheckNodePort') ?? 0])
  }

  /** @throws {ApiError} `InternalError`, as kube-apiserver, for a health check port that is taken. */
  allocate(): FieldError[] {
    const errors = needsNodePorts(this.#spec) ? this.#allocateNodePorts() : []
    if (errors.length === 0 && needsHealthCheckPort(this.#spec) && !needsHealthCheckPort(this.#before))
      this.#allocateHealthPort()
    return errors
  }

  #allocateNodePorts(): FieldError[] {
    const [kept, isAllocating] = [usedPorts(this.#before), this.#spec['allocateLoadBalancerNodePorts'] !== false]
    const byPort = new Map<number, number>()
    for (const [index, port] of draftsIn(this.#spec, 'ports').entries()) {
      const wanted = numberIn(port, 'nodePort') ?? 0
      const number = numberIn(port, 'port') ?? 0
      const complaint = wanted === 0 || kept.has(wanted) ? undefined : this.#complaint(wanted)
      if (complaint !== undefined)
        return [fieldError.invalid(specPath.child('ports').index(index).child('nodePort'), wanted, complaint)]
      // The same port of two protocols has one node port.
      const shared = byPort.get(number) ?? requestedFor(number, this.#spec)
      if (wanted === 0 && isAllocating) port['nodePort'] = shared || this.#free(`${textIn(port, 'protocol')}/${number}`)
      byPort.set(number, numberIn(port, 'nodePort') ?? 0)
    }
    return []
  }

  #allocateHealthPort(): void {
    const wanted = numberIn(this.#spec, 'healthCheckNodePort') ?? 0
    const complaint = wanted === 0 ? undefined : this.#complaint(wanted)
    if (complaint !== undefined)
      throw internalError(new Error(`failed to allocate requested HealthCheck NodePort ${wanted}: ${complaint}`))
    this.#spec['healthCheckNodePort'] = wanted || this.#free('health')
  }

  #complaint(port: number): string | undefined {
    if (port < nodePortMin || port > nodePortMax)
      return `provided port is not in the valid range. The range of valid ports is ${nodePortMin}-${nodePortMax}`
    return this.#isTaken(port) ? 'provided port is already allocated' : undefined
  }

  /** @throws {ApiError} `InternalError`, when all ports are taken. */
  #free(purpose: string): number {
    const count = nodePortMax - nodePortMin + 1
    const dynamic = count - staticPorts
    const start = hash(`${this.#seed}/${purpose}`)
    for (let step = 0; step < count; step++) {
      const port = nodePortMin + (step < dynamic ? staticPorts + ((start + step) % dynamic) : step - dynamic)
      if (this.#used.has(port) || this.#isTaken(port)) continue
      this.#used.add(port)
      return port
    }
    throw internalError(new Error('failed to allocate a nodePort: range is full'))
  }
}

/** The node port that the client chose for a port number, in any protocol. */
function requestedFor(number: number, spec: JsonObject): number {
  const same = objectsIn(spec, 'ports').filter((port) => numberIn(port, 'port') === number)
  return same.map((port) => numberIn(port, 'nodePort') ?? 0).find((port) => port !== 0) ?? 0
}

function keepNodePorts(spec: JsonObjectDraft, before: JsonObject): void {
  const kept = new Map(
    objectsIn(before, 'ports').map((port) => [textIn(port, 'name'), numberIn(port, 'nodePort') ?? 0]),
  )
  const used = usedPorts(spec)
  for (const port of draftsIn(spec, 'ports')) {
    const old = kept.get(textIn(port, 'name')) ?? 0
    if ((numberIn(port, 'nodePort') ?? 0) === 0 && old !== 0 && !used.has(old)) port['nodePort'] = old
  }
}

function usedPorts(spec: JsonObject): Set<number> {
  return new Set(objectsIn(spec, 'ports').map((port) => numberIn(port, 'nodePort') ?? 0))
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  return state >>> 0
}
