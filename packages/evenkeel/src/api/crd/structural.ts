/**
 * Validates that a schema is structural: every field has a type, and `allOf`, `anyOf`, `oneOf` and `not` only restrict values
 * that are declared outside of them.
 *
 * Pruning and defaulting can therefore process an object without trying alternatives. A valid schema becomes the frozen
 * node that `schema/compile.ts` compiles.
 */
import { compareText, deepEqual, deepFreeze, getOwn, type JsonObject } from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, formatFieldError, type FieldError } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { isSchema, readJsonSchemaProps, type JsonSchemaProps } from './json-schema-props.ts'

/** Compiles a pattern: why it cannot be, or nothing. */
type PatternCheck = (pattern: string) => string | undefined

/** Everything that keeps a schema from being structural, in the order of its text. */
export function checkStructural(schema: JsonSchemaProps, path: FieldPath, checkPattern: PatternCheck): FieldError[] {
  const errors: FieldError[] = []
  checkNode(schema, { path, level: 'root', errors, checkPattern })
  for (const { nested, step } of nestedSchemas(schema))
    checkDeclared(nested, schema, { here: path, there: step(path), errors })
  return errors.sort((a, b) => compareText(formatFieldError(a), formatFieldError(b)))
}

/** Why a schema cannot even be looked at as a structural one, or nothing: a keyword that such schemas do not have. */
export function findForeignKeyword(schema: JsonSchemaProps): string | undefined {
  const foreign = foreignKeyword(schema)
  if (foreign !== undefined) return foreign
  for (const child of childrenOf(schema)) {
    const found = findForeignKeyword(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether any place in a schema has a default. */
export function findDefault(schema: JsonSchemaProps): boolean {
  if (schema.default !== undefined) return true
  for (const child of childrenOf(schema)) if (findDefault(child)) return true
  return false
}

type SchemaLevel = 'root' | 'item' | 'field'

interface StructuralContext {
  readonly path: FieldPath
  readonly level: SchemaLevel
  readonly errors: FieldError[]
  readonly checkPattern: PatternCheck
}

function checkNode(schema: JsonSchemaProps, place: StructuralContext): void {
  const { path, errors, checkPattern } = place
  if (schema.type === 'array' && schema.items === undefined)
    errors.push(fieldError.required(path.child('items'), 'must be specified'))
  if (isSchema(schema.items)) checkNode(schema.items, { ...place, path: path.child('items'), level: 'item' })
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNode(property, { ...place, path: path.child('properties').key(name), level: 'field' })
  }
  if (isSchema(schema.additionalProperties))
    checkNode(schema.additionalProperties, { ...place, path: path.child('additionalProperties'), level: 'field' })
  checkMap(schema, place)
  checkExtensions(schema, place)
  checkNestedValidation(schema, { path, errors, checkPattern, mayNameTypes: intOrStringForm(schema) })
  checkType(schema, place)
  checkMeta(schema, place)
}

function checkMap(schema: JsonSchemaProps, { path, level, errors }: StructuralContext): void {
  if (schema.additionalProperties === undefined) return
  const at = path.child('additionalProperties')
  if (level === 'root') errors.push(fieldError.forbidden(at, 'must not be used at the root'))
  if (schema['x-kubernetes-embedded-resource'])
    errors.push(fieldError.forbidden(at, 'must not be used if x-kubernetes-embedded-resource is set'))
}

function checkExtensions(schema: JsonSchemaProps, { path, errors }: StructuralContext): void {
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  if (schema['x-kubernetes-int-or-string']) {
    const refuse = (keyword: string): void => {
      errors.push(fieldError.invalid(path.child(keyword), true, 'must be false if x-kubernetes-int-or-string is true'))
    }
    if (preserves) refuse('x-kubernetes-preserve-unknown-fields')
    if (embedded) refuse('x-kubernetes-embedded-resource')
  }
  if (embedded && !preserves && schema.properties === undefined) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(fieldError.required(path.child('properties'), detail))
  }
}

const missingType: Readonly<Record<SchemaLevel, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function checkType(schema: JsonSchemaProps, { path, level, errors }: StructuralContext): void {
  const { type } = schema
  const at = path.child('type')
  const untyped =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === undefined ? fieldError.required(at, detail) : fieldError.invalid(at, type, detail))
  } else if (type === undefined && !untyped) {
    errors.push(fieldError.required(at, missingType[level]))
  }
  if (level === 'root' && type !== undefined && type !== 'object')
    errors.push(fieldError.invalid(at, type, 'must be object at the root'))
}

