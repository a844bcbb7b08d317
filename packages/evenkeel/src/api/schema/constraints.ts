/**
 * What a schema demands of one value, apart from what lies inside it: type, range, length, pattern, listed values.
 *
 * The words are those of upstream's validator. Every check says all it has to say; none stops the others, except that
 * of a text's length and pattern only the first failure is told.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import { deepEqual, isJsonObject } from '../json.ts'
import type { JsonArray, JsonValue } from '../json.ts'
import type { SchemaNode } from './schema.ts'

/** Where a value stands; `undefined` is the object itself. */
export type Path = FieldPath | undefined

export interface ValidateOptions {
  /** Whether a text matches a pattern. Patterns come from users: this must not take forever, whatever the pattern. */
  readonly matches: (pattern: string, text: string) => boolean
  /**
   * Whether a text has a format such as `date-time`.
   *
   * @default every text has every format
   */
  readonly hasFormat?: (format: string, text: string) => boolean
}

/** What is wrong with a value in itself. */
export function checkValue(value: JsonValue, node: SchemaNode, { path, options }: { path: Path, options: ValidateOptions }): FieldError[] {
  const errors = [checkType(value, node, path), ...checkEnum(value, node, path)]
  if (typeof value === 'string') errors.push(checkText(value, node, { path, options }))
  else if (typeof value === 'number') errors.push(...checkNumber(value, node, path))
  else if (Array.isArray(value)) errors.push(...checkList(value, node, path))
  return errors.filter((error) => error !== undefined)
}

/** `spec.replicas in body`: how upstream starts its sentences. */
export function inBody(path: Path): string {
  return `${path?.toString() ?? ''} in body`
}

function checkType(value: JsonValue, node: SchemaNode, path: Path): FieldError | undefined {
  const wanted = node['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : node.type === undefined ? [] : [node.type]
  const found = typeName(value)
  if (wanted.length === 0 || wanted.includes(found) || (value === null && node.nullable === true)) return undefined
  if (found === 'integer' && wanted.includes('number')) return undefined
  // With a format upstream speaks of formats instead, even where the value has none; not for texts and lists, though.
  const [expected, shown] = node.format === undefined || typeof value === 'string' || Array.isArray(value) || value === null
    ? [wanted.join(','), found]
    : [node.format, found === 'integer' ? 'int64' : found === 'number' ? 'float64' : '']
  return fieldError.typeInvalid(path, shown, `${inBody(path)} must be of type ${expected}: "${shown}"`)
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function checkEnum(value: JsonValue, node: SchemaNode, path: Path): FieldError[] {
  if (!node.enum || node.enum.length === 0 || node.enum.some((allowed) => deepEqual(allowed, value))) return []
  return [fieldError.notSupported(path, value, node.enum.map((allowed) => typeof allowed === 'string' ? allowed : JSON.stringify(allowed)))]
}

function checkText(text: string, node: SchemaNode, { path, options }: { path: Path, options: ValidateOptions }): FieldError | undefined {
  const length = node.maxLength === undefined && node.minLength === undefined ? 0 : characters(text)
  if (node.maxLength !== undefined && length > node.maxLength) return fieldError.tooLong(path, node.maxLength)
  if (node.minLength !== undefined && length < node.minLength) {
    return fieldError.invalid(path, text, `${inBody(path)} should be at least ${node.minLength} chars long`)
  }
  if (node.pattern !== undefined && node.pattern !== '' && !options.matches(node.pattern, text)) {
    return fieldError.invalid(path, text, `${inBody(path)} should match '${node.pattern}'`)
  }
  if (node.format !== undefined && options.hasFormat?.(node.format, text) === false) {
    return fieldError.typeInvalid(path, text, `${inBody(path)} must be of type ${node.format}: ${JSON.stringify(text)}`)
  }
  return undefined
}

/** Characters as Go counts them: code points. */
function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function checkNumber(value: number, node: SchemaNode, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (why: string): void => { errors.push(fieldError.invalid(path, value, `${inBody(path)} should be ${why}`)) }
  if (node.type === 'integer' && !fitsFormat(value, node.format)) {
    const format = node.format === undefined ? '(default format)' : `with format ${node.format}`
    errors.push(fieldError.invalid(undefined, '', `Checked value must be of type integer ${format} in ${path?.toString() ?? ''}`))
  }
  if (node.multipleOf !== undefined && !isMultiple(value, node.multipleOf)) refuse(`a multiple of ${node.multipleOf}`)
  if (node.minimum !== undefined && (node.exclusiveMinimum === true ? value <= node.minimum : value < node.minimum)) {
    refuse(`greater than ${node.exclusiveMinimum === true ? '' : 'or equal to '}${node.minimum}`)
  }
  if (node.maximum !== undefined && (node.exclusiveMaximum === true ? value >= node.maximum : value > node.maximum)) {
    refuse(`less than ${node.exclusiveMaximum === true ? '' : 'or equal to '}${node.maximum}`)
  }
  return errors
}

function fitsFormat(value: number, format: string | undefined): boolean {
  const bits = format === 'int32' ? 31 : 63
  return Number.isInteger(value) && value >= -(2 ** bits) && value < 2 ** bits
}

function isMultiple(value: number, factor: number): boolean {
  return factor > 0 && (Number.isInteger(value) && Number.isInteger(factor) ? value % factor === 0 : Number.isInteger(value / factor))
}

function checkList(list: JsonArray, node: SchemaNode, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (node.minItems !== undefined && list.length < node.minItems) {
    errors.push(fieldError.invalid(path, list.length, `${inBody(path)} should have at least ${node.minItems} items`))
  }
  if (node.maxItems !== undefined && list.length > node.maxItems) errors.push(fieldError.tooMany(path, list.length, node.maxItems))
  if (node.uniqueItems === true && hasTwins(list)) errors.push(fieldError.invalid(path, '', `${inBody(path)} shouldn't contain duplicates`))
  return errors
}

/** Scalars by a set; objects are rare here and compared in pairs (structural schemas do not even allow them). */
function hasTwins(list: JsonArray): boolean {
  const scalars = list.filter((item) => typeof item !== 'object' || item === null)
  if (new Set(scalars).size < scalars.length) return true
  const others = list.filter((item) => isJsonObject(item) || Array.isArray(item))
  return others.some((item, index) => others.slice(0, index).some((earlier) => deepEqual(item, earlier)))
}
