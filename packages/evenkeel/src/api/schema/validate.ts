/**
 * Whether a value is what a schema of a custom resource demands: a list of everything that is wrong with it.
 *
 * Unknown fields are no errors (they were pruned), `null` is wrong unless a place is nullable, and alternatives
 * (`anyOf`, `oneOf`, `not`) are told in upstream's words. Recursion is bounded by the depth of the value.
 */
import { fieldError, formatFieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { getOwn, isJsonObject } from '../json.ts'
import type { JsonArray, JsonObject, JsonValue } from '../json.ts'
import { checkValue, notInBody, pathOf } from './constraints.ts'
import type { PathLink, ConstraintOptions } from './constraints.ts'
import { resolveSchema } from './resolve.ts'
import type { Schema, SchemaNode } from './schema.ts'

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
