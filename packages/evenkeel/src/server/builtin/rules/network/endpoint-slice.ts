/**
 * EndpointSlices: endpoints of one address type, which never changes; labels count as content.
 */
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, deepEqual, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import { refuse, requireChoice, requireQualifiedName, requireSame } from '../checks.ts'
import { draftsIn, setDefault } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { objectIn, objectsIn, textIn, textsIn } from '../reading.ts'
import { familyOf } from './addresses.ts'
import { validateEndpointAddress } from './endpoint-address.ts'

const endpointsMax = 1000
const portsMax = 20_000
const addressesMax = 100
const hintsMax = 8
const typePath = FieldPath.of('addressType')

export const endpointSliceStrategy: StrategyHooks = {
  changesGeneration: (object, old) => !deepEqual(contentOf(object), contentOf(old)),
  default(object) {
    for (const port of draftsIn(object, 'ports')) {
      setDefault(port, 'name', '')
      setDefault(port, 'protocol', 'TCP')
    }
  },
  validate: (object) => [
    ...requireChoice(textIn(object, 'addressType'), typePath, ['FQDN', 'IPv4', 'IPv6']),
    ...validatePorts(objectsIn(object, 'ports'), FieldPath.of('ports')),
    ...validateEndpoints(object, FieldPath.of('endpoints')),
  ],
  validateUpdate: (object, old) => requireSame(textIn(object, 'addressType'), textIn(old, 'addressType'), typePath),
}

function contentOf({ metadata, ...content }: UnstructuredObject): unknown {
  return { ...content, labels: metadata.labels ?? {} }
}

function validatePorts(ports: readonly JsonObject[], path: FieldPath): FieldError[] {
  if (ports.length > portsMax) return [fieldError.tooMany(path, ports.length, portsMax)]
  const seen = new Set<string>()
  return ports.flatMap((port, index) => {
    const [here, name, protocol] = [path.index(index), textIn(port, 'name'), port['appProtocol']]
    const errors = name === '' ? [] : refuse(name, here.child('name'), checkDnsLabel(name))
    if (seen.has(name)) errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
    errors.push(...requireChoice(textIn(port, 'protocol'), here.child('protocol'), ['SCTP', 'TCP', 'UDP']))
    return typeof protocol === 'string'
      ? [...errors, ...requireQualifiedName(protocol, here.child('appProtocol'))]
      : errors
  })
}

function validateEndpoints(object: UnstructuredObject, path: FieldPath): FieldError[] {
  const [endpoints, type] = [objectsIn(object, 'endpoints'), textIn(object, 'addressType')]
  if (endpoints.length > endpointsMax) return [fieldError.tooMany(path, endpoints.length, endpointsMax)]
  return endpoints.flatMap((endpoint, index) => {
    const [here, addresses, node, hostname] = [
      path.index(index),
      textsIn(endpoint, 'addresses'),
      endpoint['nodeName'],
      endpoint['hostname'],
    ]
    const errors = validateAddresses(addresses, here.child('addresses'), { type })
    if (typeof node === 'string') errors.push(...refuse(node, here.child('nodeName'), checkDnsSubdomain(node)))
    if (typeof hostname === 'string') errors.push(...refuse(hostname, here.child('hostname'), checkDnsLabel(hostname)))
    const hints = objectIn(endpoint, 'hints')
    errors.push(...validateHints(objectsIn(hints, 'forZones'), here.child('hints', 'forZones'), checkLabelValue))
    return [
      ...errors,
      ...validateHints(objectsIn(hints, 'forNodes'), here.child('hints', 'forNodes'), checkDnsSubdomain),
    ]
  })
}

function validateAddresses(addresses: readonly string[], path: FieldPath, { type }: { type: string }): FieldError[] {
  if (addresses.length === 0) return [fieldError.required(path, 'must contain at least 1 address')]
  const errors = addresses.length > addressesMax ? [fieldError.tooMany(path, addresses.length, addressesMax)] : []
  return [
    ...errors,
    ...addresses.flatMap((address, index) => {
      if (type === 'FQDN') return validateDomain(address, path.index(index))
      if (type !== 'IPv4' && type !== 'IPv6') return []
      const family = familyOf(address)
      const mismatch =
        family !== undefined && family !== type ? [fieldError.invalid(path, address, `must be an ${type} address`)] : []
      return [...mismatch, ...validateEndpointAddress(address, path.index(index))]
    }),
  ]
}

function validateDomain(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(path)]
  const domain = name.replace(/\.$/, '')
  const complaints = checkDnsSubdomain(domain)
  if (complaints.length > 0) return [fieldError.invalid(path, domain, complaints.join(','))]
  return domain.includes('.')
    ? []
    : [fieldError.invalid(path, domain, 'should be a domain with at least two segments separated by dots')]
}

function validateHints(hints: readonly JsonObject[], path: FieldPath, check: (name: string) => string[]): FieldError[] {
  if (hints.length > hintsMax) return [fieldError.tooMany(path, hints.length, hintsMax)]
  const names = hints.map((hint) => textIn(hint, 'name'))
  return names.flatMap((name, index) => {
    const here = path.index(index).child('name')
    return [
      ...(names.indexOf(name) < index ? [fieldError.duplicate(here, name)] : []),
      ...refuse(name, here, check(name)),
    ]
  })
}
