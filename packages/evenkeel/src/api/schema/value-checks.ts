/**
 * Checks of one value by its schema node, without the values inside it: type, format, limits, enum.
 *
 * The messages are those of kube-apiserver, and so are its peculiarities: null is never among the values of an `enum`, and
 * a node with a text format accepts a list of any type.
 */
import { deepEqual, quote, type JsonArray, type JsonValue } from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, type FieldError } from '../errors/field-error.ts'
import type { SchemaLimits } from './compile.ts'
import { canonicalJson, sortKeys } from './correlate.ts'
import type { Format } from './formats.ts'

/** Whether a text matches a pattern. Patterns come from users: the time must be linear in the text. */
export type PatternMatcher = (pattern: string, text: string) => boolean

/**
 * Where a value stands, as steps towards the root; `undefined` is the validated value itself. The text
 * is made only for an error. kube-apiserver writes a dot before the key of a map that is the validated value itself (`.x in body`), but not
 * before the name of a field: such a step is `.x`.
 */
type PathLink = { readonly parent: PathLink; readonly step: string | number } | undefined

export interface ValidationContext {
  readonly trail: PathLink
  /** Where errors are put. */
  readonly errors: FieldError[]
}

/** What a schema node says about the type of a value. */
export interface ValueType {
  /** `undefined` when any type is right. */
  readonly types: readonly string[] | undefined
  readonly format: Format | undefined
  readonly nullable: boolean
}

/** The path as messages write it: `spec.ports[0].name`, and nothing for the validated value itself. */
export function pathText(trail: PathLink): string {
  if (trail === undefined) return ''
  const parent = pathText(trail.parent)
  if (typeof trail.step === 'number') return `${parent}[${trail.step}]`
  return trail.parent === undefined ? trail.step : `${parent}.${trail.step}`
}

/** The path as the field of an error; `undefined` for the validated value itself. */
export function pathOf(trail: PathLink): FieldPath | undefined {
  const text = pathText(trail).replace(/^\./, '')
  return text === '' ? undefined : FieldPath.of(text)
}

/** The error of a value that violates its schema: `spec.replicas in body should be ...`. */
export function notInBody(trail: PathLink, value: unknown, why: string): FieldError {
  return fieldError.invalid(pathOf(trail), value, `${pathText(trail)} in body ${why}`)
}

/** Whether the type is right; adds an error when it is not. */
export function checkType(value: JsonValue, { types, nullable, format }: ValueType, place: ValidationContext): boolean {
  if (value === null) return types === undefined || nullable || wrongType(place, types.join(), 'null')
  const found = typeName(value)
  if (types?.includes(found) === true || (found === 'integer' && types?.includes('number') === true)) return true
  if (format === undefined) return types === undefined || wrongType(place, types.join(), found)
  if (typeof value === 'string' || Array.isArray(value))
    return !isNumeric(types) || wrongType(place, types?.join() ?? '', found)
  const foundFormat = found === 'integer' ? 'int64' : found === 'number' ? 'float64' : ''
  if (foundFormat === format.name) return types === undefined || wrongType(place, types.join(), found)
  return wrongType(place, format.name, foundFormat)
}

function isNumeric(types: readonly string[] | undefined): boolean {
  return types?.length === 1 && (types[0] === 'integer' || types[0] === 'number')
}

/** Of length and pattern only the first error is reported. */
export function checkText(
  text: string,
  { minLength, maxLength, pattern = '' }: SchemaLimits,
  { trail, errors, matches, format }: ValidationContext & { matches: PatternMatcher; format: Format | undefined },
): void {
  const length = maxLength === undefined && minLength === undefined ? 0 : characters(text, { minLength, maxLength })
  if (maxLength !== undefined && length > maxLength) errors.push(fieldError.tooLong(pathOf(trail), maxLength))
  else if (minLength !== undefined && length < minLength)
    errors.push(notInBody(trail, text, `should be at least ${minLength} chars long`))
  else if (pattern !== '' && !matches(pattern, text)) errors.push(notInBody(trail, text, `should match '${pattern}'`))
  if (format?.matches?.(text) === false) wrongType({ trail, errors }, format.name, text)
}

