/**
 * When an author says for himself what ready means: a function, or an expression in CEL about `object`.
 *
 * What a rule throws, and an expression that cannot be evaluated (a field that is not there yet), is `Progressing` with
 * the reason `RuleFailed`: an object of which nobody can say that it is ready is not.
 */
import { isJsonObject, loadClaimsEngine } from '#api'
import type { ClaimsExpression, JsonObject, KubeObject } from '#api'
import { readinessOf } from './readiness.ts'
import type { Readiness } from './verdict.ts'

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
