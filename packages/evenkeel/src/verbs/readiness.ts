/**
 * How an object is, in one word: what `kubectl wait` and `kubectl rollout status` would make of it.
 *
 *   being deleted ──▶ Terminating     its kind is in the table ──▶ what the table says
 *   its controller has not seen it ──▶ Progressing     it has conditions ──▶ what they say     nothing of that ──▶ Ready
 *
 * Everything here is pure. An object that says nothing about itself is ready by being there: a ConfigMap cannot do more.
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
  type KubeObject,
  type PartState,
} from '#api'
import { coreRules } from './core-kind-readiness.ts'

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

/*
 * When an author says for himself what ready means: a function, or an expression in CEL about `object`.
 *
 * What a rule throws, and an expression that cannot be evaluated (a field that is not there yet), is `Progressing` with
 * the reason `RuleFailed`: an object of which nobody can say that it is ready is not.
 */

/**
 * A function, or the text of an expression that gives a truth value: `object.status.phase == "Bound"`.
 *
 * @example
 * ready: (child) => child.status?.endpoint !== undefined
 */
export type ReadyRule<T = KubeObject> = ((object: T) => boolean | Readiness) | string

export type ReadinessCheck = (object: KubeObject) => Readiness

const compiled = new Map<string, ClaimsExpression>()
const compiledMax = 1000

/** The rule as a function; without one, what the object says about itself. @throws {RangeError} for a text that is no expression. */
export async function readinessCheckFor(rule: ReadyRule<never> | undefined): Promise<ReadinessCheck> {
  if (rule === undefined) return readinessOf
  const ask =
    typeof rule === 'string'
      ? askExpression(await compile(rule))
      : (rule as (object: KubeObject) => boolean | Readiness)
  return (object) => evaluateRule(object, ask)
}

function evaluateRule(object: KubeObject, ask: (object: KubeObject) => boolean | Readiness): Readiness {
  if (object.metadata.deletionTimestamp !== undefined) return readinessOf(object)
  try {
    const answer = ask(object)
    if (typeof answer === 'object') return answer
    return answer
      ? { state: 'Ready' }
      : { state: 'Progressing', reason: 'NotReady', message: 'is not ready by the rule of its controller' }
  } catch (error) {
    return {
      state: 'Progressing',
      reason: 'RuleFailed',
      message: error instanceof Error ? error.message : String(error),
    }
  }
}

function askExpression(expression: ClaimsExpression): (object: KubeObject) => boolean | Readiness {
  return (object) => {
    const { value, error } = expression.evaluate(object as unknown as JsonObject)
    if (error !== undefined) return { state: 'Progressing', reason: 'RuleFailed', message: error }
    if (isJsonObject(value))
      return {
        state: 'Progressing',
        reason: 'RuleFailed',
        message: `${expression.text} gives an object, not a truth value`,
      }
    return value === true
  }
}

/** Compiled once for each text; when there are too many they are texts made at run time, and not kept. */
async function compile(text: string): Promise<ClaimsExpression> {
  const known = compiled.get(text)
  if (known) return known
  const language = await loadClaimsEngine()
  const expression = language.compile(text, { variable: 'object' })
  if (compiled.size < compiledMax) compiled.set(text, expression)
  return expression
}

/*
 * How an object is, and why: what every rule about readiness gives.
 */

export interface Readiness {
  readonly state: PartState
  /** One word in CamelCase. */
  readonly reason?: string
  /** A sentence for people. */
  readonly message?: string
}
