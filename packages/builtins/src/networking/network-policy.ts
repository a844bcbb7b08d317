/**
 * NetworkPolicies: the ports and peers of allowed traffic.
 */
import {
  errorsOfEach,
  pushAll,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
} from 'evenkeel/unstable/builtins'
import { draftsIn, ensureDraft, setDefault } from '../defaulting.ts'
import { isWithin, validateRange } from '../ip-addresses.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  allowOneOf,
  checkPortName,
  isPort,
  refuse,
  requireOneOf,
  requirePort,
  validateSelectorIn,
} from '../validation.ts'

const specPath = FieldPath.of('spec')
const types = ['Ingress', 'Egress']

export const networkPolicyStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    defaultPorts(spec)
    if (textsIn(spec, 'policyTypes').length === 0)
      spec['policyTypes'] = objectsIn(spec, 'egress').length > 0 ? types : ['Ingress']
  },
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...validateSelectorIn(spec, 'podSelector', specPath),
      ...validateRules(spec, 'ingress', { peers: 'from' }),
      ...validateRules(spec, 'egress', { peers: 'to' }),
      ...validateTypes(textsIn(spec, 'policyTypes'), specPath.child('policyTypes')),
    ]
  },
}

function defaultPorts(spec: JsonObjectDraft): void {
  for (const direction of ['ingress', 'egress']) {
    for (const rule of draftsIn(spec, direction))
      for (const port of draftsIn(rule, 'ports')) setDefault(port, 'protocol', 'TCP')
  }
}

function validateRules(spec: JsonObject, direction: string, { peers }: { peers: string }): FieldError[] {
  return errorsOfEach(objectsIn(spec, direction), (rule, index) => {
    const path = specPath.child(direction).index(index)
    return [
      ...errorsOfEach(objectsIn(rule, 'ports'), (port, at) => validatePort(port, path.child('ports').index(at))),
      ...errorsOfEach(objectsIn(rule, peers), (peer, at) => validatePeer(peer, path.child(peers).index(at))),
    ]
  })
}

function validatePort(port: JsonObject, path: FieldPath): FieldError[] {
  const errors = allowOneOf(port['protocol'], path.child('protocol'), ['TCP', 'UDP', 'SCTP'])
  const [value, end, endPath] = [port['port'], numberIn(port, 'endPort'), path.child('endPort')]
  if (typeof value === 'number') {
    pushAll(errors, requirePort(value, path.child('port')))
    if (end !== undefined && end < value)
      errors.push(fieldError.invalid(endPath, value, 'must be greater than or equal to `port`'))
    if (end !== undefined && !isPort(end)) pushAll(errors, requirePort(end, endPath))
  } else if (typeof value === 'string') {
    if (end !== undefined)
      errors.push(fieldError.invalid(endPath, end, 'may not be specified when `port` is non-numeric'))
    pushAll(errors, refuse(value, path.child('port'), checkPortName(value)))
  } else if (end !== undefined)
    errors.push(fieldError.invalid(endPath, end, 'may not be specified when `port` is not specified'))
  return errors
}

function validatePeer(peer: JsonObject, path: FieldPath): FieldError[] {
  const block = optionalObjectIn(peer, 'ipBlock')
  const selectors = ['podSelector', 'namespaceSelector'].filter((key) => optionalObjectIn(peer, key) !== undefined)
  const errors = errorsOfEach(selectors, (key) => validateSelectorIn(peer, key, path))
  if (block !== undefined) pushAll(errors, validateBlock(block, path.child('ipBlock')))
  if (block === undefined && selectors.length === 0) errors.push(fieldError.required(path, 'must specify a peer'))
  if (block !== undefined && selectors.length > 0)
    errors.push(fieldError.forbidden(path, 'may not specify both ipBlock and another peer'))
  return errors
}

function validateBlock(block: JsonObject, path: FieldPath): FieldError[] {
  const range = textIn(block, 'cidr')
  if (range === '') return [fieldError.required(path.child('cidr'))]
  const errors = validateRange(range, path.child('cidr'))
  if (errors.length > 0) return errors
  return errorsOfEach(textsIn(block, 'except'), (except, index) => {
    const here = path.child('except').index(index)
    const wrong = validateRange(except, here)
    if (wrong.length > 0 || isWithin(except, range)) return wrong
    return [fieldError.invalid(here, except, 'must be a strict subset of `cidr`')]
  })
}

function validateTypes(list: readonly string[], path: FieldPath): FieldError[] {
  if (list.length > types.length) return [fieldError.invalid(path, list, 'may not specify more than two policyTypes')]
  return errorsOfEach(list, (type, index) => requireOneOf(type, path.index(index), types))
}
