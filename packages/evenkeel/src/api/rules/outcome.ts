/**
 * What is said of a broken rule: the message, which may be an expression of its own, and the error of the reason given.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import { fieldCauses } from '../error/reasons.ts'
import type { JsonValue } from '../json.ts'
import { quote, utf8Length } from '../text.ts'
import type { CompiledRule } from './compile.ts'
import { messageOf } from './rule.ts'
import type { Rule } from './rule.ts'

/** A message may be this long. */
const messageBytesMax = 5 * 1024

interface RuleMessage {
  readonly text: string
  /** What is left to spend. */
  readonly budget: number
  /** Whether the message cost too much, so that nothing more is evaluated. */
  readonly isFatal: boolean
}

/** The words of a broken rule. An expression that gives no good ones is passed over; one that costs too much is not. */
export function evaluateMessage(
  { rule, messageExpression }: CompiledRule,
  bindings: Readonly<Record<string, unknown>>,
  budget: number,
): RuleMessage {
  const otherwise = messageOf(rule)
  if (!messageExpression) return { text: otherwise, budget, isFatal: false }
  const result = messageExpression.evaluate(bindings)
  if (result.cost > budget)
    return fatal(
      'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    )
  if (result.error !== undefined && result.costExceeded) {
    return fatal(
      `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(rule.messageExpression)}`,
    )
  }
  const text = typeof result.value === 'string' ? result.value.trim() : ''
  const isGood = text !== '' && utf8Length(text) <= messageBytesMax && !text.includes('\n')
  return { text: isGood ? text : otherwise, budget: budget - result.cost, isFatal: false }
}

function fatal(text: string): RuleMessage {
  return { text, budget: -1, isFatal: true }
}

interface RuleViolation {
  readonly path: FieldPath | undefined
  readonly value: JsonValue
  /** Objects and lists are not repeated. */
  readonly isStructure: boolean
}

/** The error of a broken rule. */
export function violationError(
  { reason }: Rule,
  text: string,
  { path, value, isStructure }: RuleViolation,
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return fieldError.forbidden(path, text)
    case 'FieldValueRequired':
      return fieldError.required(path, text)
    case 'FieldValueDuplicate':
      return isStructure
        ? { ...fieldError.duplicate(path, ''), body: fieldCauses.FieldValueDuplicate }
        : fieldError.duplicate(path, value)
    default:
      return isStructure
        ? { ...fieldError.invalid(path, '', text), body: `${fieldCauses.FieldValueInvalid}: ${text}` }
        : fieldError.invalid(path, value, text)
  }
}
