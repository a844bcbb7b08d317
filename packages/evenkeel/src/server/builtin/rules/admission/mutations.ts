/**
 * The changes a mutating policy makes: a JSON patch or an apply configuration, each from one expression.
 */
import { fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject } from '#api'
import { optionalObjectIn, textIn } from '../reading.ts'
import type { ExpressionChecker } from './expressions.ts'

const forms = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

export function validateMutations(
  mutations: readonly JsonObject[],
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  if (mutations.length === 0) return [fieldError.required(path, 'mutations must contain at least one item')]
  return mutations.flatMap((mutation, index) => validateMutation(mutation, path.index(index), { expressions }))
}

function validateMutation(
  mutation: JsonObject,
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  const type = textIn(mutation, 'patchType')
  if (type === '') return [fieldError.required(path.child('patchType'))]
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch')
    return [fieldError.notSupported(path.child('patchType'), type, Object.keys(forms))]
  const [used, other] =
    type === 'JSONPatch' ? [forms.JSONPatch, forms.ApplyConfiguration] : [forms.ApplyConfiguration, forms.JSONPatch]
  const change = optionalObjectIn(mutation, used)
  const errors =
    change === undefined
      ? [fieldError.required(path.child(used), `must be specified when patchType is ${type}`)]
      : validateChange(textIn(change, 'expression').trim(), path.child(used, 'expression'), {
          expressions,
          isPatch: type === 'JSONPatch',
        })
  if (optionalObjectIn(mutation, other) === undefined) return errors
  return [
    ...errors,
    fieldError.invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`),
  ]
}

function validateChange(
  text: string,
  path: FieldPath,
  { expressions, isPatch }: { expressions: ExpressionChecker; isPatch: boolean },
): FieldError[] {
  if (text === '') return [fieldError.required(path)]
  return isPatch ? expressions.patch(text, path) : expressions.configuration(text, path)
}
