/**
 * Whether a value is what a schema of a custom resource demands: a list of everything that is wrong with it.
 *
 * Unknown fields are no errors (they were pruned), `null` is wrong unless a place is nullable, and alternatives
 * (`anyOf`, `oneOf`, `not`) are told in upstream's words. Recursion is bounded by the depth of the value.
 */
import { fieldError, formatFieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import { getOwn, isJsonObject } from '../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../json.ts'
import { checkValue, inBody } from './constraints.ts'
import type { Path, ValidateOptions } from './constraints.ts'
import { resolve } from './resolve.ts'
import type { Schema, SchemaNode } from './schema.ts'

/** Everything that is wrong with a value, each thing said once. */
export function validate(value: JsonValue, schema: Schema, options: ValidateOptions): FieldError[] {
  const errors = new Validator(schema, options).check(value, schema.root, undefined)
  return [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

class Validator {
  readonly #schema: Schema
  readonly #options: ValidateOptions

  constructor(schema: Schema, options: ValidateOptions) {
    this.#schema = schema
    this.#options = options
  }

  check(value: JsonValue, place: SchemaNode, path: Path): FieldError[] {
    const { node } = resolve(place, this.#schema.definitions)
    const nullable = value === null && place.nullable === true
    const errors = nullable ? [] : checkValue(value, node, { path, options: this.#options })
    if (value === null) return errors
    if (isJsonObject(value)) errors.push(...this.#checkObject(value, node, path))
    else if (Array.isArray(value)) errors.push(...this.#checkItems(value, node, path))
    return this.#hasAlternatives(node) ? [...errors, ...this.#checkAlternatives(value, node, path)] : errors
  }

  #checkObject(object: JsonObject, node: SchemaNode, path: Path): FieldError[] {
    const errors = checkCount(object, node, path)
    for (const [key, value] of Object.entries(object)) {
      const place = (node.properties && getOwn(node.properties, key)) ?? node.additionalProperties
      if (typeof place === 'object' && value !== undefined) errors.push(...this.check(value, place, child(path, key)))
      else if (place === false) errors.push(fieldError.invalid(child(path, key), '', `${inBody(child(path, key))} is a forbidden property`))
    }
    for (const key of node.required ?? []) {
      if (getOwn(object, key) === undefined) errors.push(fieldError.required(child(path, key)))
    }
    return errors
  }

  #checkItems(list: JsonArray, { items }: SchemaNode, path: Path): FieldError[] {
    if (items === undefined) return []
    return list.flatMap((item, index) => this.check(item, items, path?.index(index) ?? FieldPath.of(`[${index}]`)))
  }

  #hasAlternatives({ allOf, anyOf, oneOf, not }: SchemaNode): boolean {
    return (allOf ?? anyOf ?? oneOf ?? not) !== undefined
  }

  #checkAlternatives(value: JsonValue, node: SchemaNode, path: Path): FieldError[] {
    const failures = (nodes: readonly SchemaNode[] = []): FieldError[][] => nodes.map((each) => this.check(value, each, path))
    const where = JSON.stringify(path?.toString() ?? '')
    const refuse = (why: string): FieldError => fieldError.invalid(undefined, '', `${where} must ${why}`)
    const errors: FieldError[] = []

    const all = failures(node.allOf)
    const wrong = all.filter((list) => list.length > 0)
    if (wrong.length > 0) errors.push(...wrong.flat(), refuse(`validate all the schemas (allOf)${wrong.length === all.length ? '. None validated' : ''}`))

    const any = failures(node.anyOf)
    if (any.length > 0 && any.every((list) => list.length > 0)) errors.push(refuse('validate at least one schema (anyOf)'), ...nearest(any))

    const one = failures(node.oneOf)
    const valid = one.filter((list) => list.length === 0).length
    if (one.length > 0 && valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
      errors.push(refuse(`validate one and only one schema (oneOf). ${found}`), ...valid === 0 ? nearest(one) : [])
    }

    if (node.not !== undefined && this.check(value, node.not, path).length === 0) errors.push(refuse('not validate the schema (not)'))
    return errors
  }
}

/** The complaints of the alternative that was missed by least. */
function nearest(alternatives: readonly FieldError[][]): FieldError[] {
  return alternatives.reduce((best, list) => list.length < best.length ? list : best)
}

function checkCount(object: JsonObject, { minProperties, maxProperties }: SchemaNode, path: Path): FieldError[] {
  if (minProperties === undefined && maxProperties === undefined) return []
  const count = Object.values(object).filter((value) => value !== undefined).length
  const errors: FieldError[] = []
  if (minProperties !== undefined && count < minProperties) {
    errors.push(fieldError.invalid(path, count, `${inBody(path)} should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && count > maxProperties) errors.push(fieldError.tooMany(path, count, maxProperties))
  return errors
}

function child(path: Path, key: string): FieldPath {
  return path?.child(key) ?? FieldPath.of(key)
}
