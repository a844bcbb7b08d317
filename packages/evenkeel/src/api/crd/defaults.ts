/**
 * Validates the defaults inside a structural schema: known fields only, and values that the schema itself accepts.
 *
 * A wrong default would make every object that relies on it invalid, long after the CRD was created. The validator is that
 * of custom objects ({@link validateDefault}); CEL rules are checked when a default passes it.
 */
import { checkDns1035Label, getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { validateDefault } from '../schema/validate.ts'
import type { PatternMatcher } from '../schema/value-checks.ts'
import { isSchema, type JsonSchemaProps } from './json-schema-props.ts'

/** The errors of a default by the CEL rules of its schema. */
export type DefaultCheck = (value: JsonValue, schema: SchemaNode, path: FieldPath) => readonly FieldError[]

interface DefaultsContext {
  readonly path: FieldPath
  readonly matches: PatternMatcher
  /** Checks a default that is otherwise valid by the CEL rules of its schema. */
  readonly checkRules?: DefaultCheck
  /** Whether the schema is inside the metadata of an embedded resource, where unknown fields are allowed. */
  readonly insideMeta?: boolean
}

/** The errors of all defaults in a schema. */
export function checkDefaults(schema: JsonSchemaProps, context: DefaultsContext): FieldError[] {
  const { path, insideMeta: meta = false } = context
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const insideMeta = meta && !embedded
  const own =
    schema.default === undefined
      ? []
      : checkDefault(schema.default, schema, { ...context, path: path.child('default'), insideMeta })
  const items = isSchema(schema.items)
    ? checkDefaults(schema.items, { ...context, path: path.child('items'), insideMeta })
    : []
  const properties = errorsOfEach(Object.entries(schema.properties ?? {}), ([name, property]) => {
    const isMeta = embedded && metaFields.has(name)
    return checkDefaults(property, {
      ...context,
      path: path.child('properties').key(name),
      insideMeta: insideMeta || isMeta,
    })
  })
  return [...own, ...items, ...properties]
}

const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

function checkDefault(
  value: JsonValue,
  schema: JsonSchemaProps,
  { path, matches, checkRules, insideMeta = false }: DefaultsContext,
): FieldError[] {
  const unknown =
    !insideMeta && hasUnknownFields(value, schema)
      ? [fieldError.invalid(path, value, 'must not have unknown fields')]
      : []
  const embedded = insideMeta ? [] : checkEmbedded(value, schema, path)
  if (embedded.length > 0) return [...unknown, ...embedded]
  const errors = validateDefault(value, schema as SchemaNode, { matches })
  const broken = errors.length > 0 ? [] : (checkRules?.(value, schema as SchemaNode, path) ?? [])
  return [...unknown, ...errors.map((error) => under(path, error)), ...broken]
}

/** An error with a path inside the default, moved to the path of the default. */
function under(path: FieldPath, error: FieldError): FieldError {
  return { ...error, field: error.field === '<nil>' ? path.toString() : path.child(error.field).toString() }
}

/** Whether pruning would remove something from a value. */
function hasUnknownFields(value: JsonValue, schema: JsonSchemaProps | undefined, { lenient = false } = {}): boolean {
  const preserves = lenient || schema?.['x-kubernetes-preserve-unknown-fields'] === true
  if (Array.isArray(value)) {
    const items = isSchema(schema?.items) ? schema.items : undefined
    if (preserves && items === undefined) return false
    return (value as readonly JsonValue[]).some((item) => hasUnknownFields(item, items, { lenient: preserves }))
  }
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([key, field]) => {
    if (field === undefined || (schema?.['x-kubernetes-embedded-resource'] === true && metaFields.has(key)))
      return false
    const property = schema?.properties && getOwn(schema.properties, key)
    const additional = schema?.additionalProperties
    if (property !== undefined) return hasUnknownFields(field, property)
    if (additional === undefined) return !preserves
    return hasUnknownFields(field, isSchema(additional) ? additional : undefined)
  })
}

/** Embedded resources inside a value need an apiVersion and a kind. */
function checkEmbedded(value: JsonValue, schema: JsonSchemaProps | undefined, path: FieldPath): FieldError[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const items = isSchema(schema.items) ? schema.items : undefined
    return errorsOfEach(value as readonly JsonValue[], (item, index) => checkEmbedded(item, items, path.index(index)))
  }
  if (!isJsonObject(value)) return []
  const own = schema['x-kubernetes-embedded-resource'] === true ? checkTypeMeta(value, path) : []
  const inside = errorsOfEach(Object.entries(value), ([key, field]) => {
    const property = schema.properties && getOwn(schema.properties, key)
    const additional = isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined
    return field === undefined
      ? []
      : checkEmbedded(field, property ?? additional, property === undefined ? path.key(key) : path.child(key))
  })
  return [...own, ...inside]
}

function checkTypeMeta(object: JsonObject, path: FieldPath): FieldError[] {
  const names = ['apiVersion', 'kind'].map((name) => ({ name, value: getOwn(object, name), at: path.child(name) }))
  // Types come first, as for an object that is read from the wire.
  const misread = names.find(({ value }) => value !== undefined && typeof value !== 'string')
  if (misread !== undefined) return [fieldError.invalid(misread.at, misread.value, 'must be a string')]
  return errorsOfEach(names, ({ name, value, at }) => {
    if (value === undefined) return [fieldError.required(at)]
    const complaint = typeof value === 'string' ? complainOf(name, value) : undefined
    return complaint === undefined ? [] : [fieldError.invalid(at, value, complaint)]
  })
}

function complainOf(name: string, value: string): string | undefined {
  if (value === '') return 'must not be empty'
  if (name === 'apiVersion') return value.split('/').length > 2 ? `unexpected GroupVersion string: ${value}` : undefined
  const complaints = checkDns1035Label(value.toLowerCase())
  return complaints.length === 0
    ? undefined
    : `may have mixed case, but should otherwise match: ${complaints.join(',')}`
}
