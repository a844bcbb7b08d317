/**
 * Validates a custom object, or a default inside a CRD, by its structural schema: a list of errors in the wording and
 * order of kube-apiserver.
 *
 * An object passes four checks: values, embedded resources, lists of type set and map, CEL rules. Rules are skipped when
 * an earlier error would make them fail for a reason that their author did not write. On an update an error in a part
 * that has not changed is dropped; of list types only when the old object had such an error, too.
 *
 * Values are checked recursively, and every step returns how many checks it made. kube-apiserver counts the same: when all
 * members of an `anyOf` fail, it reports the errors of the member with the highest count. For example
 *
 *     anyOf: [{ properties: { a: { type: string } } }, { minProperties: 9 }]   with { a: 1 }
 *
 * reports the wrong type of `a`, because the first member looked at one value more. Recursion is bounded by the depth of
 * the schema. Alternatives multiply: each looks at the whole value. So the values that are looked at are counted, and an
 * object that needs too many is refused. After many errors the rest of a list or object is not looked at.
 */
import { getOwn, quote, type JsonArray, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { requestEntityTooLarge } from '../errors/constructors.ts'
import { fieldError, formatFieldError, foundErrorsMax, type FieldError } from '../errors/field-error.ts'
import type { RuleEvaluator } from '../rules/rules.ts'
import { compileSchema, type CompiledSchema, type SchemaLimits } from './compile.ts'
import { CorrelatedValue } from './correlate.ts'
import { formatOfDefault } from './formats.ts'
import { validateListTypes } from './list-types.ts'
import { validateEmbeddedResources } from './object-meta.ts'
import type { SchemaNode } from './schema.ts'
import {
  checkEnum,
  checkList,
  checkNumber,
  checkText,
  checkType,
  notInBody,
  pathOf,
  pathText,
  type PatternMatcher,
  type ValidationContext,
  type ValueType,
} from './value-checks.ts'

export interface ValidateCustomOptions {
  /** Whether a text matches a pattern, in the dialect of RE2. Patterns come from users: the time must be linear in the text. */
  readonly matches: PatternMatcher
  /** The object that is to be replaced. */
  readonly old?: JsonObject | undefined
  /**
   * The part that is written. A write to the status validates only the status, without embedded resources.
   *
   * @default the whole object
   */
  readonly part?: 'status'
  /**
   * The rules of the schema, compiled.
   *
   * @default none is evaluated
   */
  readonly rules?: RuleEvaluator | undefined
  /**
   * Receives the message of a rule that an unchanged part violates, which is no error.
   *
   * @default messages are dropped
   */
  readonly warn?: ((text: string) => void) | undefined
}

/** The errors of an object that has been pruned and has its defaults. */
export function validateCustomObject(
  object: JsonObject,
  schema: SchemaNode,
  options: ValidateCustomOptions,
): FieldError[] {
  const errors = validateBySchema(object, schema, options)
  const { rules, old, warn } = options
  if (!rules) return errors
  // Rules rely on types and limits: with those violated they would fail for reasons that are not theirs.
  if (errors.some(({ type }) => blocking.has(type)))
    return [...errors, fieldError.invalid(undefined, null, notEvaluated)]
  return [...errors, ...rules.evaluate(object, { old, warn })]
}

const blocking: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
const notEvaluated =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

function validateBySchema(
  object: JsonObject,
  schema: SchemaNode,
  { matches, old, part }: ValidateCustomOptions,
): FieldError[] {
  const plan = compileSchema(schema)
  const errors =
    part === undefined
      ? [
          ...validateValues(object, plan, { matches, old }),
          ...(plan.hasEmbedded ? validateEmbeddedResources(object, plan, undefined) : []),
        ]
      : validateStatus(object, plan, { matches, old })
  if (!plan.hasListTypes || (old && validateListTypes(old, plan, undefined).length > 0)) return errors
  return [...errors, ...validateListTypes(object, plan, undefined)]
}

/**
 * What is wrong with a default inside a CRD, by the schema node that declares it. Paths begin at the default.
 *
 * kube-apiserver looks at less here than in an object: neither at list types, nor at int-or-string.
 */
export function validateDefault(
  value: JsonValue,
  schema: SchemaNode,
  { matches }: { matches: PatternMatcher },
): FieldError[] {
  const errors: FieldError[] = []
  const validator = new SchemaValidator(matches, { typeOf: typeOfDefault })
  validator.check(value, compileSchema(schema), { trail: undefined, errors, pair: undefined })
  return withoutDuplicates(errors)
}

function typeOfDefault({ type, formatName, nullable }: CompiledSchema): ValueType {
  const types = type === undefined ? undefined : [type]
  return { types, format: formatOfDefault(formatName, types), nullable }
}

interface ValueValidationOptions {
  readonly matches: PatternMatcher
  readonly old: JsonValue | undefined
}

/** Paths begin below the status; only the field of an error names it. */
function validateStatus(
  { status }: JsonObject,
  plan: CompiledSchema,
  { matches, old }: { matches: PatternMatcher; old: JsonObject | undefined },
): FieldError[] {
  const place = plan.properties?.get('status')
  if (status === undefined || place === undefined) return []
  return validateValues(status, place, { matches, old: old?.['status'] }).map((error) => ({
    ...error,
    field: error.field === '<nil>' ? 'status' : `status.${error.field}`,
  }))
}

/** The old object is read only when there are errors: it can only remove some. */
function validateValues(
  value: JsonValue,
  plan: CompiledSchema,
  { matches, old }: ValueValidationOptions,
): FieldError[] {
  const validator = new SchemaValidator(matches)
  const errors: FieldError[] = []
  validator.check(value, plan, { trail: undefined, errors, pair: undefined })
  if (errors.length === 0 || old === undefined) return withoutDuplicates(errors)
  const remaining: FieldError[] = []
  validator.check(value, plan, { trail: undefined, errors: remaining, pair: new CorrelatedValue(value, old, plan) })
  return withoutDuplicates(remaining)
}

function withoutDuplicates(errors: FieldError[]): FieldError[] {
  return errors.length < 2 ? errors : [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

// Values: the recursive check that collects errors and counts.

interface ValueContext extends ValidationContext {
  /** The value with the old value that it replaces, where there is one. */
  readonly pair: CorrelatedValue | undefined
}

interface ValidationResult {
  readonly errors: readonly FieldError[]
  readonly count: number
}

/** Values that are looked at for one object: about a second. */
const checksMax = 2_000_000

class SchemaValidator {
  #checks = 0
  readonly #matches: PatternMatcher
  readonly #typeOf: (plan: CompiledSchema) => ValueType

  constructor(
    matches: PatternMatcher,
    { typeOf = (plan) => plan }: { typeOf?: (plan: CompiledSchema) => ValueType } = {},
  ) {
    this.#matches = matches
    this.#typeOf = typeOf
  }

  check(value: JsonValue, plan: CompiledSchema, at: ValueContext): number {
    const { errors, pair } = at
    this.#count(1)
    const before = errors.length
    const count = value === null ? this.#checkNull(plan, at) : this.#checkPresent(value, plan, at)
    if (errors.length > before && pair?.isSame() === true) errors.length = before
    return count
  }

  #count(values: number): void {
    this.#checks += values
    if (this.#checks > checksMax)
      throw requestEntityTooLarge('the object is too large for the alternatives of its schema')
  }

  #checkNull(plan: CompiledSchema, at: ValueContext): number {
    const right = checkType(null, this.#typeOf(plan), at)
    checkEnum(null, plan.limits, at)
    return right ? 1 : 0
  }

  // The order of the checks and the counts are those of kube-apiserver.
  #checkPresent(value: JsonValue, plan: CompiledSchema, at: ValueContext): number {
    let count = 4
    const type = this.#typeOf(plan)
    const { types, format } = type
    if (types !== undefined || format !== undefined) count += checkType(value, type, at) ? 2 : 1
    if (plan.alternatives !== undefined) count += this.#checkAlternatives(value, plan.alternatives, at)
    if (typeof value === 'string') {
      count += format?.matches === undefined ? 1 : 2
      if (plan.isLimited)
        checkText(value, plan.limits, { trail: at.trail, errors: at.errors, matches: this.#matches, format })
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      count += 2
      if (plan.isLimited) checkNumber(value, plan.limits, { trail: at.trail, errors: at.errors, type })
    } else if (Array.isArray(value)) {
      count += 2 + this.#checkItems(value, plan, at)
      if (plan.isLimited) checkList(value, plan.limits, at)
    }
    if (plan.isLimited) checkEnum(value, plan.limits, at)
    return typeof value === 'object' && !Array.isArray(value)
      ? count + 1 + this.#checkFields(value as JsonObject, plan, at)
      : count
  }

  #checkItems(list: JsonArray, { items }: CompiledSchema, { trail, errors, pair }: ValueContext): number {
    if (!items) return 0
    let count = 0
    for (let index = 0; index < list.length && errors.length <= foundErrorsMax; index++) {
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
    const { properties, additional, allowsAdditional, required, limits } = plan
    let count = 0
    if (limits.minProperties !== undefined || limits.maxProperties !== undefined) checkCount(object, limits, at)
    const keys = Object.keys(object)
    this.#count(keys.length)
    for (const key of keys) {
      if (errors.length > foundErrorsMax) break
      const value = object[key]
      if (value === undefined) continue
      const property = properties?.get(key)
      const place = property ?? additional
      if (place?.plain !== undefined && place.plain === typeof value)
        count += place.plain === 'string' ? plainTextCount : plainBooleanCount
      else if (place !== undefined)
        count += this.check(value, place, {
          trail: { parent: trail, step: property === undefined && trail === undefined ? `.${key}` : key },
          errors,
          pair: pairOf(key, at),
        })
      else if (allowsAdditional === false)
        errors.push(notInBody({ parent: trail, step: key }, '', 'is a forbidden property'))
    }
    for (const key of required) {
      if (getOwn(object, key) === undefined) errors.push(fieldError.required(pathOf({ parent: trail, step: key })))
    }
    return count
  }

  /** Alternatives are conditions on the whole value: errors in unchanged parts count inside them. */
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
      errors.push(fieldError.invalid(undefined, '', `${quote(pathText(trail))} must ${why}`))
    }
    let count = any.length > 0 ? checkAny(any, attempt, { errors, refuse }) : 0
    if (one.length > 0) count += checkOne(one, attempt, { errors, refuse })
    if (all.length > 0) count += checkAll(all, attempt, { errors, refuse })
    if (not !== undefined && attempt(not).errors.length === 0) refuse('not validate the schema (not)')
    return count
  }
}

/** What {@link SchemaValidator.check} counts for a good text and a good boolean; it is not called for them, since most fields are such. */
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
  { minProperties, maxProperties }: SchemaLimits,
  { trail, errors }: ValidationContext,
): void {
  const count = Object.values(object).filter((value) => value !== undefined).length
  if (minProperties !== undefined && count < minProperties)
    errors.push(notInBody(trail, count, `should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && count > maxProperties)
    errors.push(fieldError.tooMany(pathOf(trail), count, maxProperties))
}

/** Errors in apiVersion and kind of the object always count: old and new object have the same version here. */
function pairOf(key: string, { trail, pair }: ValueContext): CorrelatedValue | undefined {
  return pair === undefined || (trail === undefined && (key === 'kind' || key === 'apiVersion'))
    ? undefined
    : pair.field(key)
}
