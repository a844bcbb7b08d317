/**
 * EndpointSlices: endpoints of one address type, which is immutable; a change of labels increments the generation.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  deepEqual,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftsIn, setDefault, setDefaultText } from '../defaulting.ts'
import { familyOf, validateEndpointAddress } from '../ip-addresses.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { repeatedAt, refuse, requireChoice, requirePort, requireQualifiedName, requireSame } from '../validation.ts'

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
  return errorsOfEach(ports, (port, index) => {
    const [here, name, protocol] = [path.index(index), textIn(port, 'name'), port['appProtocol']]
    const errors = name === '' ? [] : refuse(name, here.child('name'), checkDnsLabel(name))
    if (seen.has(name)) errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
    pushAll(errors, requireChoice(textIn(port, 'protocol'), here.child('protocol'), ['SCTP', 'TCP', 'UDP']))
    return typeof protocol === 'string'
      ? [...errors, ...requireQualifiedName(protocol, here.child('appProtocol'))]
      : errors
  })
}

function validateEndpoints(object: UnstructuredObject, path: FieldPath): FieldError[] {
  const [endpoints, type] = [objectsIn(object, 'endpoints'), textIn(object, 'addressType')]
  if (endpoints.length > endpointsMax) return [fieldError.tooMany(path, endpoints.length, endpointsMax)]
  return errorsOfEach(endpoints, (endpoint, index) => {
    const [here, addresses, node, hostname] = [
      path.index(index),
      textsIn(endpoint, 'addresses'),
      endpoint['nodeName'],
      endpoint['hostname'],
    ]
    const errors = validateAddresses(addresses, here.child('addresses'), { type })
    if (typeof node === 'string') pushAll(errors, refuse(node, here.child('nodeName'), checkDnsSubdomain(node)))
    if (typeof hostname === 'string') pushAll(errors, refuse(hostname, here.child('hostname'), checkDnsLabel(hostname)))
    const hints = objectIn(endpoint, 'hints')
    pushAll(errors, validateHints(objectsIn(hints, 'forZones'), here.child('hints', 'forZones'), checkLabelValue))
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
    ...errorsOfEach(addresses, (address, index) => {
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
  const repeated = repeatedAt(names)
  return errorsOfEach(names, (name, index) => {
    const here = path.index(index).child('name')
    return [...(repeated.has(index) ? [fieldError.duplicate(here, name)] : []), ...refuse(name, here, check(name))]
  })
}

// Endpoints: subsets of addresses that share ports.

export const endpointsStrategy: StrategyHooks = {
  default(object) {
    for (const subset of draftsIn(object, 'subsets'))
      for (const port of draftsIn(subset, 'ports')) setDefaultText(port, 'protocol', 'TCP')
  },
  validate: (object) =>
    errorsOfEach(objectsIn(object, 'subsets'), (subset, index) =>
      validateSubset(subset, FieldPath.of('subsets').index(index)),
    ),
}

function validateSubset(subset: JsonObject, path: FieldPath): FieldError[] {
  const lists = ['addresses', 'notReadyAddresses']
  const errors = lists.some((key) => objectsIn(subset, key).length > 0)
    ? []
    : [fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`')]
  for (const key of lists) {
    objectsIn(subset, key).forEach((address, index) =>
      pushAll(errors, validateTarget(address, path.child(key).index(index))),
    )
  }
  const ports = objectsIn(subset, 'ports')
  return [
    ...errors,
    ...errorsOfEach(ports, (port, index) =>
      validatePort(port, path.child('ports').index(index), { named: ports.length > 1 }),
    ),
  ]
}

function validateTarget(target: JsonObject, path: FieldPath): FieldError[] {
  const [address, hostname, node] = [textIn(target, 'ip'), textIn(target, 'hostname'), target['nodeName']]
  const errors = validateEndpointAddress(address, path.child('ip'))
  if (familyOf(address) === undefined)
    errors.push(fieldError.invalid(path.child('ip'), address, 'must be a valid IP address'))
  if (hostname !== '') pushAll(errors, refuse(hostname, path.child('hostname'), checkDnsLabel(hostname)))
  return typeof node === 'string'
    ? [...errors, ...refuse(node, path.child('nodeName'), checkDnsSubdomain(node))]
    : errors
}

function validatePort(port: JsonObject, path: FieldPath, { named }: { named: boolean }): FieldError[] {
  const [name, protocol] = [textIn(port, 'name'), port['appProtocol']]
  const errors = named && name === '' ? [fieldError.required(path.child('name'))] : []
  if (name !== '') pushAll(errors, refuse(name, path.child('name'), checkDnsLabel(name)))
  pushAll(errors, requirePort(numberIn(port, 'port'), path.child('port')))
  pushAll(errors, requireChoice(textIn(port, 'protocol'), path.child('protocol'), ['SCTP', 'TCP', 'UDP']))
  return typeof protocol === 'string'
    ? [...errors, ...requireQualifiedName(protocol, path.child('appProtocol'))]
    : errors
}
