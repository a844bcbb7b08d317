/**
 * Label selectors in specs: reading them from unchecked JSON, and what is wrong with them.
 */
import { validateLabelSelector } from '#api'
import type { FieldError, FieldPath, LabelSelector, LabelSelectorRequirement } from '#api'
import { objectsIn, optionalObjectIn, textIn, textMapIn, textsIn } from './reading.ts'
import type { Fields } from './reading.ts'

/** The selector under a key; `undefined` when there is none, which selects nothing. */
export function selectorIn(fields: Fields | undefined, key: string): LabelSelector | undefined {
  const selector = optionalObjectIn(fields, key)
  if (selector === undefined) return undefined
  const matchExpressions = objectsIn(selector, 'matchExpressions').map((expression): LabelSelectorRequirement => ({
    key: textIn(expression, 'key'),
    // Whatever is there: the validator says what is not an operator.
    operator: textIn(expression, 'operator') as LabelSelectorRequirement['operator'],
    values: textsIn(expression, 'values'),
  }))
  return { matchLabels: textMapIn(selector, 'matchLabels'), matchExpressions }
}

/** What is wrong with the selector under a key; nothing when there is none. */
export function validateSelectorIn(fields: Fields | undefined, key: string, path: FieldPath): FieldError[] {
  const selector = selectorIn(fields, key)
  return selector === undefined ? [] : validateLabelSelector(selector, path.child(key))
}

/** Whether a selector says nothing, and so selects everything. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}
