/**
 * Services: defaults, the values a server allocates, and what changes of type take with them.
 */
import { deepEqual, FieldPath } from '#api'
import type { JsonObject, JsonObjectDraft } from '#api'
import type { ObjectDraft } from '../../../resources/resource.ts'
import { requireSame } from '../checks.ts'
import { draftsIn, ensureDraft, setDefault, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { numberIn, objectIn, objectsIn, optionalObjectIn, textIn } from '../reading.ts'
import { allocateService, keepServiceAllocations, needsHealthCheckPort, needsNodePorts } from './service-allocation.ts'
import { validateClusterIPsImmutable } from './service-addresses.ts'
import { isExternallyAccessible, validateService } from './service-validation.ts'

const clientAffinitySeconds = 10_800

export const serviceStrategy: StrategyHooks = {
  selectableFields: {
    'spec.clusterIP': (object) => textIn(objectIn(object, 'spec'), 'clusterIP'),
    'spec.type': (object) => textIn(objectIn(object, 'spec'), 'type'),
  },
  default: defaultService,
  needsOtherObjects: true,
  prepareForCreate(object, context) {
    object['status'] = { loadBalancer: {} }
    allocateService(object, context)
  },
  prepareForUpdate(object, old, context) {
    dropTypeDependent(ensureDraft(object, 'spec'), objectIn(old, 'spec'))
    keepServiceAllocations(object, old)
    allocateService(object, context)
  },
  validate: (object) => validateService(object),
  validateUpdate(object, old) {
    const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
    const bothBalanced = textIn(spec, 'type') === 'LoadBalancer' && textIn(before, 'type') === 'LoadBalancer'
    const classPath = FieldPath.of('spec', 'loadBalancerClass')
    return [
      ...validateClusterIPsImmutable(spec, before),
      ...(bothBalanced
        ? requireSame(spec['loadBalancerClass'], before['loadBalancerClass'], classPath).map(onceSet)
        : []),
    ]
  },
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

/** What was allocated for the old type goes with it, unless the client says something new about it. */
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