/** Names and metadata belong to the server: a schema of an object may say that they are there, and little more. */
function checkMeta(schema: JsonSchemaProps, { path, level, errors }: StructuralContext): void {
  const properties = schema.properties ?? {}
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  const at = path.child('properties')
  for (const name of isResource ? ['kind', 'apiVersion'] : []) {
    const property = getOwn(properties, name)
    if (property !== undefined && property.type !== 'string')
      errors.push(fieldError.invalid(at.key(name).child('type'), property.type ?? '', 'must be string'))
  }
  const metadata = getOwn(properties, 'metadata')
  if (metadata === undefined) return
  if (isResource && metadata.type !== 'object')
    errors.push(fieldError.invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object'))
  if (level === 'root' && saysMoreThanNames(metadata)) {
    errors.push(
      fieldError.forbidden(
        at.key('metadata'),
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    )
  }
}

function saysMoreThanNames({ type: _type, default: _default, properties = {}, ...rest }: JsonSchemaProps): boolean {
  return (
    Object.keys(rest).length > 0 || Object.keys(properties).some((name) => name !== 'name' && name !== 'generateName')
  )
}

const intOrString: readonly JsonSchemaProps[] = [{ type: 'integer' }, { type: 'string' }]

/** Where a schema lists the two types of an int-or-string, as generators write it: the one use of types in a junction. */
function intOrStringForm(schema: JsonSchemaProps): 'anyOf' | 'allOf' | undefined {
  if (deepEqual(schema.anyOf, intOrString)) return 'anyOf'
  return deepEqual(schema.allOf?.[0]?.anyOf, intOrString) ? 'allOf' : undefined
}

interface DeclaredFieldsContext {
  /** Where fields are to be declared. */
  readonly here: FieldPath
  /** Where they are spoken of. */
  readonly there: FieldPath
  readonly errors: FieldError[]
}

/** What a junction speaks of must be declared outside. */
function checkDeclared(
  nested: JsonSchemaProps,
  declared: JsonSchemaProps | undefined,
  { here, there, errors }: DeclaredFieldsContext,
): void {
  if (declared === undefined) {
    errors.push(fieldError.required(here, `because it is defined in ${there.toString()}`))
    return
  }
  for (const { nested: next, step } of nestedSchemas(nested))
    checkDeclared(next, declared, { here, there: step(there), errors })
  if (isSchema(nested.items)) {
    const items = isSchema(declared.items) ? declared.items : undefined
    checkDeclared(nested.items, items, { here: here.child('items'), there: there.child('items'), errors })
  }
  for (const [name, property] of Object.entries(nested.properties ?? {})) {
    const own = declared.properties && getOwn(declared.properties, name)
    checkDeclared(property, own, {
      here: here.child('properties').key(name),
      there: there.child('properties').key(name),
      errors,
    })
  }
}

function foreignKeyword(schema: JsonSchemaProps): string | undefined {
  if (schema.id !== undefined) return unsupported('id')
  if (schema.$schema !== undefined) return unsupported('schema')
  if (schema.$ref !== undefined && schema.$ref !== '') return unsupported('$ref')
  if (schema.patternProperties !== undefined) return unsupported('patternProperties')
  if (Object.keys(schema.dependencies ?? {}).length > 0) return unsupported('dependencies')
  if (schema.additionalItems !== undefined) return unsupported('additionalItems')
  if (schema.definitions !== undefined) return unsupported('definitions')
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  return undefined
}

function unsupported(keyword: string): string {
  return `OpenAPIV3Schema '${keyword}' is not supported`
}

function* childrenOf(schema: JsonSchemaProps): Generator<JsonSchemaProps> {
  for (const { nested } of nestedSchemas(schema)) yield nested
  if (isSchema(schema.items)) yield schema.items
  if (isSchema(schema.additionalProperties)) yield schema.additionalProperties
  yield* Object.values(schema.properties ?? {})
}

// Junctions: they may restrict a value, but not describe it.

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
function checkNestedValidation(schema: JsonSchemaProps, narrowing: NestedValidationContext): void {
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

// From the schema in a CRD to the node that is compiled.

/**
 * The schema of a version as a frozen node, without keywords that say nothing or that custom resources do not have.
 *
 * @param schema what `versions[].schema.openAPIV3Schema` holds. {@link validateCrd} has accepted it.
 * @throws {RangeError} when it is no structural schema: the CRD was not validated.
 */
export function toStructuralSchema(schema: JsonObject): SchemaNode {
  const {
    schema: read,
    errors: [error],
  } = readJsonSchemaProps(schema, FieldPath.of('openAPIV3Schema'))
  if (error !== undefined) throw new RangeError(`cannot read the schema of a CRD: ${error.field}: ${error.body}`)
  const foreign = findForeignKeyword(read)
  if (foreign !== undefined) throw new RangeError(`the schema of a CRD is not structural: ${foreign}`)
  const { id: _id, $schema: _schema, ...node } = read
  return deepFreeze(node) as SchemaNode
}
