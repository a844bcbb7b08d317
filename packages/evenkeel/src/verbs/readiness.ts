/**
 * Readiness of an object in one state, as `kubectl wait` and `kubectl rollout status` would see it.
 *
 *   being deleted ──▶ Terminating     generation not observed ──▶ Progressing
 *   built-in kind ──▶ the rule of that kind     has conditions ──▶ what they say     otherwise ──▶ Ready
 *
 * Everything here is pure. An object without conditions is ready as soon as it exists: a ConfigMap has nothing to report.
 *
 * An author may replace these rules with a function or a CEL expression about `object`. A rule that throws, and an
 * expression that cannot be evaluated (a field is missing), gives `Progressing` with the reason `RuleFailed`, never Ready.
 */
import {
  findCondition,
  getOwn,
  isJsonObject,
  loadClaimsEngine,
  parseApiVersion,
  type ClaimsExpression,
  type Condition,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type PartState,
  asJson,
} from '#api'

/** The state of an object, and why. */
export interface Readiness {
  readonly state: PartState
  /** One word in CamelCase. */
  readonly reason?: string
  /** A sentence for people. */
  readonly message?: string
}

/** The readiness of an object by its kind, its generation and its conditions. */
export function readinessOf(object: KubeObject): Readiness {
  const { deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined)
    return { state: 'Terminating', reason: 'Deleting', message: `deletion requested at ${deletionTimestamp}` }
  const unobserved = checkObservedGeneration(object)
  if (unobserved) return unobserved
  const rule = coreRules.get(`${object.kind}.${parseApiVersion(object.apiVersion).group}`)
  return rule ? rule(object) : byConditions(object)
}

/** Readiness by the condition types that most controllers use. */
function byConditions(object: KubeObject): Readiness {
  const conditions = conditionsOf(object)
  const failed = isTrue(conditions, 'Failed') ?? isTrue(conditions, 'Stalled')
  if (failed) return { state: 'Failed', ...causeOf(failed) }
  for (const type of ['Ready', 'Available', 'Succeeded', 'Complete']) {
    const condition = findCondition(conditions, type)
    if (!condition) continue
    if (isOutdated(condition, object))
      return { state: 'Progressing', reason: 'NotObserved', message: `condition ${type} is for an earlier generation` }
    return condition.status === 'True' ? { state: 'Ready' } : { state: 'Progressing', ...causeOf(condition) }
  }
  const reconciling = isTrue(conditions, 'Reconciling')
  return reconciling ? { state: 'Progressing', ...causeOf(reconciling) } : { state: 'Ready' }
}

/** A status for an earlier generation says nothing about this one. */
function checkObservedGeneration(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = observedGenerationOf(object)
  if (generation === undefined || observed === undefined || observed >= generation) return undefined
  return {
    state: 'Progressing',
    reason: 'NotObserved',
    message: `generation ${generation} is not observed yet (observed: ${observed})`,
  }
}

export function observedGenerationOf(object: KubeObject): number | undefined {
  const observed = statusOf(object)['observedGeneration']
  return typeof observed === 'number' ? observed : undefined
}

/** The entries of `status.conditions` that are objects. */
function conditionsOf(object: KubeObject): readonly Condition[] {
  const conditions: unknown = statusOf(object)['conditions']
  return Array.isArray(conditions) ? (conditions.filter(isJsonObject) as readonly object[] as readonly Condition[]) : []
}

function statusOf(object: KubeObject): JsonObject {
  const { status } = object as { readonly status?: unknown }
  return isJsonObject(status) ? status : {}
}

function isTrue(conditions: readonly Condition[], type: string): Condition | undefined {
  const condition = findCondition(conditions, type)
  return condition?.status === 'True' ? condition : undefined
}

function isOutdated({ observedGeneration }: Condition, { metadata: { generation } }: KubeObject): boolean {
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
}

