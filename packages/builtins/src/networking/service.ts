/**
 * Services: defaults, allocated values, and the fields that a change of type clears.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  checkDnsSubdomain,
  deepEqual,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  textsIn,
  validateLabels,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftsIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import { validateEndpointAddress, validateRange } from '../ip-addresses.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  allowOneOf,
  refuse,
  requireChoice,
  requirePort,
  requirePortOrName,
  requireQualifiedName,
  requireSame,
} from '../validation.ts'
import {
  allocatedValues,
  allocateService,
  keepServiceAllocations,
  needsHealthCheckPort,
  needsNodePorts,
} from './service-addresses.ts'
import { validateClusterIPs, validateClusterIPsImmutable } from './service-cluster-ips.ts'

const clientAffinitySeconds = 10_800

export const serviceStrategy: StrategyHooks = {
  selectableFields: {
    'spec.clusterIP': (object) => textIn(objectIn(object, 'spec'), 'clusterIP'),
    'spec.type': (object) => textIn(objectIn(object, 'spec'), 'type'),
  },
  default: defaultService,
  allocated: allocatedValues,
  prepareForCreate(object, context) {
    object['status'] = { loadBalancer: {} }
    allocateService(object, context)
  },
  prepareForUpdate(object, old, context) {
    dropTypeDependent(ensureDraft(object, 'spec'), objectIn(old, 'spec'))
    keepServiceAllocations(object, old)
    allocateService(object, context, old)
  },
  validate: (object) => validateService(object),
  validateUpdate(object, old) {
    const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
    const bothBalanced = textIn(spec, 'type') === 'LoadBalancer' && textIn(before, 'type') === 'LoadBalancer'
    const classPath = FieldPath.of('spec', 'loadBalancerClass')
    return [
      ...validateClusterIPsImmutable(spec, before),
      ...validateHealthPortImmutable(spec, before),
      ...(bothBalanced
        ? requireSame(spec['loadBalancerClass'], before['loadBalancerClass'], classPath).map(onceSet)
        : []),
    ]
  },
}

function validateHealthPortImmutable(spec: JsonObject, before: JsonObject): FieldError[] {
  const isKept = needsHealthCheckPort(spec) && needsHealthCheckPort(before)
  if (!isKept || numberIn(spec, 'healthCheckNodePort') === numberIn(before, 'healthCheckNodePort')) return []
  return [fieldError.forbidden(FieldPath.of('spec', 'healthCheckNodePort'), 'field is immutable')]
}

function onceSet<T extends { readonly body: string }>(error: T): T {
  return { ...error, body: error.body.replace('field is immutable', 'may not change once set') }
}

function defaultService(object: ObjectDraft): void {
  const spec = ensureDraft(object, 'spec')
  setDefaultText(spec, 'sessionAffinity', 'None')
  defaultAffinity(spec)
  setDefaultText(spec, 'type', 'ClusterIP')
  for (const port of draftsIn(spec, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP')
    const target = port['targetPort']
    if (target === undefined || target === 0 || target === '') port['targetPort'] = numberIn(port, 'port') ?? 0
  }
  if (isExternallyAccessible(spec)) setDefaultText(spec, 'externalTrafficPolicy', 'Cluster')
  if (spec['type'] !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster')
  if (spec['type'] === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true)
}

function defaultAffinity(spec: JsonObjectDraft): void {
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig']
  if (spec['sessionAffinity'] !== 'ClientIP') return
  const client = optionalObjectIn(objectIn(spec, 'sessionAffinityConfig'), 'clientIP')
  if (numberIn(client, 'timeoutSeconds') === undefined)
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: clientAffinitySeconds } }
}

/** Clears the values allocated for the old type, unless the client changed them. */
function dropTypeDependent(spec: JsonObjectDraft, old: JsonObject): void {
  const drop = (...keys: readonly string[]): void => {
    if (keys.every((key) => deepEqual(spec[key], old[key]))) for (const key of keys) delete spec[key]
  }
  if (old['type'] !== 'ExternalName' && spec['type'] === 'ExternalName') {
    drop('clusterIP', 'clusterIPs')
    drop('ipFamilies')
    drop('ipFamilyPolicy')
  }
  if (needsNodePorts(old) && !needsNodePorts(spec) && deepEqual(nodePorts(spec), nodePorts(old))) {
    for (const port of draftsIn(spec, 'ports')) delete port['nodePort']
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec)) drop('healthCheckNodePort')
  if (old['type'] === 'LoadBalancer' && spec['type'] !== 'LoadBalancer') {
    drop('allocateLoadBalancerNodePorts')
    drop('loadBalancerClass')
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) drop('externalTrafficPolicy')
}

