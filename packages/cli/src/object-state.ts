/**
 * The state of an object in one word: from its conditions, or from its fields.
 */
import { findCondition } from 'evenkeel'
import { isJsonObject } from 'evenkeel/unstable/api'
import type { Condition, KubeObject } from 'evenkeel'
import type { JsonObject } from 'evenkeel/unstable/api'

export interface ObjectState {
  /** `Ready`, `Progressing`, `Deleting`, `Failed`, or the phase that the object names. */
  readonly word: string
  /** Undefined: the object does not report it. */
  readonly isGood: boolean | undefined
  /** A sentence; may be empty. */
  readonly why: string
}

/** Conditions that report readiness, the most important first. */
const summaries = [
  'Ready',
  'Available',
  'Established',
  'Complete',
  'Succeeded',
  'Synced',
  'ChildrenReady',
  'DependenciesReady',
]

export function stateOf(object: KubeObject): ObjectState {
  const { metadata } = object
  const { status } = object as { status?: JsonObject }
  if (metadata.deletionTimestamp !== undefined)
    return { word: 'Deleting', isGood: false, why: waiting(metadata.finalizers) }
  if (!isJsonObject(status)) return { word: 'exists', isGood: undefined, why: '' }
  const lag = lagOf(object, status)
  if (lag !== undefined) return { word: 'Progressing', isGood: false, why: lag }
  const conditions = conditionsOf(object)
  const failed = findCondition(conditions, 'Failed')
  if (failed?.status === 'True') return { word: 'Failed', isGood: false, why: sentence(failed) }
  const telling = readinessOf(object)
  if (telling)
    return telling.status === 'True'
      ? { word: telling.type, isGood: true, why: sentence(telling) }
      : { word: telling.reason || `Not${telling.type}`, isGood: false, why: sentence(telling) }
  return byPhase(status)
}

/** The condition that reports the readiness of the object. */
export function readinessOf(object: KubeObject): Condition | undefined {
  const conditions = conditionsOf(object)
  return summaries.map((type) => findCondition(conditions, type)).find((condition) => condition !== undefined)
}

/** The conditions of the status. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as { status?: JsonObject }
  const conditions = isJsonObject(status) ? status['conditions'] : undefined
  return (Array.isArray(conditions) ? conditions.filter(isJsonObject) : []) as unknown as readonly Condition[]
}

function byPhase(status: JsonObject): ObjectState {
  const { phase } = status
  if (typeof phase !== 'string') return { word: 'exists', isGood: undefined, why: '' }
  return { word: phase, isGood: ['Active', 'Bound', 'Running', 'Succeeded', 'Ready'].includes(phase), why: '' }
}

function lagOf({ metadata: { generation } }: KubeObject, status: JsonObject): string | undefined {
  const observed = status['observedGeneration']
  if (generation === undefined || typeof observed !== 'number' || observed >= generation) return undefined
  return `its controller has seen generation ${observed}, it is at ${generation}`
}

/** Conditions of a cleanup that say nothing: another condition may know the reason. */
const noReason = /needs more time$/

/**
 * Why a deleted object still exists, as far as its conditions say: the cleanup that waits, or what failed in it.
 *
 * The condition of the cleanup comes first. When it only says that a step needs more time, the reason is in the condition
 * of what the step works on: `deletion failed: databases does not answer`.
 */
export function blockedBecause(object: KubeObject): string | undefined {
  const conditions = conditionsOf(object)
  const own = conditions.find(
    ({ type, status }) => (type === 'Finalizing' || type.startsWith('Namespace')) && status === 'True',
  )
  const [only, more] = object.metadata.finalizers ?? []
  // The cleanup names its finalizer, which a reader knows when it is the only one.
  const prefix = more === undefined ? `${only ?? ''} ` : ' '
  const words = own && sentence(own)
  const general = words?.startsWith(prefix) === true ? words.slice(prefix.length) : words
  if (general !== undefined && !noReason.test(general)) return general
  const telling = conditions.find(
    ({ type, status, reason = '', message = '' }) =>
      type !== 'Ready' && status === 'False' && reason !== 'Finalizing' && message !== '',
  )
  return telling ? sentence(telling) : general
}

function waiting(finalizers: readonly string[] = []): string {
  return finalizers.length === 0 ? 'no finalizer is left' : `waits for ${finalizers.join(', ')}`
}

/** The message of a condition, or its reason. */
function sentence({ reason = '', message = '' }: Condition): string {
  return message === '' ? reason : message
}
