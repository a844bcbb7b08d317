/**
 * When objects of the kinds that every cluster has are ready, one rule for each.
 *
 * Rules read other people's data: whatever is missing or of another type counts as not there.
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
  ['CustomResourceDefinition.apiextensions.k8s.io', definition],
  ['APIService.apiregistration.k8s.io', (object) => byCondition(object, 'Available')],
  ['PodDisruptionBudget.policy', disruptionBudget],
  ['HorizontalPodAutoscaler.autoscaling', (object) => byCondition(object, 'ScalingActive', { isOptional: true })],
])

function deployment(object: KubeObject): Readiness {
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1
  const late = conditionOf(object, 'Progressing')
  if (late?.['reason'] === 'ProgressDeadlineExceeded')
    return {
      state: 'Failed',
      reason: 'ProgressDeadlineExceeded',
      message: textOf(late['message']) || 'did not come up in time',
    }
  if (observed(object) === undefined) return notYet('has not been looked at')
  return counted(
    object,
    [
      ['updatedReplicas', wanted, 'are updated'],
      ['availableReplicas', wanted, 'are available'],
    ],
    { atMost: wanted },
  )
}

function statefulSet(object: KubeObject): Readiness {
  const wanted = numberAt(object, ['spec', 'replicas']) ?? 1
  if (observed(object) === undefined) return notYet('has not been looked at')
  const partition = numberAt(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition']) ?? 0
  const updates = textOf(at(object, ['spec', 'updateStrategy', 'type'])) !== 'OnDelete'
  const updated = partition > 0 ? Math.max(wanted - partition, 0) : wanted
  return counted(object, [
    ...(updates ? [['updatedReplicas', updated, 'are updated'] as const] : []),
    ['readyReplicas', wanted, 'are ready'],
  ])
}

function daemonSet(object: KubeObject): Readiness {
  const wanted = numberAt(object, ['status', 'desiredNumberScheduled'])
  if (observed(object) === undefined || wanted === undefined) return notYet('has not been looked at')
  const updates = textOf(at(object, ['spec', 'updateStrategy', 'type'])) !== 'OnDelete'
  return counted(object, [
    ...(updates ? [['updatedNumberScheduled', wanted, 'are updated'] as const] : []),
    ['numberAvailable', wanted, 'are available'],
  ])
}

function replicas(object: KubeObject): Readiness {
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure?.['status'] === 'True') return { state: 'Failed', ...why(failure, 'ReplicaFailure') }
  if (observed(object) === undefined) return notYet('has not been looked at')
  return counted(object, [['availableReplicas', numberAt(object, ['spec', 'replicas']) ?? 1, 'are available']])
}

/** A job that has begun is Progressing; only its end makes it ready. */
function job(object: KubeObject): Readiness {
  const failed = conditionOf(object, 'Failed')
  if (failed?.['status'] === 'True') return { state: 'Failed', ...why(failed, 'Failed') }
  if (conditionOf(object, 'Complete')?.['status'] === 'True') return ready
  if (conditionOf(object, 'Suspended')?.['status'] === 'True')
    return { state: 'Progressing', reason: 'Suspended', message: 'is suspended' }
  return notYet(
    `${numberAt(object, ['status', 'active']) ?? 0} active, ${numberAt(object, ['status', 'succeeded']) ?? 0} succeeded, ${numberAt(object, ['status', 'failed']) ?? 0} failed`,
  )
}

function pod(object: KubeObject): Readiness {
  const phase = textOf(at(object, ['status', 'phase']))
  if (phase === 'Succeeded') return ready
  if (phase === 'Failed')
    return {
      state: 'Failed',
      reason: textOf(at(object, ['status', 'reason'])) || 'Failed',
      message: textOf(at(object, ['status', 'message'])) || 'its containers ended with an error',
    }
  return byCondition(object, 'Ready')
}

function service(object: KubeObject): Readiness {
  if (textOf(at(object, ['spec', 'type'])) !== 'LoadBalancer') return ready
  const ingress = at(object, ['status', 'loadBalancer', 'ingress'])
  return Array.isArray(ingress) && ingress.length > 0 ? ready : notYet('the load balancer has no address')
}

function definition(object: KubeObject): Readiness {
  const names = conditionOf(object, 'NamesAccepted')
  if (names?.['status'] === 'False') return { state: 'Failed', ...why(names, 'NamesAccepted') }
  return byCondition(object, 'Established')
}

function disruptionBudget(object: KubeObject): Readiness {
  const wanted = numberAt(object, ['status', 'desiredHealthy'])
  if (observed(object) === undefined || wanted === undefined) return notYet('has not been looked at')
  return counted(object, [['currentHealthy', wanted, 'are healthy']])
}

function byPhase(object: KubeObject, { good, bad }: { good: readonly string[]; bad: readonly string[] }): Readiness {
  const phase = textOf(at(object, ['status', 'phase']))
  if (good.includes(phase)) return ready
  return {
    state: bad.includes(phase) ? 'Failed' : 'Progressing',
    reason: phase || 'Pending',
    message: phase === '' ? 'has no phase yet' : `is in the phase ${phase}`,
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
    ? { state: 'Progressing', ...why(condition, type) }
    : { state: 'Progressing', reason: `Not${type}`, message: `has no condition ${type} yet` }
}

type Count = readonly [field: string, wanted: number, words: string]

/** Each number of the status must come to what is wanted; with `atMost`, older ones must have gone as well. */
function counted(object: KubeObject, counts: readonly Count[], { atMost }: { atMost?: number } = {}): Readiness {
  for (const [field, wanted, words] of counts) {
    const count = numberAt(object, ['status', field]) ?? 0
    if (count < wanted) return notYet(`${count} of ${wanted} ${words}`)
    const all = numberAt(object, ['status', 'replicas']) ?? 0
    if (atMost !== undefined && field === 'updatedReplicas' && all > count)
      return notYet(`${all - count} old ones are still there`)
  }
  return ready
}

function notYet(message: string): Readiness {
  return { state: 'Progressing', reason: 'Progressing', message }
}

function why(condition: JsonObject, type: string): Pick<Readiness, 'reason' | 'message'> {
  return {
    reason: textOf(condition['reason']) || `Not${type}`,
    message: textOf(condition['message']) || `${type} is ${textOf(condition['status']) || 'Unknown'}`,
  }
}

function observed(object: KubeObject): number | undefined {
  return numberAt(object, ['status', 'observedGeneration'])
}

function conditionOf(object: KubeObject, type: string): JsonObject | undefined {
  const conditions = at(object, ['status', 'conditions'])
  return Array.isArray(conditions)
    ? conditions.filter(isJsonObject).find((condition) => condition['type'] === type)
    : undefined
}

function at(object: KubeObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object as unknown as JsonObject
  for (const name of path) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value
}

function numberAt(object: KubeObject, path: readonly string[]): number | undefined {
  const value = at(object, path)
  return typeof value === 'number' ? value : undefined
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
