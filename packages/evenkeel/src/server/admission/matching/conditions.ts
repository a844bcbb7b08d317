/**
 * Match conditions: expressions that all have to be true before anybody is asked.
 *
 * One that is false decides, whatever became of the others; otherwise errors do.
 */
import type { AdmissionEvaluation, AdmissionExpression } from '#api'

type ConditionsResult = { readonly isMet: boolean; readonly error?: undefined } | { readonly error: string }

/** Whether all conditions are true, or what went wrong. */
export async function meetsConditions(
  conditions: readonly AdmissionExpression[],
  evaluation: AdmissionEvaluation,
): Promise<ConditionsResult> {
  const errors: string[] = []
  let isMet = true
  for (const condition of conditions) {
    const asked = evaluation.evaluate(condition)
    const outcome = asked instanceof Promise ? await asked : asked
    if (outcome.error === undefined) isMet &&= outcome.value === true
    else if (outcome.isExhausted) return { error: outcome.error }
    else errors.push(outcome.error)
  }
  return isMet && errors.length > 0 ? { error: joinErrors([...new Set(errors)]) } : { isMet }
}

/** Several errors as one text, in upstream's way. */
function joinErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`
}
