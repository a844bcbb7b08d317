/**
 * Validates the schema of one version of a CRD, in the order of kube-apiserver.
 *
 * The stages depend on each other: defaults are validated only in a structural schema, and CEL rules are compiled only
 * where a schema has no other error.
 */
import { pushAll } from '@evenkeel/cel/primitives'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import type { PatternMatcher } from '../schema/value-checks.ts'
import { checkDefaults, type DefaultCheck } from './defaults.ts'
import { followReference, isSchema, readJsonSchemaProps, type JsonSchemaProps } from './json-schema-props.ts'
import { checkListType, checkMapType } from './list-map-types.ts'
import { checkStructural, findDefault, findForeignKeyword, nestedSchemas } from './structural.ts'

/** What judging a schema needs from layers that have a pattern engine and an expression language. */
export interface SchemaChecks {
  /**
   * Whether a text matches a pattern, in the dialect of RE2.
   *
   * @default every text matches every pattern
   */
  readonly matches?: PatternMatcher
  /**
   * Why a pattern is not one of Go's regular expressions, in Go's words; `undefined` when it is.
   *
   * @default every pattern is
   */
  readonly checkPattern?: (pattern: string) => string | undefined
  /**
   * What can be said about rules in `x-kubernetes-validations` by who has the expression language.
   *
   * @default nothing
   */
  readonly expressions?: ExpressionChecks | undefined
}

/** Judges rules in the expression language. */
export interface ExpressionChecks {
  /** Everything that is wrong with the rules of a schema. */
  check(schema: SchemaNode, place: RuleCheckContext): FieldError[]
  /** Begins to hold the defaults of one schema to its rules: what is wrong with each. They share what evaluation may cost. */
  startDefaults(): DefaultCheck
}

interface RuleCheckContext {
  readonly path: FieldPath
  /** Whether nothing else is wrong with a place and all below it. */
  readonly isSound: (node: SchemaNode) => boolean
  /** Whether the schema is as it was before. */
  readonly isUnchanged: boolean
}

interface VersionSchemaContext {
  /** Of the keyword `openAPIV3Schema` itself. */
  readonly path: FieldPath
  /** Status is a subresource, so that its schema must be found under `properties`. */
  readonly hasStatus: boolean
  /**
   * Whether the stored CRD has the same schema.
   *
   * @default false
   */
  readonly isUnchanged?: boolean
  readonly checks: SchemaChecks
}

interface CheckedSchema {
  readonly errors: readonly FieldError[]
  /** Whether any place in it has a default. */
  readonly hasDefaults: boolean
}

/** Reads and judges the schema of a version. */
export function checkVersionSchema(value: JsonObject, place: VersionSchemaContext): CheckedSchema {
  const { schema, errors: misread } = readJsonSchemaProps(value, place.path)
  if (misread.length > 0) return { errors: misread, hasDefaults: false }
  return { errors: judge(schema, place), hasDefaults: findDefault(schema) }
}

function judge(
  schema: JsonSchemaProps,
  { path, hasStatus, isUnchanged = false, checks }: VersionSchemaContext,
): FieldError[] {
  const errors = hasStatus ? checkRoot(schema, path) : []
  if (schema.nullable) errors.push(fieldError.forbidden(path.child('nullable'), 'nullable cannot be true at the root'))

  const foreign = findForeignKeyword(schema)
  const shape = foreign === undefined ? checkShape(schema, path, checks) : []
  const keywords: FieldError[] = []
  const unsound = new Set<JsonSchemaProps>()
  checkKeywords(schema, { path, errors: keywords, unsound, root: true })
  pushAll(errors, [...shape, ...keywords])
  if (foreign !== undefined) return errors.length > 0 ? errors : [fieldError.invalid(path, '', foreign)]
  if (shape.length > 0 || !checks.expressions) return errors
  return [
    ...errors,
    ...checks.expressions.check(schema as SchemaNode, {
      path,
      isUnchanged,
      isSound: (node) => !unsound.has(node as JsonSchemaProps),
    }),
  ]
}

