/**
 * All rules about the schema of one version, in the order of upstream.
 *
 * The stages depend on each other: defaults are judged by structural schemas only, and rules in the expression language
 * are compiled only where a schema has nothing else wrong.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import type { JsonObject } from '../../json.ts'
import type { ConstraintOptions } from '../../schema/constraints.ts'
import type { SchemaNode } from '../../schema/schema.ts'
import { checkDefaults } from './defaults.ts'
import type { DefaultCheck } from './defaults.ts'
import { checkKeywords } from './keywords.ts'
import { readJsonSchemaProps } from './properties.ts'
import type { JsonSchemaProps } from './properties.ts'
import { checkStructural, findDefault, findForeignKeyword } from './structural.ts'

/** What judging a schema needs from layers that have a pattern engine and an expression language. */
export interface SchemaChecks extends Partial<ConstraintOptions> {
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
   * Whether the stored definition has the same schema.
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
  errors.push(...shape, ...keywords)
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
  { checkPattern = () => undefined, expressions, ...options }: SchemaChecks,
): FieldError[] {
  const structural = checkStructural(schema, path, checkPattern)
  if (structural.length > 0) return structural
  const root: JsonSchemaProps = { ...schema, 'x-kubernetes-embedded-resource': true }
  return checkDefaults(root, {
    path,
    options: { matches: () => true, ...options },
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
