/**
 * One condition on the labels of an object; a selector is a list of them, all of which must hold.
 *
 * Invariants: only own properties of a label map count, so `toString` exists only where somebody set it; negative
 * operators (`!=`, `notin`, `!`) also match objects that lack the key.
 */
import { unreachable } from '#base'
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import { getOwn } from '../json.ts'
import { checkLabelValue, checkQualifiedName } from '../names.ts'
import { compareText } from '../text.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** None for `exists` and `!`, one for comparisons, one or more for `in` and `notin`. */
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** Whether all requirements hold; no requirements match everything. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels | undefined): boolean {
  return requirements.every((requirement) => matchesRequirement(requirement, labels && getOwn(labels, requirement.key)))
}

/**
 * The canonical text: requirements as they are ordered, values sorted, no spaces but those around words.
 *
 * It parses back to the same requirements, sorted by key.
 */
export function formatLabelRequirements(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',')
}

/** The one value a key must have, if the requirements pin it down: what an index can look up. */
export function exactLabelValue(requirements: readonly LabelRequirement[], key: string): string | undefined {
  const first = requirements.find((requirement) => requirement.key === key)
  return first && pinning.has(first.operator) && first.values.length === 1 ? first.values[0] : undefined
}

/** What is wrong with a requirement, in upstream's words. */
export function validateLabelRequirement({ key, operator, values }: LabelRequirement): FieldError[] {
  const complaints = checkQualifiedName(key)
  const errors = complaints.length > 0 ? [fieldError.invalid(FieldPath.of('key'), key, complaints.join('; '))] : []
  errors.push(...validateCount(operator, values))
  for (const [index, value] of values.entries()) {
    const valueComplaints = checkLabelValue(value)
    if (valueComplaints.length > 0)
      errors.push(fieldError.invalid(valuesPath.index(index).key(key), value, valueComplaints.join('; ')))
  }
  return errors
}

const valuesPath = FieldPath.of('values')
const pinning: ReadonlySet<LabelOperator> = new Set(['=', '==', 'in'])

function matchesRequirement({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value)
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt':
      return value !== undefined && compares(operator, parseInt64(value), parseInt64(values[0] ?? ''))
    default:
      return unreachable(operator)
  }
}

function compares(operator: 'gt' | 'lt', value: bigint | undefined, bound: bigint | undefined): boolean {
  if (value === undefined || bound === undefined) return false
  return operator === 'gt' ? value > bound : value < bound
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const list = [...values].sort(compareText).join(',')
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`
    case 'gt':
      return `${key}>${list}`
    case 'lt':
      return `${key}<${list}`
    case '=':
    case '==':
    case '!=':
      return `${key}${operator}${list}`
    default:
      return unreachable(operator)
  }
}

function validateCount(operator: LabelOperator, values: readonly string[]): FieldError[] {
  const wrong = (detail: string): FieldError[] => [fieldError.invalid(valuesPath, values, detail)]
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length === 0 ? wrong("for 'in', 'notin' operators, values set can't be empty") : []
    case '=':
    case '==':
    case '!=':
      return values.length !== 1 ? wrong('exact-match compatibility requires one single value') : []
    case 'exists':
    case '!':
      return values.length !== 0 ? wrong('values set must be empty for exists and does not exist') : []
    case 'gt':
    case 'lt':
      if (values.length !== 1) return wrong("for 'Gt', 'Lt' operators, exactly one value is required")
      return values.flatMap(validateInteger)
    default: {
      const supported = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!']
      return [fieldError.notSupported(FieldPath.of('operator'), operator satisfies never, supported)]
    }
  }
}

function validateInteger(value: string, index: number): FieldError[] {
  if (parseInt64(value) !== undefined) return []
  return [fieldError.invalid(valuesPath.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer")]
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,63}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined
}