function nodePorts(spec: JsonObject): readonly number[] {
  return objectsIn(spec, 'ports')
    .map((port) => numberIn(port, 'nodePort') ?? 0)
    .sort((a, b) => a - b)
}

// Validation of a Service, except for its cluster IPs.

const specPath = FieldPath.of('spec')
const portsPath = specPath.child('ports')
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinitySecondsMax = 86_400

function validateService(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  return [
    ...validateByType(spec),
    ...validatePorts(spec),
    ...validateLabels(textMapIn(spec, 'selector'), specPath.child('selector')),
    ...validateAffinity(spec),
    ...validateClusterIPs(spec),
    ...errorsOfEach(textsIn(spec, 'externalIPs'), (address, index) =>
      validateEndpointAddress(address, specPath.child('externalIPs').index(index)),
    ),
    ...requireChoice(textIn(spec, 'type'), specPath.child('type'), types),
    ...validatePortUse(spec),
    ...validateBalancer(spec),
    ...validateTraffic(spec),
  ]
}

/** Whether it is reachable from outside the cluster. */
function isExternallyAccessible(spec: JsonObject): boolean {
  const type = textIn(spec, 'type')
  return (
    type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && textsIn(spec, 'externalIPs').length > 0)
  )
}

function validateByType(spec: JsonObject): FieldError[] {
  const [type, addresses] = [textIn(spec, 'type'), textsIn(spec, 'clusterIPs')]
  const isHeadless = addresses.length === 1 && addresses[0] === 'None'
  const errors: FieldError[] = []
  if (objectsIn(spec, 'ports').length === 0 && !isHeadless && type !== 'ExternalName')
    errors.push(fieldError.required(portsPath))
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort')) {
    errors.push(
      fieldError.invalid(
        specPath.child('clusterIPs').index(0),
        'None',
        `may not be set to 'None' for ${type} services`,
      ),
    )
  }
  if (type !== 'ExternalName') return errors
  for (const key of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    const isThere = key === 'ipFamilyPolicy' ? spec[key] !== undefined : textsIn(spec, key).length > 0
    if (isThere) errors.push(fieldError.forbidden(specPath.child(key), 'may not be set for ExternalName services'))
  }
  const name = textIn(spec, 'externalName').replace(/\.$/, '')
  const path = specPath.child('externalName')
  return [...errors, ...(name === '' ? [fieldError.required(path)] : refuse(name, path, checkDnsSubdomain(name)))]
}

function validatePorts(spec: JsonObject): FieldError[] {
  const ports = objectsIn(spec, 'ports')
  const seen = new Set<string>()
  return errorsOfEach(ports, (port, index) => {
    const [path, name] = [portsPath.index(index), textIn(port, 'name')]
    const errors: FieldError[] = []
    if (ports.length > 1 && name === '') errors.push(fieldError.required(path.child('name')))
    if (name !== '') pushAll(errors, refuse(name, path.child('name'), checkDnsLabel(name)))
    if (name !== '' && seen.has(name)) errors.push(fieldError.duplicate(path.child('name'), name))
    seen.add(name)
    pushAll(errors, requirePort(numberIn(port, 'port'), path.child('port')))
    pushAll(errors, requireChoice(textIn(port, 'protocol'), path.child('protocol'), ['SCTP', 'TCP', 'UDP']))
    pushAll(errors, requirePortOrName(port['targetPort'], path.child('targetPort')))
    const protocol = port['appProtocol']
    return typeof protocol === 'string'
      ? [...errors, ...requireQualifiedName(protocol, path.child('appProtocol'))]
      : errors
  })
}

