/**
 * Everything that is wrong with a custom object, by its structural schema: a list, in upstream's words and order.
 *
 * First what the schema demands of values, then embedded resources, then lists that are sets or maps, then rules in the
 * expression language, if the object is whole enough to evaluate any. On an update, a mistake in a part that has not
 * changed is forgiven; of lists only when the old object had such a mistake, too.
 */
import { fieldError, formatFieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { RuleEvaluator } from '../rules/load.ts'
import type { SchemaNode } from '../schema/schema.ts'
import type { PatternMatcher } from './checks.ts'
import { CorrelatedValue } from './correlate.ts'
import { validateEmbeddedResources } from './embedded.ts'
import { validateListTypes } from './list-types.ts'
import { compileSchema } from './plan.ts'
import type { CompiledSchema } from './plan.ts'
import { SchemaValidator } from './validator.ts'

export interface ValidateCustomOptions {
  /** Whether a text matches a pattern, in the dialect of RE2. Patterns come from users: this must not take forever. */
  readonly matches: PatternMatcher
  /** The object that is to be replaced. */
  readonly old?: JsonObject | undefined
  /**
   * What is written. A change of the status says nothing about the rest, and embedded resources are not looked at.
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
   * Hears of rules that are broken by what has not changed, which is no error.
   *
   * @default nobody does
   */
  readonly warn?: ((text: string) => void) | undefined
}

/** What is wrong with an object that has been shaped and has its defaults. */
export function validateCustomObject(
  object: JsonObject,
  schema: SchemaNode,
  options: ValidateCustomOptions,
): FieldError[] {
  const errors = validateBySchema(object, schema, options)
  const { rules, old, warn } = options
  if (!rules) return errors
  // Rules rely on types and limits: with those violated they would fail for reasons that nobody wrote.
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

/** The old object is looked at only when something is wrong: it can only make errors fewer. */
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
