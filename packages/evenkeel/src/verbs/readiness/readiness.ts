/**
 * How an object is, in one word: what `kubectl wait` and `kubectl rollout status` would make of it.
 *
 *   being deleted ──▶ Terminating     its kind is in the table ──▶ what the table says
 *   its controller has not seen it ──▶ Progressing     it has conditions ──▶ what they say     nothing of that ──▶ Ready
 *
 * Everything here is pure. An object that says nothing about itself is ready by being there: a ConfigMap cannot do more.
 */
import { findCondition, getOwn, isJsonObject, parseApiVersion } from '#api'
import type { Condition, JsonObject, KubeObject } from '#api'
import { coreRules } from './core-kinds.ts'
import type { Readiness } from './verdict.ts'

/** How an object is, by what it says about itself. */
export function readinessOf(object: KubeObject): Readiness {
  const { deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined)
    return { state: 'Terminating', reason: 'Deleting', message: `is being deleted since ${deletionTimestamp}` }
  const unseen = unseenGeneration(object)
  if (unseen) return unseen
  const rule = coreRules.get(`${object.kind}.${parseApiVersion(object.apiVersion).group}`)
  return rule ? rule(object) : byConditions(object)
}

/** What the conditions of any kind say: the words that most controllers use. */
function byConditions(object: KubeObject): Readiness {
  const conditions = conditionsOf(object)
  const failed = isTrue(conditions, 'Failed') ?? isTrue(conditions, 'Stalled')
  if (failed) return { state: 'Failed', ...why(failed) }
  for (const type of ['Ready', 'Available', 'Succeeded', 'Complete']) {
    const condition = findCondition(conditions, type)
    if (!condition) continue
    if (isOld(condition, object))
      return { state: 'Progressing', reason: 'NotObserved', message: `${type} is about an earlier generation` }
    return condition.status === 'True' ? { state: 'Ready' } : { state: 'Progressing', ...why(condition) }
  }
  const reconciling = isTrue(conditions, 'Reconciling')
  return reconciling ? { state: 'Progressing', ...why(reconciling) } : { state: 'Ready' }
}

/** A status that is about an earlier spec says nothing about this one. */
function unseenGeneration(object: KubeObject): Readiness | undefined {
  const { generation } = object.metadata
  const observed = observedGenerationOf(object)
  if (generation === undefined || observed === undefined || observed >= generation) return undefined
  return {
    state: 'Progressing',
    reason: 'NotObserved',
    message: `generation ${generation} has not been looked at, only ${observed}`,
  }
}

export function observedGenerationOf(object: KubeObject): number | undefined {
  const observed = statusOf(object)['observedGeneration']
  return typeof observed === 'number' ? observed : undefined
}

/** The conditions of an object, as far as they are some. */
function conditionsOf(object: KubeObject): readonly Condition[] {
  const conditions = statusOf(object)['conditions']
  return (Array.isArray(conditions) ? conditions.filter(isJsonObject) : []) as unknown as readonly Condition[]
}

function statusOf(object: KubeObject): JsonObject {
  const status = getOwn(object as unknown as JsonObject, 'status')
  return isJsonObject(status) ? status : {}
}

function isTrue(conditions: readonly Condition[], type: string): Condition | undefined {
  const condition = findCondition(conditions, type)
  return condition?.status === 'True' ? condition : undefined
}

function isOld({ observedGeneration }: Condition, { metadata: { generation } }: KubeObject): boolean {
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation
}

function why({ type, reason, message }: Condition): Pick<Readiness, 'reason' | 'message'> {
  return {
    reason: typeof reason === 'string' && reason !== '' ? reason : `Not${type}`,
    message: typeof message === 'string' && message !== '' ? message : `${type} does not hold`,
  }
}
