/**
 * What may stand inside `allOf`, `anyOf`, `oneOf` and `not`: conditions on a value, nothing that describes it.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import { isSchema } from './properties.ts'
import type { JsonSchemaProps } from './properties.ts'

interface NestedValidationContext {
  readonly path: FieldPath
  readonly errors: FieldError[]
  readonly checkPattern: (pattern: string) => string | undefined
  /** The junction that is the listing of integer and string, where types are allowed (of `allOf`: in its first member's `anyOf`). */
  readonly mayNameTypes?: 'anyOf' | 'allOf' | undefined
}

interface NestedSchema {
  readonly keyword: 'allOf' | 'anyOf' | 'oneOf' | 'not'
  readonly index: number
  readonly nested: JsonSchemaProps
  /** The path of the member, from that of the schema. */
  readonly step: (path: FieldPath) => FieldPath
}

/** The members of all junctions of a schema. */
export function* nestedSchemas(schema: JsonSchemaProps): Generator<NestedSchema> {
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, nested] of (schema[keyword] ?? []).entries())
      yield { keyword, index, nested, step: (path) => path.child(keyword).index(index) }
  }
  if (schema.not !== undefined)
    yield { keyword: 'not', index: 0, nested: schema.not, step: (path) => path.child('not') }
}

/** Checks the conditions of a schema: its junctions and its pattern. */
export function checkNestedValidation(schema: JsonSchemaProps, narrowing: NestedValidationContext): void {
  const { path, errors, checkPattern, mayNameTypes } = narrowing
  for (const { keyword, index, nested, step } of nestedSchemas(schema)) {
    if (keyword === 'anyOf' && mayNameTypes === 'anyOf') continue
    const passed = keyword === 'allOf' && index === 0 && mayNameTypes === 'allOf' ? 'anyOf' : undefined
    checkNested(nested, { path: step(path), errors, checkPattern, mayNameTypes: passed })
  }
  const complaint = schema.pattern === undefined ? undefined : checkPattern(schema.pattern)
  if (complaint !== undefined)
    errors.push(
      fieldError.invalid(
        path.child('pattern'),
        schema.pattern,
        `must be a valid regular expression, but isn't: ${complaint}`,
      ),
    )
}

/** Keywords that describe, and how upstream words their absence. */
const describing = {
  type: 'empty',
  default: 'undefined',
  title: 'empty',
  description: 'empty',
  nullable: 'false',
  'x-kubernetes-preserve-unknown-fields': 'false',
  'x-kubernetes-embedded-resource': 'false',
  'x-kubernetes-int-or-string': 'false',
  'x-kubernetes-list-map-keys': 'empty',
  'x-kubernetes-list-type': 'undefined',
  'x-kubernetes-map-type': 'undefined',
  'x-kubernetes-validations': 'empty',
} as const

function checkNested(schema: JsonSchemaProps, narrowing: NestedValidationContext): void {
  const { path, errors, checkPattern } = narrowing
  checkNestedValidation(schema, narrowing)
  if (isSchema(schema.items)) checkNested(schema.items, { path: path.child('items'), errors, checkPattern })
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = path.child('properties').key(name)
    checkNested(property, { path: at, errors, checkPattern })
    if (name === 'metadata') errors.push(fieldError.forbidden(at, 'must not be specified in a nested context'))
  }
  for (const [keyword, absence] of Object.entries(describing)) {
    if (Object.hasOwn(schema, keyword))
      errors.push(fieldError.forbidden(path.child(keyword), `must be ${absence} to be structural`))
  }
  if (isSchema(schema.additionalProperties) || schema.additionalProperties === true) {
    errors.push(fieldError.forbidden(path.child('additionalProperties'), 'must be undefined to be structural'))
  }
}
