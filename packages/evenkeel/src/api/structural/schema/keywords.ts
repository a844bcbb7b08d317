/**
 * Rules about single keywords of a schema, wherever it stands: what custom resources do not support, which values
 * keywords take, and what goes together.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import { checkListType, checkMapType } from './lists.ts'
import { nestedSchemas } from './narrowing.ts'
import { isSchema } from './properties.ts'
import type { JsonSchemaProps } from './properties.ts'
import { checkRuleFields } from './rules.ts'

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
export function checkKeywords(schema: JsonSchemaProps, surroundings: KeywordContext): void {
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