export function checkNumber(
  value: number | bigint,
  { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false }: SchemaLimits,
  place: ValidationContext & { type: ValueType },
): void {
  checkFit('Checked', value, place)
  if (multipleOf !== undefined) {
    checkFit('MultipleOf', multipleOf, place)
    if (!isMultiple(value, multipleOf)) refuse(value, place, `a multiple of ${multipleOf}`)
  }
  if (minimum !== undefined) {
    checkFit('Minimum boundary', minimum, place)
    if (exclusiveMinimum ? value <= minimum : value < minimum)
      refuse(value, place, `greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
  }
  if (maximum !== undefined) {
    checkFit('Maximum boundary', maximum, place)
    if (exclusiveMaximum ? value >= maximum : value > maximum)
      refuse(value, place, `less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
  }
}

/** The list without its items. */
export function checkList(
  list: JsonArray,
  { minItems, maxItems, uniqueItems }: SchemaLimits,
  { trail, errors }: ValidationContext,
): void {
  if (minItems !== undefined && list.length < minItems)
    errors.push(notInBody(trail, list.length, `should have at least ${minItems} items`))
  if (maxItems !== undefined && list.length > maxItems)
    errors.push(fieldError.tooMany(pathOf(trail), list.length, maxItems))
  if (uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length)
    errors.push(notInBody(trail, '', "shouldn't contain duplicates"))
}

export function checkEnum(value: JsonValue, limits: SchemaLimits, { trail, errors }: ValidationContext): void {
  if (!limits.enum || limits.enum.length === 0) return
  if (value !== null && (limits.enum.includes(value) || limits.enum.some((allowed) => deepEqual(allowed, value))))
    return
  const supported = limits.enum.map((allowed) => (typeof allowed === 'string' ? allowed : canonicalJson(allowed)))
  errors.push(fieldError.notSupported(pathOf(trail), sortKeys(value), supported))
}

function wrongType({ trail, errors }: ValidationContext, wanted: string, found: string): false {
  const detail = `${pathText(trail)} in body must be of type ${wanted}: ${quote(found)}`
  errors.push(fieldError.typeInvalid(pathOf(trail), found, detail))
  return false
}

/** Limits must be of the type, too: an integer with a fraction as its limit is always refused. */
function checkFit(
  what: string,
  number: number | bigint,
  { type: { types, format }, trail, errors }: ValidationContext & { type: ValueType },
): void {
  const type = types?.length === 1 ? types[0] : undefined
  if (fits(number, type, format?.name)) return
  const how = format?.limitsNumbers === true ? `with format ${format.name}` : '(default format)'
  const detail = `${what} value must be of type ${type ?? ''} ${how} in ${pathText(trail)}`
  errors.push(fieldError.invalid(undefined, '', detail))
}

function refuse(value: number | bigint, { trail, errors }: ValidationContext, why: string): void {
  errors.push(notInBody(trail, value, `should be ${why}`))
}

/** An integer that does not fit into 64 bits has the type number. */
function typeName(value: JsonValue): string {
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number'
  if (typeof value === 'bigint') return 'integer'
  return Array.isArray(value) ? 'array' : typeof value
}

function isInt64(value: number | bigint): boolean {
  return typeof value === 'bigint' || isWholeInt64(value)
}

function isWholeInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

function fits(value: number | bigint, type: string | undefined, format: string | undefined): boolean {
  if (type === 'integer')
    return isInt64(value) && (format !== 'int32' || (typeof value === 'number' && (value | 0) === value))
  return format !== 'float' || Number.isFinite(Math.fround(Number(value)))
}

function isMultiple(given: number | bigint, factor: number): boolean {
  if (typeof given === 'bigint' && Number.isInteger(factor)) return factor > 0 && given % BigInt(factor) === 0n
  const value = Number(given)
  if (Number.isInteger(value) && Number.isInteger(factor)) return factor > 0 && value % factor === 0
  return factor > 0 && Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor)
}

/** Characters as Go counts them: code points. The number of UTF-16 units is used where it decides. */
function characters(
  text: string,
  { minLength = 0, maxLength = Infinity }: { minLength?: number | undefined; maxLength?: number | undefined },
): number {
  if (text.length <= maxLength && text.length >= minLength * 2) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}
