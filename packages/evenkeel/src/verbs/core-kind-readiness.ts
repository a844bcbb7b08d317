/**
 * Readiness of Kubernetes' built-in kinds: one rule for each kind.
 *
 * A rule trusts nothing it reads: a field that is missing or has another type counts as absent.
 */
import { getOwn, isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '#api'
import type { Readiness } from './readiness.ts'

type Rule = (object: KubeObject) => Readiness

const ready: Readiness = { state: 'Ready' }

/** By kind and group, as `Deployment.apps`. */
export const coreRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['Deployment.apps', deployment],
  ['StatefulSet.apps', statefulSet],
  ['DaemonSet.apps', daemonSet],
  ['ReplicaSet.apps', replicas],
  ['ReplicationController.', replicas],
  ['Job.batch', job],
  ['Pod.', pod],
  ['Service.', service],
  ['Ingress.networking.k8s.io', () => ready],
  ['PersistentVolumeClaim.', (object) => byPhase(object, { good: ['Bound'], bad: ['Lost'] })],
  ['PersistentVolume.', (object) => byPhase(object, { good: ['Available', 'Bound', 'Released'], bad: ['Failed'] })],
  ['Namespace.', (object) => byPhase(object, { good: ['Active'], bad: [] })],
  ['CustomResourceDefinition.apiextensions.k8s.io', customResourceDefinition],
  ['APIService.apiregistration.k8s.io', (object) => byCondition(object, 'Available')],
  ['PodDisruptionBudget.policy', disruptionBudget],
  ['HorizontalPodAutoscaler.autoscaling', (object) => byCondition(object, 'ScalingActive', { isOptional: true })],
])

function deployment(object: KubeObject): Readiness {
  const desired = numberAt(object, ['spec', 'replicas']) ?? 1
  const progressing = conditionOf(object, 'Progressing')
  if (progressing?.['reason'] === 'ProgressDeadlineExceeded')
    return {
      state: 'Failed',
      reason: 'ProgressDeadlineExceeded',
      message: textOf(progressing['message']) || 'did not become ready before its progress deadline',
    }
  if (observedGeneration(object) === undefined) return notYet('its controller has not observed it yet')
  return counted(
    object,
    [
      ['updatedReplicas', desired, 'are updated'],
      ['availableReplicas', desired, 'are available'],
    ],
    { atMost: desired },
  )
}

function statefulSet(object: KubeObject): Readiness {
  const desired = numberAt(object, ['spec', 'replicas']) ?? 1
  if (observedGeneration(object) === undefined) return notYet('its controller has not observed it yet')
  const partition = numberAt(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition']) ?? 0
  const updates = textOf(valueAt(object, ['spec', 'updateStrategy', 'type'])) !== 'OnDelete'
  const updated = partition > 0 ? Math.max(desired - partition, 0) : desired
  return counted(object, [
    ...(updates ? [['updatedReplicas', updated, 'are updated'] as const] : []),
    ['readyReplicas', desired, 'are ready'],
  ])
}

function daemonSet(object: KubeObject): Readiness {
  const desired = numberAt(object, ['status', 'desiredNumberScheduled'])
  if (observedGeneration(object) === undefined || desired === undefined)
    return notYet('its controller has not observed it yet')
  const updates = textOf(valueAt(object, ['spec', 'updateStrategy', 'type'])) !== 'OnDelete'
  return counted(object, [
    ...(updates ? [['updatedNumberScheduled', desired, 'are updated'] as const] : []),
    ['numberAvailable', desired, 'are available'],
  ])
}

function replicas(object: KubeObject): Readiness {
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure?.['status'] === 'True') return { state: 'Failed', ...causeOf(failure, 'ReplicaFailure') }
  if (observedGeneration(object) === undefined) return notYet('its controller has not observed it yet')
  return counted(object, [['availableReplicas', numberAt(object, ['spec', 'replicas']) ?? 1, 'are available']])
}

/** A running Job is Progressing; only a complete one is ready. */
function job(object: KubeObject): Readiness {
  const failed = conditionOf(object, 'Failed')
  if (failed?.['status'] === 'True') return { state: 'Failed', ...causeOf(failed, 'Failed') }
  if (conditionOf(object, 'Complete')?.['status'] === 'True') return ready
  if (conditionOf(object, 'Suspended')?.['status'] === 'True')
    return { state: 'Progressing', reason: 'Suspended', message: 'is suspended' }
  return notYet(
    `${numberAt(object, ['status', 'active']) ?? 0} active, ${numberAt(object, ['status', 'succeeded']) ?? 0} succeeded, ${numberAt(object, ['status', 'failed']) ?? 0} failed`,
  )
}