/** Ports must be unique, and only NodePort and LoadBalancer Services have node ports. */
function validatePortUse(spec: JsonObject): FieldError[] {
  const [nodePorts, ports] = [new Set<string>(), new Set<string>()]
  const [first, second, third]: [FieldError[], FieldError[], FieldError[]] = [[], [], []]
  objectsIn(spec, 'ports').forEach((port, index) => {
    const [path, protocol, number, nodePort] = [
      portsPath.index(index),
      textIn(port, 'protocol'),
      numberIn(port, 'port') ?? 0,
      numberIn(port, 'nodePort') ?? 0,
    ]
    if (nodePort !== 0) {
      const detail = "may not be used when `type` is 'ClusterIP'"
      if (textIn(spec, 'type') === 'ClusterIP') first.push(fieldError.forbidden(path.child('nodePort'), detail))
      if (nodePorts.has(`${protocol}/${nodePort}`)) second.push(fieldError.duplicate(path.child('nodePort'), nodePort))
      nodePorts.add(`${protocol}/${nodePort}`)
    }
    if (ports.has(`${protocol}/${number}`)) third.push(fieldError.duplicate(path, shownPort(protocol, number)))
    ports.add(`${protocol}/${number}`)
  })
  return [...first, ...second, ...third]
}

/** The identity of a port, in the internal form of kube-apiserver. */
function shownPort(protocol: string, port: number): JsonObject {
  return { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 }
}

function validateAffinity(spec: JsonObject): FieldError[] {
  const [affinity, path] = [textIn(spec, 'sessionAffinity'), specPath.child('sessionAffinityConfig')]
  const errors = requireChoice(affinity, specPath.child('sessionAffinity'), ['ClientIP', 'None'])
  if (affinity !== 'ClientIP') return errors
  const seconds = numberIn(optionalObjectIn(objectIn(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds')
  if (seconds === undefined) return [...errors, fieldError.required(path, 'when session affinity type is ClientIP')]
  if (seconds > 0 && seconds <= affinitySecondsMax) return errors
  return [
    ...errors,
    fieldError.invalid(
      path.child('clientIP', 'timeoutSeconds'),
      seconds,
      `must be greater than 0 and less than ${affinitySecondsMax}`,
    ),
  ]
}

function validateBalancer(spec: JsonObject): FieldError[] {
  const [isBalanced, ranges] = [textIn(spec, 'type') === 'LoadBalancer', textsIn(spec, 'loadBalancerSourceRanges')]
  const only = "may only be used when `type` is 'LoadBalancer'"
  const rangesPath = specPath.child('LoadBalancerSourceRanges')
  const errors = ranges.length > 0 && !isBalanced ? [fieldError.forbidden(rangesPath, only)] : []
  pushAll(
    errors,
    errorsOfEach(ranges, (range, index) => validateRange(range.trim(), rangesPath.index(index))),
  )
  if (spec['allocateLoadBalancerNodePorts'] !== undefined && !isBalanced) {
    errors.push(fieldError.forbidden(specPath.child('allocateLoadBalancerNodePorts'), only))
  }
  const [balancer, path] = [spec['loadBalancerClass'], specPath.child('loadBalancerClass')]
  if (typeof balancer !== 'string') return errors
  return [...errors, ...(isBalanced ? requireQualifiedName(balancer, path) : [fieldError.forbidden(path, only)])]
}

function validateTraffic(spec: JsonObject): FieldError[] {
  const [policy, policyPath] = [textIn(spec, 'externalTrafficPolicy'), specPath.child('externalTrafficPolicy')]
  const [port, portPath] = [numberIn(spec, 'healthCheckNodePort') ?? 0, specPath.child('healthCheckNodePort')]
  const errors: FieldError[] = []
  if (isExternallyAccessible(spec)) pushAll(errors, requireChoice(policy, policyPath, ['Cluster', 'Local']))
  else if (policy !== '')
    errors.push(fieldError.invalid(policyPath, policy, 'may only be set for externally-accessible services'))
  if (needsHealthCheckPort(spec))
    pushAll(errors, port === 0 ? [fieldError.required(portPath)] : requirePort(port, portPath))
  else if (port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(fieldError.invalid(portPath, port, detail))
  }
  return [
    ...errors,
    ...allowOneOf(spec['internalTrafficPolicy'], specPath.child('internalTrafficPolicy'), ['Cluster', 'Local']),
    ...allowOneOf(spec['trafficDistribution'], specPath.child('trafficDistribution'), [
      'PreferClose',
      'PreferSameZone',
      'PreferSameNode',
    ]),
  ]
}
