/**
 * All rules about the schema of one version, in the order of upstream.
 *
 * The stages depend on each other: defaults are judged by structural schemas only, and rules in the expression language
 * are compiled only for schemas that have nothing else wrong.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import type { JsonObject } from '../../json.ts'
import type { ValidateOptions } from '../../schema/constraints.ts'
import type { SchemaNode } from '../../schema/schema.ts'
import { checkDefaults } from './defaults.ts'
import { checkKeywords } from './keywords.ts'
import { readSchema } from './properties.ts'
import type { SchemaProperties } from './properties.ts'
import { checkStructural, findDefault, findForeignKeyword } from './structural.ts'

/** What judging a schema needs from layers that have a pattern engine and an expression language. */
export interface SchemaChecks extends Partial<ValidateOptions> {
  /**
   * Why a pattern is not one of Go's regular expressions, in Go's words; `undefined` when it is.
   *
   * @default every pattern is
   */
  readonly checkPattern?: (pattern: string) => string | undefined
  /**
   * Compiles the rules in `x-kubernetes-validations` of a schema that is otherwise valid.
   *
   * @default none is compiled
   */
  readonly checkExpressions?: (schema: SchemaNode, path: FieldPath) => FieldError[]
}

interface SchemaPlace {
  /** Of the keyword `openAPIV3Schema` itself. */
  readonly path: FieldPath
  /** Status is a subresource, so that its schema must be found under `properties`. */
  readonly hasStatus: boolean
  readonly checks: SchemaChecks
}

interface CheckedSchema {
  readonly errors: readonly FieldError[]
  /** Whether any place in it has a default. */
  readonly hasDefaults: boolean
}

/** Reads and judges the schema of a version. */
export function checkVersionSchema(value: JsonObject, { path, hasStatus, checks }: SchemaPlace): CheckedSchema {
  const { schema, errors: misread } = readSchema(value, path)
  if (misread.length > 0) return { errors: misread, hasDefaults: false }
  return { errors: judge(schema, { path, hasStatus, checks }), hasDefaults: findDefault(schema) }
}

function judge(schema: SchemaProperties, { path, hasStatus, checks }: SchemaPlace): FieldError[] {
  const errors = hasStatus ? checkRoot(schema, path) : []
  if (schema.nullable) errors.push(fieldError.forbidden(path.child('nullable'), 'nullable cannot be true at the root'))

  const foreign = findForeignKeyword(schema)
  const shape = foreign === undefined ? checkShape(schema, path, checks) : []
  const keywords: FieldError[] = []
  checkKeywords(schema, { path, errors: keywords, root: true })
  errors.push(...shape, ...keywords)
  if (errors.length > 0) return errors
  if (foreign !== undefined) return [fieldError.invalid(path, '', foreign)]
  return checks.checkExpressions?.(schema as SchemaNode, path) ?? []
}

function checkShape(schema: SchemaProperties, path: FieldPath, { checkPattern = () => undefined, ...options }: SchemaChecks): FieldError[] {
  const structural = checkStructural(schema, path, checkPattern)
  if (structural.length > 0) return structural
  const root: SchemaProperties = { ...schema, 'x-kubernetes-embedded-resource': true }
  return checkDefaults(root, { path, options: { matches: () => true, ...options } })
}

/** The words of upstream: names of fields in Go. */
const allowedAtRoot = 'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems '
  + 'UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
const keywordsAtRoot: ReadonlySet<string> = new Set([
  ...allowedAtRoot.split(' ').filter((name) => !name.startsWith('X')).map((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`),
  'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations',
])

/** With status apart, conditions on the whole object would be lost for it. */
function checkRoot(schema: SchemaProperties, path: FieldPath): FieldError[] {
  const others = Object.keys(schema).filter((keyword) => !keywordsAtRoot.has(keyword))
  const wrongType = schema.type !== undefined && schema.type !== 'object'
  if (wrongType && !others.some((keyword) => ['id', '$schema', '$ref'].includes(keyword))) {
    return [fieldError.invalid(path.child('type'), schema.type, 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled')]
  }
  if (others.length === 0) return []
  return [fieldError.invalid(path, schema, `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`)]
}
