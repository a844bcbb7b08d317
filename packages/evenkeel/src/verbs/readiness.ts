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
    const { value, error } = expression.evaluate(object as object as JsonObject)
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
