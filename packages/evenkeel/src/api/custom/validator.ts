/**
 * The walk of a value with its schema that collects errors.
 *
 * Every step returns how much it looked at. Upstream counts the same: of several alternatives that all fail, it tells
 * the errors of the one in which it got furthest. Recursion is bounded by the depth of the schema.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { JsonArray, JsonObject, JsonValue } from '../json.ts'
import { getOwn } from '../json.ts'
import { notInBody, pathOf } from '../schema/constraints.ts'
import { quote } from '../text.ts'
import { checkEnum, checkList, checkNumber, checkText, checkType } from './checks.ts'
import type { PatternMatcher, ValidationContext } from './checks.ts'
import type { CorrelatedValue } from './correlate.ts'
import type { CompiledSchema } from './plan.ts'

interface ValueContext extends ValidationContext {
  /** The value together with the old one it replaces, where there is one to compare with. */
  readonly pair: CorrelatedValue | undefined
}

interface ValidationResult {
  readonly errors: readonly FieldError[]
  readonly count: number
}

export class SchemaValidator {
  readonly #matches: PatternMatcher

  constructor(matches: PatternMatcher) {
    this.#matches = matches
  }

  check(value: JsonValue, plan: CompiledSchema, at: ValueContext): number {
    const { errors, pair } = at
    const before = errors.length
    const count = value === null ? this.#checkNull(plan, at) : this.#checkPresent(value, plan, at)
    if (errors.length > before && pair?.isSame() === true) errors.length = before
    return count
  }

  #checkNull(plan: CompiledSchema, at: ValueContext): number {
    const right = checkType(null, plan, at)
    checkEnum(null, plan, at)
    return right ? 1 : 0
  }

  // The order of the checks is upstream's, and so are the numbers.
  #checkPresent(value: JsonValue, plan: CompiledSchema, at: ValueContext): number {
    let count = 4
    if (plan.types !== undefined || plan.format !== undefined) count += checkType(value, plan, at) ? 2 : 1
    if (plan.alternatives !== undefined) count += this.#checkAlternatives(value, plan.alternatives, at)
    if (typeof value === 'string') {
      count += plan.format?.matches === undefined ? 1 : 2
      if (plan.limited) checkText(value, plan, { trail: at.trail, errors: at.errors, matches: this.#matches })
    } else if (typeof value === 'number') {
      count += 2
      if (plan.limited) checkNumber(value, plan, at)
    } else if (Array.isArray(value)) {
      count += 2 + this.#checkItems(value, plan, at)
      if (plan.limited) checkList(value, plan, at)
    }
    if (plan.limited) checkEnum(value, plan, at)
    return typeof value === 'object' && !Array.isArray(value)
      ? count + 1 + this.#checkFields(value as JsonObject, plan, at)
      : count
  }

  #checkItems(list: JsonArray, { items }: CompiledSchema, { trail, errors, pair }: ValueContext): number {
    if (!items) return 0
    let count = 0
    for (let index = 0; index < list.length; index++) {
      count += this.check(list[index] ?? null, items, {
        trail: { parent: trail, step: index },
        errors,
        pair: pair?.item(index),
      })
    }
    return count
  }

  #checkFields(object: JsonObject, plan: CompiledSchema, at: ValueContext): number {
    const { trail, errors } = at
    const {
      properties,
      additional,
      node: { required = [], minProperties, maxProperties, additionalProperties },
    } = plan
    let count = 0
    if (minProperties !== undefined || maxProperties !== undefined) checkCount(object, plan, at)
    for (const key of Object.keys(object)) {
      const value = object[key]
      if (value === undefined) continue
      const place = properties?.get(key) ?? additional
      if (place?.plain !== undefined && place.plain === typeof value)
        count += place.plain === 'string' ? plainTextCount : plainBooleanCount
      else if (place !== undefined)
        count += this.check(value, place, { trail: { parent: trail, step: key }, errors, pair: pairOf(key, at) })
      else if (additionalProperties === false)
        errors.push(notInBody({ parent: trail, step: key }, '', 'is a forbidden property'))
    }
    for (const key of required) {
      if (getOwn(object, key) === undefined) errors.push(fieldError.required(pathOf({ parent: trail, step: key })))
    }
    return count
  }

  /** Alternatives are about the whole value: what has not changed is not forgiven inside them. */
  #checkAlternatives(
    value: JsonValue,
    { any, one, all, not }: NonNullable<CompiledSchema['alternatives']>,
    { trail, errors }: ValueContext,
  ): number {
    const attempt = (plan: CompiledSchema): ValidationResult => {
      const found: FieldError[] = []
      return { errors: found, count: this.check(value, plan, { trail, errors: found, pair: undefined }) }
    }
    const refuse = (why: string): void => {
      errors.push(fieldError.invalid(undefined, '', `${quote(pathOf(trail)?.toString() ?? '')} must ${why}`))
    }
    let count = any.length > 0 ? checkAny(any, attempt, { errors, refuse }) : 0
    if (one.length > 0) count += checkOne(one, attempt, { errors, refuse })
    if (all.length > 0) count += checkAll(all, attempt, { errors, refuse })
    if (not !== undefined && attempt(not).errors.length === 0) refuse('not validate the schema (not)')
    return count
  }
}

