/**
 * What a schema demands of one value, apart from what lies inside it: type, range, length, pattern, listed values.
 *
 * The words are those of upstream's validator. Every check says all it has to say; none stops the others, except that
 * of a text's length and pattern only the first failure is told.
 */
import {
  deepEqual,
  getOwn,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, formatFieldError, type FieldError } from '../errors/field-error.ts'
import { resolveSchema, type Schema, type SchemaNode } from './schema.ts'

/** Where a value stands, as steps towards the root; `undefined` is the object itself. Only an error pays for text. */
export type PathLink = { readonly parent: PathLink; readonly step: string | number } | undefined

export interface ConstraintOptions {
  /** Whether a text matches a pattern. Patterns come from users: this must not take forever, whatever the pattern. */
  readonly matches: (pattern: string, text: string) => boolean
  /**
   * Whether a text has a format such as `date-time`.
   *
   * @default every text has every format
   */
  readonly hasFormat?: (format: string, text: string) => boolean
}

interface ConstraintContext {
  readonly trail: PathLink
  readonly options: ConstraintOptions
  /** Where errors are put. */
  readonly errors: FieldError[]
}

/** Notes what is wrong with a value in itself. */
function checkValue(value: JsonValue, node: SchemaNode, situation: ConstraintContext): void {
  checkType(value, node, situation)
  checkEnum(value, node, situation)
  if (typeof value === 'string') checkText(value, node, situation)
  else if (typeof value === 'number') checkNumber(value, node, situation)
  else if (Array.isArray(value)) checkList(value, node, situation)
}

export function pathOf(trail: PathLink): FieldPath | undefined {
  if (trail === undefined) return undefined
  const parent = pathOf(trail.parent)
  if (typeof trail.step === 'number') return parent?.index(trail.step) ?? FieldPath.of(`[${trail.step}]`)
  return parent?.child(trail.step) ?? FieldPath.of(trail.step)
}

/** The error of a value that is not as it should be: `spec.replicas in body should be ...`. */
export function notInBody(trail: PathLink, value: unknown, why: string): FieldError {
  const path = pathOf(trail)
  return fieldError.invalid(path, value, `${path?.toString() ?? ''} in body ${why}`)
}

function checkType(value: JsonValue, node: SchemaNode, { trail, errors }: ConstraintContext): void {
  const eitherWay = node['x-kubernetes-int-or-string'] === true
  if (node.type === undefined && !eitherWay) return
  const found = typeName(value)
  if (
    eitherWay
      ? found === 'integer' || found === 'string'
      : found === node.type || (found === 'integer' && node.type === 'number')
  )
    return
  if (value === null && node.nullable === true) return
  // With a format upstream speaks of formats instead, even where the value has none; not for texts and lists, though.
  const byFormat = node.format !== undefined && typeof value !== 'string' && !Array.isArray(value) && value !== null
  const expected = byFormat ? node.format : eitherWay ? 'integer,string' : node.type
  const shown = byFormat ? numberFormat(found) : found
  const path = pathOf(trail)
  errors.push(
    fieldError.typeInvalid(path, shown, `${path?.toString() ?? ''} in body must be of type ${expected}: "${shown}"`),
  )
}

function numberFormat(type: string): string {
  return type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function checkEnum(value: JsonValue, node: SchemaNode, { trail, errors }: ConstraintContext): void {
  if (!node.enum || node.enum.length === 0 || node.enum.some((allowed) => deepEqual(allowed, value))) return
  const supported = node.enum.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)))
  errors.push(fieldError.notSupported(pathOf(trail), value, supported))
}

function checkText(text: string, node: SchemaNode, { trail, options, errors }: ConstraintContext): void {
  const { minLength, maxLength, pattern = '', format } = node
  const length = maxLength === undefined && minLength === undefined ? 0 : characters(text)
  if (maxLength !== undefined && length > maxLength) errors.push(fieldError.tooLong(pathOf(trail), maxLength))
  else if (minLength !== undefined && length < minLength)
    errors.push(notInBody(trail, text, `should be at least ${minLength} chars long`))
  else if (pattern !== '' && !options.matches(pattern, text))
    errors.push(notInBody(trail, text, `should match '${pattern}'`))
  else if (format !== undefined && options.hasFormat?.(format, text) === false) {
    const path = pathOf(trail)
    errors.push(
      fieldError.typeInvalid(
        path,
        text,
        `${path?.toString() ?? ''} in body must be of type ${format}: ${JSON.stringify(text)}`,
      ),
    )
  }
}