function checkShape(
  schema: JsonSchemaProps,
  path: FieldPath,
  { matches = () => true, checkPattern = () => undefined, expressions }: SchemaChecks,
): FieldError[] {
  const structural = checkStructural(schema, path, checkPattern)
  if (structural.length > 0) return structural
  const root: JsonSchemaProps = { ...schema, 'x-kubernetes-embedded-resource': true }
  return checkDefaults(root, {
    path,
    matches,
    ...(expressions && { checkRules: expressions.startDefaults() }),
  })
}

/** The words of upstream: names of fields in Go. */
const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems ' +
  'UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
const keywordsAtRoot: ReadonlySet<string> = new Set([
  ...allowedAtRoot
    .split(' ')
    .filter((name) => !name.startsWith('X'))
    .map((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`),
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
])

/** With status apart, conditions on the whole object would be lost for it. */
function checkRoot(schema: JsonSchemaProps, path: FieldPath): FieldError[] {
  const others = Object.keys(schema).filter((keyword) => !keywordsAtRoot.has(keyword))
  const wrongType = schema.type !== undefined && schema.type !== 'object'
  if (wrongType && !others.some((keyword) => ['id', '$schema', '$ref'].includes(keyword))) {
    return [
      fieldError.invalid(
        path.child('type'),
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ]
  }
  if (others.length === 0) return []
  return [
    fieldError.invalid(
      path,
      schema,
      `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ]
}

// Keywords: which are supported, which values they take, which exclude each other.

interface KeywordContext {
  readonly path: FieldPath
  readonly errors: FieldError[]
  /** Where schemas are put that have something wrong in them, at any depth. */
  readonly unsound: Set<JsonSchemaProps>
  /** The schema of a whole object. */
  readonly root?: boolean
  /** Within `apiVersion`, `kind` or `metadata` of an object. */
  readonly insideMeta?: boolean
  /** Why there may be no default here. */
  readonly noDefaults?: string
}

/** Notes everything that is wrong with the keywords of a schema and of all schemas in it. */
function checkKeywords(schema: JsonSchemaProps, surroundings: KeywordContext): void {
  const { path, errors, unsound } = surroundings
  const before = errors.length
  checkSupported(schema, surroundings)
  checkObjectKeywords(schema, surroundings)
  const inside = { ...surroundings, root: false }
  for (const { nested, step } of nestedSchemas(schema)) checkKeywords(nested, { ...inside, path: step(path) })
  const lists = Array.isArray(schema.items) ? (schema.items as readonly JsonSchemaProps[]) : []
  for (const [index, item] of lists.entries())
    checkKeywords(item, { ...inside, path: path.child('items').index(index) })
  if (isSchema(schema.items)) checkKeywords(schema.items, { ...inside, path: path.child('items') })
  for (const keyword of ['definitions', 'dependencies'] as const) {
    for (const [name, each] of Object.entries(schema[keyword] ?? {})) {
      if (isSchema(each)) checkKeywords(each, { ...inside, path: path.child(keyword).key(name) })
    }
  }
  checkMapType(schema, path, errors)
  checkListType(schema, path, errors)
  checkRuleFields(schema, path, errors)
  if (errors.length > before) unsound.add(schema)
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

function checkSupported(
  schema: JsonSchemaProps,
  { path, errors, insideMeta = false, noDefaults }: KeywordContext,
): void {
  const forbid = (keyword: string, detail = `${keyword} is not supported`): void => {
    errors.push(fieldError.forbidden(path.child(keyword), detail))
  }
  if (schema.type !== undefined && !types.includes(schema.type))
    errors.push(fieldError.notSupported(path.child('type'), schema.type, types))
  if (schema.default !== undefined && noDefaults !== undefined) forbid('default', `must not be set ${noDefaults}`)
  for (const keyword of [
    'id',
    'additionalItems',
    'patternProperties',
    'definitions',
    'dependencies',
    '$ref',
  ] as const) {
    if (schema[keyword] !== undefined) forbid(keyword)
  }
  if (schema.type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items) && schema.items.length > 0)
    forbid('items', 'items must be a schema object and not an array')
  if (insideMeta && schema['x-kubernetes-embedded-resource'])
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  if (schema.uniqueItems)
    forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(
      fieldError.invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'),
    )
  }
}

const metaFields = ['metadata', 'kind', 'apiVersion']

function checkObjectKeywords(schema: JsonSchemaProps, surroundings: KeywordContext): void {
  const { path, errors, root = false, insideMeta = false } = surroundings
  const { properties, additionalProperties } = schema
  const inside = { ...surroundings, root: false }
  if (properties !== undefined && additionalProperties !== undefined && additionalProperties !== true) {
    errors.push(
      fieldError.forbidden(
        path.child('additionalProperties'),
        'additionalProperties and properties are mutual exclusive',
      ),
    )
  }
  if (isSchema(additionalProperties)) {
    const noDefaults = insideMeta && { noDefaults: 'inside additionalProperties applying to object metadata' }
    checkKeywords(additionalProperties, { ...inside, ...noDefaults, path: path.child('additionalProperties') })
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    const isMeta = (root || schema['x-kubernetes-embedded-resource'] === true) && metaFields.includes(name)
    const more = { ...(isMeta && { insideMeta: true }), ...(isMeta && root && { noDefaults: `in top-level ${name}` }) }
    checkKeywords(property, { ...inside, ...more, path: path.child('properties').key(name) })
  }
}

// Fields of `x-kubernetes-validations`; expressions are compiled in `api/rules`.

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

function checkRuleFields(schema: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = path.child('x-kubernetes-validations').index(index)
    checkTexts(rule, at, errors)
    const { reason } = rule
    if (typeof reason === 'string' && !reasons.includes(reason))
      errors.push(fieldError.notSupported(at.child('reason'), reason, reasons))
    checkFieldPath(schema, textOf(rule, 'fieldPath'), { path: at.child('fieldPath'), errors })
  }
}