function pod(object: KubeObject): Readiness {
  const phase = textOf(valueAt(object, ['status', 'phase']))
  if (phase === 'Succeeded') return ready
  if (phase === 'Failed')
    return {
      state: 'Failed',
      reason: textOf(valueAt(object, ['status', 'reason'])) || 'Failed',
      message: textOf(valueAt(object, ['status', 'message'])) || 'its containers failed',
    }
  return byCondition(object, 'Ready')
}

function service(object: KubeObject): Readiness {
  if (textOf(valueAt(object, ['spec', 'type'])) !== 'LoadBalancer') return ready
  const ingress = valueAt(object, ['status', 'loadBalancer', 'ingress'])
  return Array.isArray(ingress) && ingress.length > 0 ? ready : notYet('the load balancer has no address')
}

function customResourceDefinition(object: KubeObject): Readiness {
  const names = conditionOf(object, 'NamesAccepted')
  if (names?.['status'] === 'False') return { state: 'Failed', ...causeOf(names, 'NamesAccepted') }
  return byCondition(object, 'Established')
}

function disruptionBudget(object: KubeObject): Readiness {
  const desired = numberAt(object, ['status', 'desiredHealthy'])
  if (observedGeneration(object) === undefined || desired === undefined)
    return notYet('its controller has not observed it yet')
  return counted(object, [['currentHealthy', desired, 'are healthy']])
}

function byPhase(object: KubeObject, { good, bad }: { good: readonly string[]; bad: readonly string[] }): Readiness {
  const phase = textOf(valueAt(object, ['status', 'phase']))
  if (good.includes(phase)) return ready
  return {
    state: bad.includes(phase) ? 'Failed' : 'Progressing',
    reason: phase || 'Pending',
    message: phase === '' ? 'has no phase yet' : `phase is ${phase}`,
  }
}

function byCondition(
  object: KubeObject,
  type: string,
  { isOptional = false }: { isOptional?: boolean } = {},
): Readiness {
  const condition = conditionOf(object, type)
  if (condition?.['status'] === 'True' || (isOptional && !condition)) return ready
  return condition
    ? { state: 'Progressing', ...causeOf(condition, type) }
    : { state: 'Progressing', reason: `Not${type}`, message: `has no condition ${type} yet` }
}

type Count = readonly [field: string, desired: number, words: string]

/** Each counter of the status must reach its desired number; with `atMost`, old replicas must be gone as well. */
function counted(object: KubeObject, counts: readonly Count[], { atMost }: { atMost?: number } = {}): Readiness {
  for (const [field, desired, words] of counts) {
    const count = numberAt(object, ['status', field]) ?? 0
    if (count < desired) return notYet(`${count} of ${desired} ${words}`)
    const all = numberAt(object, ['status', 'replicas']) ?? 0
    if (atMost !== undefined && field === 'updatedReplicas' && all > count)
      return notYet(`${all - count} old replicas are still terminating`)
  }
  return ready
}

function notYet(message: string): Readiness {
  return { state: 'Progressing', reason: 'Progressing', message }
}

function causeOf(condition: JsonObject, type: string): Pick<Readiness, 'reason' | 'message'> {
  return {
    reason: textOf(condition['reason']) || `Not${type}`,
    message: textOf(condition['message']) || `${type} is ${textOf(condition['status']) || 'Unknown'}`,
  }
}

function observedGeneration(object: KubeObject): number | undefined {
  return numberAt(object, ['status', 'observedGeneration'])
}

function conditionOf(object: KubeObject, type: string): JsonObject | undefined {
  const conditions = valueAt(object, ['status', 'conditions'])
  return Array.isArray(conditions)
    ? conditions.filter(isJsonObject).find((condition) => condition['type'] === type)
    : undefined
}

function valueAt(object: KubeObject, path: readonly string[]): JsonValue | undefined {
  let value: unknown = object
  for (const name of path) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value as JsonValue | undefined
}

function numberAt(object: KubeObject, path: readonly string[]): number | undefined {
  const value = valueAt(object, path)
  return typeof value === 'number' ? value : undefined
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