function causeOf({ type, reason, message }: Condition): Pick<Readiness, 'reason' | 'message'> {
  return {
    reason: typeof reason === 'string' && reason !== '' ? reason : `Not${type}`,
    message: typeof message === 'string' && message !== '' ? message : `condition ${type} is not True`,
  }
}

/**
 * A custom rule: a function, or a CEL expression that evaluates to a boolean: `object.status.phase == "Bound"`.
 *
 * @example
 * ready: (child) => child.status?.endpoint !== undefined
 */
export type ReadyRule<T = KubeObject> = ((object: T) => boolean | Readiness) | string

export type ReadinessCheck = (object: KubeObject) => Readiness

const compiled = new Map<string, ClaimsExpression>()
const compiledMax = 1000

/** The rule as a function; {@link readinessOf} without one. @throws {RangeError} for an invalid expression. */
export async function readinessCheckFor(rule: ReadyRule<never> | undefined): Promise<ReadinessCheck> {
  if (rule === undefined) return readinessOf
  const evaluate =
    typeof rule === 'string'
      ? expressionRule(await compile(rule))
      : (rule as (object: KubeObject) => boolean | Readiness)
  return (object) => evaluateRule(object, evaluate)
}

function evaluateRule(object: KubeObject, evaluate: (object: KubeObject) => boolean | Readiness): Readiness {
  if (object.metadata.deletionTimestamp !== undefined) return readinessOf(object)
  try {
    const answer = evaluate(object)
    if (typeof answer === 'object') return answer
    return answer
      ? { state: 'Ready' }
      : { state: 'Progressing', reason: 'NotReady', message: 'the readiness rule of its controller is not met' }
  } catch (error) {
    return {
      state: 'Progressing',
      reason: 'RuleFailed',
      message: error instanceof Error ? error.message : String(error),
    }
  }
}

function expressionRule(expression: ClaimsExpression): (object: KubeObject) => boolean | Readiness {
  return (object) => {
    const { value, error } = expression.evaluate(asJson(object))
    if (error !== undefined) return { state: 'Progressing', reason: 'RuleFailed', message: error }
    if (isJsonObject(value))
      return {
        state: 'Progressing',
        reason: 'RuleFailed',
        message: `${expression.text} evaluates to an object, expected a boolean`,
      }
    return value === true
  }
}

/** Compiles each text once. Beyond the limit nothing is cached: so many texts are generated at run time. */
async function compile(text: string): Promise<ClaimsExpression> {
  const known = compiled.get(text)
  if (known) return known
  const language = await loadClaimsEngine()
  const expression = language.compile(text, { variable: 'object' })
  if (compiled.size < compiledMax) compiled.set(text, expression)
  return expression
}

/*
 * Readiness of Kubernetes' built-in kinds: one rule for each kind.
 *
 * A rule trusts nothing it reads: a field that is missing or has another type counts as absent.
 */

type Rule = (object: KubeObject) => Readiness

const ready: Readiness = { state: 'Ready' }

/** By kind and group, as `Deployment.apps`. */
const coreRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
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
  if (failure?.['status'] === 'True') return { state: 'Failed', ...conditionCauseOf(failure, 'ReplicaFailure') }
  if (observedGeneration(object) === undefined) return notYet('its controller has not observed it yet')
  return counted(object, [['availableReplicas', numberAt(object, ['spec', 'replicas']) ?? 1, 'are available']])
}

/** A running Job is Progressing; only a complete one is ready. */
function job(object: KubeObject): Readiness {
  const failed = conditionOf(object, 'Failed')
  if (failed?.['status'] === 'True') return { state: 'Failed', ...conditionCauseOf(failed, 'Failed') }
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
  if (names?.['status'] === 'False') return { state: 'Failed', ...conditionCauseOf(names, 'NamesAccepted') }
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
    ? { state: 'Progressing', ...conditionCauseOf(condition, type) }
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

function conditionCauseOf(condition: JsonObject, type: string): Pick<Readiness, 'reason' | 'message'> {
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