function checkTexts(rule: JsonObject, path: FieldPath, errors: FieldError[]): void {
  const [expression, message, messageExpression] = [
    textOf(rule, 'rule'),
    textOf(rule, 'message'),
    textOf(rule, 'messageExpression'),
  ]
  const at = path.child('message')
  if (isBlank(expression)) errors.push(fieldError.required(path.child('rule'), 'rule is not specified'))
  else if (message !== '' && isBlank(message))
    errors.push(fieldError.invalid(at, message, 'must be non-empty if specified'))
  else if (hasLines(message.trim())) errors.push(fieldError.invalid(at, message, 'must not contain line breaks'))
  else if (hasLines(expression.trim()) && isBlank(message))
    errors.push(fieldError.required(at, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && isBlank(messageExpression)) {
    errors.push(
      fieldError.required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'),
    )
  }
}

function checkFieldPath(
  schema: JsonSchemaProps,
  fieldPath: string,
  { path, errors }: { path: FieldPath; errors: FieldError[] },
): void {
  if (fieldPath === '') return
  if (isBlank(fieldPath)) errors.push(fieldError.invalid(path, fieldPath, 'must be non-empty if specified'))
  if (hasLines(fieldPath)) errors.push(fieldError.invalid(path, fieldPath, 'must not contain line breaks'))
  if (findForeignKeyword(schema) === undefined && typeof followReference(fieldPath, schema) === 'string') {
    errors.push(fieldError.invalid(path, fieldPath, 'must be a valid path'))
  }
}

function textOf(rule: JsonObject, key: string): string {
  const value = rule[key]
  return typeof value === 'string' ? value : ''
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function hasLines(text: string): boolean {
  return /[\n\r]/.test(text)
}
