/**
 * The object form of label selectors, as it stands in specs: `{ matchLabels, matchExpressions }`.
 *
 * Traps worth knowing: a missing selector selects nothing, an empty one selects everything.
 */
import { badRequest } from '../error/makers.ts'
import { fieldError, formatFieldErrors } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import { setOwn } from '../json.ts'
import { validateLabels } from '../metadata.ts'
import { checkLabelValue, checkQualifiedName } from '../names.ts'
import { compareText, quote } from '../text.ts'
import { matchesLabels, validateLabelRequirement } from './label-requirement.ts'
import type { LabelOperator, LabelRequirement, Labels } from './label-requirement.ts'

export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

/**
 * The requirements of a selector, sorted by key; `undefined` for a missing selector, which matches nothing.
 *
 * @throws {ApiError} `BadRequest` when the selector is malformed.
 */
export function labelRequirementsOf(selector: LabelSelector | undefined): readonly LabelRequirement[] | undefined {
  if (selector === undefined) return undefined
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: '=',
    values: [value],
  }))
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const textOperator = textOperators.get(operator)
    if (textOperator === undefined) throw badRequest(`${quote(operator)} is not a valid label selector operator`)
    requirements.push({ key, operator: textOperator, values })
  }
  const errors = requirements.flatMap(validateLabelRequirement)
  if (errors.length > 0) throw badRequest(formatFieldErrors(errors))
  return requirements.sort((a, b) => compareText(a.key, b.key))
}

/** Whether a selector selects an object with these labels. */
export function selectsLabels(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  const requirements = labelRequirementsOf(selector)
  return requirements !== undefined && matchesLabels(requirements, labels)
}

/**
 * The object form of requirements.
 *
 * @throws {ApiError} `BadRequest` for `>` and `<`, which the object form cannot say.
 */
export function toLabelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  const matchLabels: Record<string, string> = {}
  const matchExpressions: LabelSelectorRequirement[] = []
  for (const { key, operator, values } of requirements) {
    const [value] = values
    if ((operator === '=' || operator === '==') && value !== undefined && !Object.hasOwn(matchLabels, key))
      setOwn(matchLabels, key, value)
    else matchExpressions.push({ key, operator: objectOperator(operator), ...(values.length > 0 && { values }) })
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  }
}

/** What a server objects to in the selector of a spec. */
export function validateLabelSelector(selector: LabelSelector, path: FieldPath): FieldError[] {
  const expressions = selector.matchExpressions ?? []
  return [
    ...validateLabels(selector.matchLabels ?? {}, path.child('matchLabels')),
    ...expressions.flatMap((expression, index) =>
      validateExpression(expression, path.child('matchExpressions').index(index)),
    ),
  ]
}

const textOperators = new Map<string, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

function objectOperator(operator: LabelOperator): LabelSelectorRequirement['operator'] {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return 'In'
    case '!=':
    case 'notin':
      return 'NotIn'
    case 'exists':
      return 'Exists'
    case '!':
      return 'DoesNotExist'
    default:
      throw badRequest(`${quote(operator)} is not a valid label selector operator`)
  }
}

function validateExpression({ key, operator, values = [] }: LabelSelectorRequirement, path: FieldPath): FieldError[] {
  const valuesPath = path.child('values')
  return [
    ...validateValueCount(operator, values.length, path),
    ...checkQualifiedName(key).map((complaint) => fieldError.invalid(path.child('key'), key, complaint)),
    ...values.flatMap((value, index) =>
      checkLabelValue(value).map((complaint) => fieldError.invalid(valuesPath.index(index), value, complaint)),
    ),
  ]
}

function validateValueCount(operator: string, count: number, path: FieldPath): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0
        ? []
        : [fieldError.required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [
            fieldError.forbidden(
              path.child('values'),
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ]
    default:
      return [fieldError.invalid(path.child('operator'), operator, 'not a valid selector operator')]
  }
}
