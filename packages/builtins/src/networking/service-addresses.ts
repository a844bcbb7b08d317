/**
 * Allocation and validation of the cluster IPs and node ports of Services.
 *
 * No proxy serves these addresses; still no two Services get the same. The search starts at a hash of
 * namespace and name, so that a recreated Service gets its old address, and continues until an address is free.
 * Cluster IPs: 10.96.0.0/12, the range of a default cluster, without its first and last 256. Node ports:
 * 30000-32767. A value chosen by the client is kept if it is free; an allocated value is kept.
 */
import {
  errorsOfEach,
  fieldError,
  FieldPath,
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
import { familyOf, validateAddress } from '../ip-addresses.ts'
import type { ObjectDraft, WriteContext } from '../resource.ts'
import { repeatedAt, allowOneOf, requireOneOf } from '../validation.ts'

const rangeStart = 10 * 2 ** 24 + 96 * 2 ** 16
const rangeSize = 2 ** 20
const reserved = 256
const nodePortStart = 30_000
const nodePortCount = 2768

/** Allocates cluster IPs, IP families and node ports. Refuses values of another Service. */
export function allocateService(
  service: ObjectDraft,
  { others = [], refuse }: Pick<WriteContext, 'others' | 'refuse'> = {},
): void {
  const taken = allocatedBy(others)
  const spec = ensureDraft(service, 'spec')
  if (spec['type'] === 'ExternalName') return
  const seed = `${textIn(service.metadata, 'namespace')}/${textIn(service.metadata, 'name')}`
  const addresses = textsIn(spec, 'clusterIPs')
  const address = textIn(spec, 'clusterIP')
  if (address === '' && addresses.length === 0) setAddress(spec, freeAddress(seed, taken.addresses))
  else if (addresses.length === 0) setAddress(spec, address)
  for (const error of collisions(spec, taken)) refuse?.(error)
  setFamilies(spec)
  if (needsNodePorts(spec) && spec['allocateLoadBalancerNodePorts'] !== false)
    allocateNodePorts(spec, seed, taken.ports)
  if (needsHealthCheckPort(spec) && (numberIn(spec, 'healthCheckNodePort') ?? 0) === 0) {
    spec['healthCheckNodePort'] = freePort(`${seed}/health`, union(usedPorts(spec), taken.ports))
  }
}

/** Restores allocated values that an update left out. */
export function keepServiceAllocations(service: ObjectDraft, old: UnstructuredObject): void {
  const [spec, before] = [ensureDraft(service, 'spec'), objectIn(old, 'spec')]
  if (spec['type'] !== 'ExternalName' && before['type'] !== 'ExternalName') {
    const unsaid = textIn(spec, 'clusterIP') === '' || textIn(spec, 'clusterIP') === textIn(before, 'clusterIP')
    if (textIn(spec, 'clusterIP') === '') spec['clusterIP'] = textIn(before, 'clusterIP')
    if (unsaid && textsIn(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [...textsIn(before, 'clusterIPs')]
    for (const key of ['ipFamilies', 'ipFamilyPolicy'])
      if (spec[key] === undefined && before[key] !== undefined) spec[key] = before[key]
  }
  if (needsNodePorts(spec) && needsNodePorts(before)) keepNodePorts(spec, before)
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(before)) {
    if ((numberIn(spec, 'healthCheckNodePort') ?? 0) === 0)
      spec['healthCheckNodePort'] = numberIn(before, 'healthCheckNodePort') ?? 0
  }
}

export function needsNodePorts(spec: JsonObject): boolean {
  return spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer'
}

/** A load balancer with `externalTrafficPolicy: Local` needs a health check node port. */
export function needsHealthCheckPort(spec: JsonObject): boolean {
  return spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'
}

function setAddress(spec: JsonObjectDraft, address: string): void {
  spec['clusterIP'] = address
  spec['clusterIPs'] = [address]
}

/** A headless Service without a selector gets both families, because its endpoints are managed elsewhere. */
function setFamilies(spec: JsonObjectDraft): void {
  const [addresses, isUnsaid] = [
    textsIn(spec, 'clusterIPs'),
    spec['ipFamilyPolicy'] === undefined && textsIn(spec, 'ipFamilies').length === 0,
  ]
  const isOpen = isUnsaid && addresses[0] === 'None' && Object.keys(objectIn(spec, 'selector')).length === 0
  if (textsIn(spec, 'ipFamilies').length === 0) spec['ipFamilies'] = isOpen ? ['IPv4', 'IPv6'] : familiesOf(spec)
  spec['ipFamilyPolicy'] ??= isOpen || addresses.length > 1 ? 'RequireDualStack' : 'SingleStack'
}

function familiesOf(spec: JsonObject): string[] {
  const families = textsIn(spec, 'clusterIPs')
    .map(familyOf)
    .filter((family) => family !== undefined)
  return families.length > 0 ? [...new Set(families)] : ['IPv4']
}

interface AllocatedValues {
  readonly addresses: ReadonlySet<string>
  readonly ports: ReadonlySet<number>
}

function allocatedBy(others: readonly UnstructuredObject[]): AllocatedValues {
  const specs = others.map((other) => objectIn(other, 'spec'))
  return {
    addresses: new Set(specs.flatMap((spec) => textsIn(spec, 'clusterIPs'))),
    ports: new Set(specs.flatMap((spec) => [...usedPorts(spec), numberIn(spec, 'healthCheckNodePort') ?? 0])),
  }
}

function collisions(spec: JsonObject, { addresses, ports }: AllocatedValues): FieldError[] {
  const wanted = textsIn(spec, 'clusterIPs')
  const address = wanted.find((one) => one !== 'None' && addresses.has(one))
  const first =
    address === undefined
      ? []
      : [
          fieldError.invalid(
            FieldPath.of('spec', 'clusterIPs'),
            wanted,
            `failed to allocate IP ${address}: provided IP is already allocated`,
          ),
        ]
  return [
    ...first,
    ...errorsOfEach(objectsIn(spec, 'ports'), (port, index) => {
      const number = numberIn(port, 'nodePort') ?? 0
      if (number === 0 || !ports.has(number)) return []
      return [
        fieldError.invalid(
          FieldPath.of('spec', 'ports').index(index).child('nodePort'),
          number,
          'provided port is already allocated',
        ),
      ]
    }),
  ]
}

function freeAddress(seed: string, taken: ReadonlySet<string>): string {
  const start = hash(seed)
  for (let step = 0; ; step++) {
    const number = rangeStart + reserved + ((start + step) % (rangeSize - 2 * reserved))
    const address = [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
    if (!taken.has(address) || step > taken.size) return address
  }
}

function allocateNodePorts(spec: JsonObjectDraft, seed: string, taken: ReadonlySet<number>): void {
  const used = union(usedPorts(spec), taken)
  for (const port of draftsIn(spec, 'ports')) {
    if ((numberIn(port, 'nodePort') ?? 0) !== 0) continue
    const chosen = freePort(`${seed}/${textIn(port, 'protocol')}/${numberIn(port, 'port') ?? 0}`, used)
    used.add(chosen)
    port['nodePort'] = chosen
  }
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

function union(one: ReadonlySet<number>, other: ReadonlySet<number>): Set<number> {
  return new Set([...one, ...other])
}

function freePort(seed: string, used: ReadonlySet<number>): number {
  const start = hash(seed)
  for (let step = 0; step < nodePortCount; step++) {
    const port = nodePortStart + ((start + step) % nodePortCount)
    if (!used.has(port)) return port
  }
  return nodePortStart
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  return state >>> 0
}

// Validation of the cluster IPs of a Service: at most one of each family, consistent with `clusterIP` and `ipFamilies`, immutable.

const specPath = FieldPath.of('spec')
const addressesPath = specPath.child('clusterIPs')
const familiesPath = specPath.child('ipFamilies')
const families = ['IPv4', 'IPv6']

export function validateClusterIPs(spec: JsonObject): FieldError[] {
  if (textIn(spec, 'type') === 'ExternalName') return []
  const addresses = textsIn(spec, 'clusterIPs')
  const errors = [
    ...validateInStep(textIn(spec, 'clusterIP'), addresses),
    ...validateFamilies(textsIn(spec, 'ipFamilies')),
    ...allowOneOf(spec['ipFamilyPolicy'], specPath.child('ipFamilyPolicy'), [
      'PreferDualStack',
      'RequireDualStack',
      'SingleStack',
    ]),
  ]
  const wrong = validateEach(addresses)
  if (addresses.length > 2) wrong.push(fieldError.invalid(addressesPath, addresses, 'may only hold up to 2 values'))
  return [...errors, ...wrong, ...(wrong.length > 0 ? [] : validateTogether(addresses, textsIn(spec, 'ipFamilies')))]
}

/** A cluster IP may be added or released, but not replaced. */
export function validateClusterIPsImmutable(spec: JsonObject, old: JsonObject): FieldError[] {
  if (textIn(spec, 'type') === 'ExternalName' || textIn(old, 'type') === 'ExternalName') return []
  const [now, before] = [textsIn(spec, 'clusterIPs'), textsIn(old, 'clusterIPs')]
  if (now[0] === 'None' && before[0] === 'None') return []
  if (before.length > now.length && now.length === 0) {
    return [fieldError.invalid(addressesPath.index(0), now, 'primary clusterIP can not be unset')]
  }
  const compared = now.length === before.length ? before.length : Math.min(1, before.length)
  const errors = errorsOfEach(before.slice(0, compared), (address, index) =>
    address === now[index] ? [] : [fieldError.invalid(addressesPath.index(index), now, 'may not change once set')],
  )
  if (before.length > now.length && spec['ipFamilyPolicy'] !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP"
    errors.push(fieldError.invalid(specPath.child('ipFamilyPolicy'), spec['ipFamilyPolicy'], detail))
  }
  return errors
}

function validateInStep(address: string, addresses: readonly string[]): FieldError[] {
  if (address === '') {
    return addresses.length === 0
      ? []
      : [fieldError.invalid(addressesPath, addresses, 'must be empty when `clusterIP` is not specified')]
  }
  if (addresses.length === 0) return [fieldError.required(addressesPath)]
  return addresses[0] === address
    ? []
    : [fieldError.invalid(addressesPath, addresses, 'first value must match `clusterIP`')]
}

function validateFamilies(list: readonly string[]): FieldError[] {
  const repeated = repeatedAt(list)
  return errorsOfEach(list, (family, index) => [
    ...requireOneOf(family, familiesPath.index(index), families),
    ...(repeated.has(index) ? [fieldError.duplicate(familiesPath.index(index), family)] : []),
  ])
}

function validateEach(addresses: readonly string[]): FieldError[] {
  return errorsOfEach(addresses, (address, index) => {
    if (index > 0 || address !== 'None') return validateAddress(address, addressesPath.index(index))
    return addresses.length > 1
      ? [fieldError.invalid(addressesPath, addresses, "'None' must be the first and only value")]
      : []
  })
}

function validateTogether(addresses: readonly string[], list: readonly string[]): FieldError[] {
  const actual = addresses.map(familyOf)
  const errors: FieldError[] = []
  if (new Set(actual).size < actual.length) {
    errors.push(fieldError.invalid(addressesPath, addresses, 'may specify no more than one IP for each IP family'))
  }
  if (addresses[0] === 'None') return errors
  addresses.forEach((address, index) => {
    const expected = list[index]
    if (expected !== undefined && families.includes(expected) && actual[index] !== expected) {
      errors.push(
        fieldError.invalid(
          addressesPath.index(index),
          address,
          `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``,
        ),
      )
    }
  })
  return errors
}