/** What {@link SchemaValidator.check} counts for a good text and a good boolean; spared the walk, since most fields are such. */
const plainTextCount = 7
const plainBooleanCount = 6

interface AlternativeContext {
  readonly errors: FieldError[]
  readonly refuse: (why: string) => void
}

type AlternativeCheck = (plan: CompiledSchema) => ValidationResult

function checkAny(
  plans: readonly CompiledSchema[],
  attempt: AlternativeCheck,
  { errors, refuse }: AlternativeContext,
): number {
  let best: ValidationResult | undefined
  for (const plan of plans) {
    const outcome = attempt(plan)
    if (outcome.errors.length === 0) return outcome.count
    if (best === undefined || outcome.count > best.count) best = outcome
  }
  refuse('validate at least one schema (anyOf)')
  for (const error of best?.errors ?? []) errors.push(error)
  return best?.count ?? 0
}

function checkOne(
  plans: readonly CompiledSchema[],
  attempt: AlternativeCheck,
  { errors, refuse }: AlternativeContext,
): number {
  const outcomes = plans.map(attempt)
  const [right, ...more] = outcomes.filter((outcome) => outcome.errors.length === 0)
  if (right !== undefined) {
    if (more.length > 0) refuse(`validate one and only one schema (oneOf). Found ${more.length + 1} valid alternatives`)
    return more.length > 0 ? 0 : right.count
  }
  const best = outcomes.reduce((furthest, outcome) => (outcome.count > furthest.count ? outcome : furthest))
  refuse('validate one and only one schema (oneOf). Found none valid')
  for (const error of best.errors) errors.push(error)
  return best.count
}

function checkAll(
  plans: readonly CompiledSchema[],
  attempt: AlternativeCheck,
  { errors, refuse }: AlternativeContext,
): number {
  const outcomes = plans.map(attempt)
  const wrong = outcomes.filter((outcome) => outcome.errors.length > 0)
  for (const outcome of wrong) for (const error of outcome.errors) errors.push(error)
  if (wrong.length > 0)
    refuse(`validate all the schemas (allOf)${wrong.length === plans.length ? '. None validated' : ''}`)
  return outcomes.reduce((sum, outcome) => sum + outcome.count, 0)
}

function checkCount(
  object: JsonObject,
  { node: { minProperties, maxProperties } }: CompiledSchema,
  { trail, errors }: ValidationContext,
): void {
  const count = Object.values(object).filter((value) => value !== undefined).length
  if (minProperties !== undefined && count < minProperties)
    errors.push(notInBody(trail, count, `should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && count > maxProperties)
    errors.push(fieldError.tooMany(pathOf(trail), count, maxProperties))
}

/** The types of the whole object are never forgiven: old and new were brought to the same version before. */
function pairOf(key: string, { trail, pair }: ValueContext): CorrelatedValue | undefined {
  return pair === undefined || (trail === undefined && (key === 'kind' || key === 'apiVersion'))
    ? undefined
    : pair.field(key)
}
