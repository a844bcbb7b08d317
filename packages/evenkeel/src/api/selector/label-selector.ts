/**
 * Label selectors: the object form of specs, `{ matchLabels, matchExpressions }`, and its requirements.
 *
 * A missing selector selects nothing; an empty one selects everything. A selector matches when all its requirements
 * match. Only own properties of a label map count, so `toString` is a label only where a client set it. Negative
 * operators (`!=`, `notin`, `!`) also match objects without the key.
 */
import { unreachable } from '#base'
import {
  pushAll,
  checkLabelValue,
  checkQualifiedName,
  compareText,
  getOwn,
  quote,
  setOwn,
} from '@evenkeel/cel/primitives'
import { badRequest } from '../errors/constructors.ts'
import { errorsOfEach, fieldError, FieldPath, formatFieldErrors, type FieldError } from '../errors/field-error.ts'
import { validateLabels } from '../metadata.ts'

export type LabelSelectorRequirement = {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

export type LabelSelector = {
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
  const errors = errorsOfEach(requirements, validateLabelRequirement)
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
 * @throws {ApiError} `BadRequest` for `>` and `<`, which the object form does not have.
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

/** The validation errors of a selector in a spec. */
export function validateLabelSelector(selector: LabelSelector, path: FieldPath): FieldError[] {
  const expressions = selector.matchExpressions ?? []
  return [
    ...validateLabels(selector.matchLabels ?? {}, path.child('matchLabels')),
    ...errorsOfEach(expressions, (expression, index) =>
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
    ...errorsOfEach(values, (value, index) =>
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

// Requirements.

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
  if (requirements.length > fewRequirements && countOf(labels) < requirements.length)
    return matchesMany(requirements, labels ?? {})
  return requirements.every((requirement) => matchesRequirement(requirement, labels && getOwn(labels, requirement.key)))
}

const fewRequirements = 20

/** Requirements by their keys, and the number of keys that must be present. */
interface RequirementIndex {
  readonly byKey: ReadonlyMap<string, readonly LabelRequirement[]>
  readonly needed: ReadonlySet<string>
}

const indexes = new WeakMap<readonly LabelRequirement[], RequirementIndex>()
const counts = new WeakMap<Labels, number>()

/** Counted once for all watches of an event. */
function countOf(labels: Labels | undefined): number {
  if (labels === undefined) return 0
  const count = counts.get(labels) ?? Object.keys(labels).length
  counts.set(labels, count)
  return count
}

/**
 * The same for a long selector, by the labels and not by the requirements: an event has few labels, and a thousand
 * watches may have a thousand requirements each. What is required of an absent key holds (`!a`, `a != b`) unless the key
 * is needed.
 */
function matchesMany(requirements: readonly LabelRequirement[], labels: Labels): boolean {
  const { byKey, needed } = indexOf(requirements)
  let present = 0
  for (const key of Object.keys(labels)) {
    const about = byKey.get(key)
    if (!about) continue
    const value = getOwn(labels, key)
    if (!about.every((requirement) => matchesRequirement(requirement, value))) return false
    if (needed.has(key)) present++
  }
  return present === needed.size
}

function indexOf(requirements: readonly LabelRequirement[]): RequirementIndex {
  const known = indexes.get(requirements)
  if (known) return known
  const byKey = new Map<string, LabelRequirement[]>()
  const needed = new Set<string>()
  for (const requirement of requirements) {
    const { key } = requirement
    const about = byKey.get(key)
    if (about) about.push(requirement)
    else byKey.set(key, [requirement])
    if (!matchesRequirement(requirement, undefined)) needed.add(key)
  }
  const made = { byKey, needed }
  indexes.set(requirements, made)
  return made
}

/**
 * The canonical text: requirements as they are ordered, values sorted, no spaces but those around words.
 *
 * It parses back to the same requirements, sorted by key.
 */
export function formatLabelRequirements(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',')
}

/** The only value that a key can have, if the requirements determine it: an index can look it up. */
export function exactLabelValue(requirements: readonly LabelRequirement[], key: string): string | undefined {
  const first = requirements.find((requirement) => requirement.key === key)
  return first && pinning.has(first.operator) && first.values.length === 1 ? first.values[0] : undefined
}

/** The validation errors of a requirement, with the text of upstream. */
export function validateLabelRequirement({ key, operator, values }: LabelRequirement): FieldError[] {
  const complaints = checkQualifiedName(key)
  const errors = complaints.length > 0 ? [fieldError.invalid(FieldPath.of('key'), key, complaints.join('; '))] : []
  pushAll(errors, validateCount(operator, values))
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
      return errorsOfEach(values, validateInteger)
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
