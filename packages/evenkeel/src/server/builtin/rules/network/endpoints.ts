/**
 * Endpoints: subsets of addresses that share ports.
 */
import { checkDnsLabel, checkDnsSubdomain, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject } from '#api'
import { refuse, requireChoice, requirePort, requireQualifiedName } from '../checks.ts'
import { draftsIn, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { numberIn, objectsIn, textIn } from '../reading.ts'
import { familyOf } from './addresses.ts'
import { validateEndpointAddress } from './endpoint-address.ts'

export const endpointsStrategy: StrategyHooks = {
  default(object) {
    for (const subset of draftsIn(object, 'subsets'))
      for (const port of draftsIn(subset, 'ports')) setDefaultText(port, 'protocol', 'TCP')
  },
  validate: (object) =>
    objectsIn(object, 'subsets').flatMap((subset, index) =>
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
      errors.push(...validateTarget(address, path.child(key).index(index))),
    )
  }
  const ports = objectsIn(subset, 'ports')
  return [
    ...errors,
    ...ports.flatMap((port, index) =>
      validatePort(port, path.child('ports').index(index), { named: ports.length > 1 }),
    ),
  ]
}

function validateTarget(target: JsonObject, path: FieldPath): FieldError[] {
  const [address, hostname, node] = [textIn(target, 'ip'), textIn(target, 'hostname'), target['nodeName']]
  const errors = validateEndpointAddress(address, path.child('ip'))
  if (familyOf(address) === undefined)
    errors.push(fieldError.invalid(path.child('ip'), address, 'must be a valid IP address'))
  if (hostname !== '') errors.push(...refuse(hostname, path.child('hostname'), checkDnsLabel(hostname)))
  return typeof node === 'string'
    ? [...errors, ...refuse(node, path.child('nodeName'), checkDnsSubdomain(node))]
    : errors
}

function validatePort(port: JsonObject, path: FieldPath, { named }: { named: boolean }): FieldError[] {
  const [name, protocol] = [textIn(port, 'name'), port['appProtocol']]
  const errors = named && name === '' ? [fieldError.required(path.child('name'))] : []
  if (name !== '') errors.push(...refuse(name, path.child('name'), checkDnsLabel(name)))
  errors.push(...requirePort(numberIn(port, 'port'), path.child('port')))
  errors.push(...requireChoice(textIn(port, 'protocol'), path.child('protocol'), ['SCTP', 'TCP', 'UDP']))
  return typeof protocol === 'string'
    ? [...errors, ...requireQualifiedName(protocol, path.child('appProtocol'))]
    : errors
}