/** Characters as Go counts them: code points. */
function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function checkNumber(value: number, node: SchemaNode, { trail, errors }: ConstraintContext): void {
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = node
  const refuse = (why: string): void => {
    errors.push(notInBody(trail, value, `should be ${why}`))
  }
  if (node.type === 'integer' && !fitsFormat(value, node.format)) {
    const format = node.format === undefined ? '(default format)' : `with format ${node.format}`
    errors.push(
      fieldError.invalid(
        undefined,
        '',
        `Checked value must be of type integer ${format} in ${pathOf(trail)?.toString() ?? ''}`,
      ),
    )
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) refuse(`a multiple of ${multipleOf}`)
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    refuse(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    refuse(`less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
}

function fitsFormat(value: number, format: string | undefined): boolean {
  const bits = format === 'int32' ? 31 : 63
  return Number.isInteger(value) && value >= -(2 ** bits) && value < 2 ** bits
}

function isMultiple(value: number, factor: number): boolean {
  return (
    factor > 0 &&
    (Number.isInteger(value) && Number.isInteger(factor) ? value % factor === 0 : Number.isInteger(value / factor))
  )
}

function checkList(
  list: JsonArray,
  { minItems, maxItems, uniqueItems }: SchemaNode,
  { trail, errors }: ConstraintContext,
): void {
  if (minItems !== undefined && list.length < minItems)
    errors.push(notInBody(trail, list.length, `should have at least ${minItems} items`))
  if (maxItems !== undefined && list.length > maxItems)
    errors.push(fieldError.tooMany(pathOf(trail), list.length, maxItems))
  if (uniqueItems === true && hasDuplicates(list)) errors.push(notInBody(trail, '', "shouldn't contain duplicates"))
}

/** Scalars by a set; objects are rare here and compared in pairs (structural schemas do not even allow them). */
function hasDuplicates(list: JsonArray): boolean {
  const scalars = list.filter((item) => typeof item !== 'object' || item === null)
  if (new Set(scalars).size < scalars.length) return true
  const others = list.filter((item) => isJsonObject(item) || Array.isArray(item))
  return others.some((item, index) => others.slice(0, index).some((earlier) => deepEqual(item, earlier)))
}

/*
 * Whether a value is what a schema of a custom resource demands: a list of everything that is wrong with it.
 *
 * Unknown fields are no errors (they were pruned), `null` is wrong unless a place is nullable, and alternatives
 * (`anyOf`, `oneOf`, `not`) are told in upstream's words. Recursion is bounded by the depth of the value.
 */

/** Everything that is wrong with a value, each thing said once. */
export function validateDefault(value: JsonValue, schema: Schema, options: ConstraintOptions): FieldError[] {
  const errors: FieldError[] = []
  new DefaultValidator(schema, options).check(value, schema.root, { trail: undefined, errors })
  return errors.length < 2 ? errors : [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

interface ValueContext {
  readonly trail: PathLink
  readonly errors: FieldError[]
}

class DefaultValidator {
  readonly #schema: Schema
  readonly #options: ConstraintOptions

  constructor(schema: Schema, options: ConstraintOptions) {
    this.#schema = schema
    this.#options = options
  }

  check(value: JsonValue, place: SchemaNode, at: ValueContext): void {
    const { node } = resolveSchema(place, this.#schema.definitions)
    if (value === null && place.nullable === true) return
    checkValue(value, node, { trail: at.trail, errors: at.errors, options: this.#options })
    if (value === null) return
    if (isJsonObject(value)) this.#checkObject(value, node, at)
    else if (Array.isArray(value) && node.items) this.#checkItems(value, node.items, at)
    if ((node.allOf ?? node.anyOf ?? node.oneOf ?? node.not) !== undefined) this.#checkAlternatives(value, node, at)
  }

  #checkObject(object: JsonObject, node: SchemaNode, { trail, errors }: ValueContext): void {
    checkCount(object, node, { trail, errors })
    for (const key of Object.keys(object)) {
      const place = (node.properties && getOwn(node.properties, key)) ?? node.additionalProperties
      const value = object[key]
      if (place === undefined || place === true || value === undefined) continue
      const at = { trail: { parent: trail, step: key }, errors }
      if (place === false) errors.push(notInBody(at.trail, '', 'is a forbidden property'))
      else this.check(value, place, at)
    }
    for (const key of node.required ?? []) {
      if (getOwn(object, key) === undefined) errors.push(fieldError.required(pathOf({ parent: trail, step: key })))
    }
  }

  #checkItems(list: JsonArray, items: SchemaNode, { trail, errors }: ValueContext): void {
    for (const [index, item] of list.entries())
      this.check(item, items, { trail: { parent: trail, step: index }, errors })
  }

  #checkAlternatives(value: JsonValue, node: SchemaNode, { trail, errors }: ValueContext): void {
    const failures = (nodes: readonly SchemaNode[] = []): FieldError[][] =>
      nodes.map((each) => {
        const found: FieldError[] = []
        this.check(value, each, { trail, errors: found })
        return found
      })
    const refuse = (why: string): void => {
      errors.push(fieldError.invalid(undefined, '', `${JSON.stringify(pathOf(trail)?.toString() ?? '')} must ${why}`))
    }

    const all = failures(node.allOf)
    const wrong = all.filter((list) => list.length > 0)
    for (const error of wrong.flat()) errors.push(error)
    if (wrong.length > 0)
      refuse(`validate all the schemas (allOf)${wrong.length === all.length ? '. None validated' : ''}`)

    const any = failures(node.anyOf)
    if (any.length > 0 && any.every((list) => list.length > 0)) {
      refuse('validate at least one schema (anyOf)')
      for (const error of nearest(any)) errors.push(error)
    }

    const one = failures(node.oneOf)
    const valid = one.filter((list) => list.length === 0).length
    if (one.length > 0 && valid !== 1) {
      refuse(
        `validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`,
      )
      for (const error of valid === 0 ? nearest(one) : []) errors.push(error)
    }

    if (node.not !== undefined && failures([node.not]).flat().length === 0) refuse('not validate the schema (not)')
  }
}

/** The complaints of the alternative that was missed by least. */
function nearest(alternatives: readonly FieldError[][]): FieldError[] {
  return alternatives.reduce((best, list) => (list.length < best.length ? list : best))
}

function checkCount(
  object: JsonObject,
  { minProperties, maxProperties }: SchemaNode,
  { trail, errors }: ValueContext,
): void {
  if (minProperties === undefined && maxProperties === undefined) return
  const count = Object.values(object).filter((value) => value !== undefined).length
  if (minProperties !== undefined && count < minProperties)
    errors.push(notInBody(trail, count, `should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && count > maxProperties)
    errors.push(fieldError.tooMany(pathOf(trail), count, maxProperties))
}
