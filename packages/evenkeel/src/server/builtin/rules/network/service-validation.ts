/**
 * What is wrong with a Service, apart from its addresses.
 */
import { checkDnsLabel, checkDnsSubdomain, fieldError, FieldPath, validateLabels } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import { allowOneOf, refuse, requireChoice, requirePort, requirePortOrName, requireQualifiedName } from '../checks.ts'
import { numberIn, objectIn, objectsIn, optionalObjectIn, textIn, textMapIn, textsIn } from '../reading.ts'
import { validateEndpointAddress } from './endpoint-address.ts'
import { validateRange } from './addresses.ts'
import { needsHealthCheckPort } from './service-allocation.ts'
import { validateClusterIPs } from './service-addresses.ts'

const specPath = FieldPath.of('spec')
const portsPath = specPath.child('ports')
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinitySecondsMax = 86_400

export function validateService(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  return [
    ...validateByType(spec),
    ...validatePorts(spec),
    ...validateLabels(textMapIn(spec, 'selector'), specPath.child('selector')),
    ...validateAffinity(spec),
    ...validateClusterIPs(spec),
    ...textsIn(spec, 'externalIPs').flatMap((address, index) =>
      validateEndpointAddress(address, specPath.child('externalIPs').index(index)),
    ),
    ...requireChoice(textIn(spec, 'type'), specPath.child('type'), types),
    ...validatePortUse(spec),
    ...validateBalancer(spec),
    ...validateTraffic(spec),
  ]
}

/** Whether clients outside the cluster can reach it. */
export function isExternallyAccessible(spec: JsonObject): boolean {
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
  return ports.flatMap((port, index) => {
    const [path, name] = [portsPath.index(index), textIn(port, 'name')]
    const errors: FieldError[] = []
    if (ports.length > 1 && name === '') errors.push(fieldError.required(path.child('name')))
    if (name !== '') errors.push(...refuse(name, path.child('name'), checkDnsLabel(name)))
    if (name !== '' && seen.has(name)) errors.push(fieldError.duplicate(path.child('name'), name))
    seen.add(name)
    errors.push(...requirePort(numberIn(port, 'port'), path.child('port')))
    errors.push(...requireChoice(textIn(port, 'protocol'), path.child('protocol'), ['SCTP', 'TCP', 'UDP']))
    errors.push(...requirePortOrName(port['targetPort'], path.child('targetPort')))
    const protocol = port['appProtocol']
    return typeof protocol === 'string'
      ? [...errors, ...requireQualifiedName(protocol, path.child('appProtocol'))]
      : errors
  })
}

const [nodePortMin, nodePortMax] = [30_000, 32_767]

/** Ports must not collide, and only services on nodes have ports there. */
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
      if (nodePort < nodePortMin || nodePort > nodePortMax)
        third.push(
          fieldError.invalid(
            path.child('nodePort'),
            nodePort,
            `provided port is not in the valid range. The range of valid ports is ${nodePortMin}-${nodePortMax}`,
          ),
        )
    }
    if (ports.has(`${protocol}/${number}`)) third.push(fieldError.duplicate(path, shownPort(protocol, number)))
    ports.add(`${protocol}/${number}`)
  })
  return [...first, ...second, ...third]
}

/** What two ports have in common, in upstream's internal form. */
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
  errors.push(...ranges.flatMap((range, index) => validateRange(range.trim(), rangesPath.index(index))))
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
  if (isExternallyAccessible(spec)) errors.push(...requireChoice(policy, policyPath, ['Cluster', 'Local']))
  else if (policy !== '')
    errors.push(fieldError.invalid(policyPath, policy, 'may only be set for externally-accessible services'))
  if (needsHealthCheckPort(spec))
    errors.push(...(port === 0 ? [fieldError.required(portPath)] : requirePort(port, portPath)))
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
