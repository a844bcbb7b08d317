/**
 * What a structural schema demands of one value, apart from what lies inside it, in upstream's words.
 *
 * Upstream's peculiarities are kept where objects in the field depend on them: null is never among listed values, and
 * a place with a text format takes lists without complaint about their type.
 */
import { deepEqual, quote, type JsonArray, type JsonValue } from '@evenkeel/cel/primitives'
import { fieldError, type FieldError } from '../errors/field-error.ts'
import type { CompiledSchema } from './compile.ts'
import { notInBody, pathOf, type PathLink } from './constraints.ts'
import { canonicalJson, sortKeys } from './correlate.ts'

/** Whether a text matches a pattern. Patterns come from users: this must not take forever, whatever the pattern. */
export type PatternMatcher = (pattern: string, text: string) => boolean

export interface ValidationContext {
  readonly trail: PathLink
  /** Where errors are put. */
  readonly errors: FieldError[]
}

/** Whether the type is right; notes the error when it is not. */
export function checkType(
  value: JsonValue,
  { types, nullable, format }: CompiledSchema,
  place: ValidationContext,
): boolean {
  if (value === null) return types === undefined || nullable || wrongType(place, types.join(), 'null')
  const found = typeName(value)
  if (types?.includes(found) === true || (found === 'integer' && types?.includes('number') === true)) return true
  if (format === undefined) return types === undefined || wrongType(place, types.join(), found)
  if (typeof value === 'string' || Array.isArray(value)) {
    return format.matches !== undefined || wrongType(place, types?.join() ?? '', found)
  }
  return wrongType(place, format.name, found === 'integer' ? 'int64' : found === 'number' ? 'float64' : '')
}

/** Of a text's length and pattern only the first failure is told. */
export function checkText(
  text: string,
  { node, format }: CompiledSchema,
  { trail, errors, matches }: ValidationContext & { matches: PatternMatcher },
): void {
  const { minLength, maxLength, pattern = '' } = node
  const length = maxLength === undefined && minLength === undefined ? 0 : characters(text, { minLength, maxLength })
  if (maxLength !== undefined && length > maxLength) errors.push(fieldError.tooLong(pathOf(trail), maxLength))
  else if (minLength !== undefined && length < minLength)
    errors.push(notInBody(trail, text, `should be at least ${minLength} chars long`))
  else if (pattern !== '' && !matches(pattern, text)) errors.push(notInBody(trail, text, `should match '${pattern}'`))
  if (format?.matches?.(text) === false) wrongType({ trail, errors }, format.name, text)
}

export function checkNumber(value: number, plan: CompiledSchema, place: ValidationContext): void {
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = plan.node
  checkFit('Checked', value, { plan, place })
  if (multipleOf !== undefined) {
    checkFit('MultipleOf', multipleOf, { plan, place })
    if (!isMultiple(value, multipleOf)) refuse(value, place, `a multiple of ${multipleOf}`)
  }
  if (minimum !== undefined) {
    checkFit('Minimum boundary', minimum, { plan, place })
    if (exclusiveMinimum ? value <= minimum : value < minimum)
      refuse(value, place, `greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
  }
  if (maximum !== undefined) {
    checkFit('Maximum boundary', maximum, { plan, place })
    if (exclusiveMaximum ? value >= maximum : value > maximum)
      refuse(value, place, `less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
  }
}

/** The list without its items. */
export function checkList(
  list: JsonArray,
  { node: { minItems, maxItems, uniqueItems } }: CompiledSchema,
  { trail, errors }: ValidationContext,
): void {
  if (minItems !== undefined && list.length < minItems)
    errors.push(notInBody(trail, list.length, `should have at least ${minItems} items`))
  if (maxItems !== undefined && list.length > maxItems)
    errors.push(fieldError.tooMany(pathOf(trail), list.length, maxItems))
  if (uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length)
    errors.push(notInBody(trail, '', "shouldn't contain duplicates"))
}

export function checkEnum(value: JsonValue, { node }: CompiledSchema, { trail, errors }: ValidationContext): void {
  if (!node.enum || node.enum.length === 0) return
  if (value !== null && (node.enum.includes(value) || node.enum.some((allowed) => deepEqual(allowed, value)))) return
  const supported = node.enum.map((allowed) => (typeof allowed === 'string' ? allowed : canonicalJson(allowed)))
  errors.push(fieldError.notSupported(pathOf(trail), sortKeys(value), supported))
}

function wrongType({ trail, errors }: ValidationContext, wanted: string, found: string): false {
  const path = pathOf(trail)
  errors.push(
    fieldError.typeInvalid(path, found, `${path?.toString() ?? ''} in body must be of type ${wanted}: ${quote(found)}`),
  )
  return false
}

/** Limits must fit, too: a whole number with a fraction as its limit is always refused. */
function checkFit(
  what: string,
  number: number,
  { plan: { types, format }, place: { trail, errors } }: { plan: CompiledSchema; place: ValidationContext },
): void {
  const type = types?.length === 1 ? types[0] : undefined
  if (fits(number, type, format?.name)) return
  const how = format === undefined ? '(default format)' : `with format ${format.name}`
  errors.push(
    fieldError.invalid(
      undefined,
      '',
      `${what} value must be of type ${type ?? ''} ${how} in ${pathOf(trail)?.toString() ?? ''}`,
    ),
  )
}

function refuse(value: number, { trail, errors }: ValidationContext, why: string): void {
  errors.push(notInBody(trail, value, `should be ${why}`))
}

/** A whole number too large for 64 bits is read as any other number. */
function typeName(value: JsonValue): string {
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

function fits(value: number, type: string | undefined, format: string | undefined): boolean {
  if (type === 'integer') return isInt64(value) && (format !== 'int32' || (value | 0) === value)
  return format !== 'float' || Number.isFinite(Math.fround(value))
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return factor > 0 && value % factor === 0
  return factor > 0 && Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor)
}

/** Characters as Go counts them: code points. Where the number of UTF-16 units settles the matter, it will do. */
function characters(
  text: string,
  { minLength = 0, maxLength = Infinity }: { minLength?: number | undefined; maxLength?: number | undefined },
): number {
  if (text.length <= maxLength && text.length >= minLength * 2) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}
