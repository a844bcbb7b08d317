/**
 * Reads the schema inside a CRD, JSON that is not trusted, as JSONSchemaProps.
 *
 * It has every keyword of the API type, also those that a structural schema must not use, so that validation can refuse
 * them by name. Reading follows Go's zero values: an empty text, `false`, an empty list of schemas and `null` are left out;
 * keywords of the wrong type are left out and reported. Afterwards a keyword that is present has a meaning.
 *
 * Paths to declared fields are here, too (`.spec.color`, `.spec['the color']`): selectable fields and the `fieldPath` of CEL
 * rules. They name one field of every object, so they have neither indices nor wildcards.
 *
 * Invariant: a schema nested deeper than {@link depthMax} is not read, so every function on a schema may be recursive.
 */
import { exceedsDepth, getOwn, isJsonObject, setOwn, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'

type Nested =
  | 'items'
  | 'properties'
  | 'additionalProperties'
  | 'allOf'
  | 'anyOf'
  | 'oneOf'
  | 'not'
  | 'type'
  | 'x-kubernetes-list-type'
  | 'x-kubernetes-map-type'

/** The keywords of a schema inside a CRD. */
export interface JsonSchemaProps extends Omit<SchemaNode, Nested> {
  readonly type?: string
  readonly title?: string
  readonly example?: JsonValue
  readonly externalDocs?: JsonObject
  readonly id?: string
  readonly $schema?: string
  readonly items?: JsonSchemaProps | readonly JsonSchemaProps[]
  readonly properties?: Readonly<Record<string, JsonSchemaProps>>
  readonly patternProperties?: Readonly<Record<string, JsonSchemaProps>>
  readonly definitions?: Readonly<Record<string, JsonSchemaProps>>
  readonly dependencies?: Readonly<Record<string, JsonSchemaProps | readonly string[]>>
  readonly additionalProperties?: JsonSchemaProps | boolean
  readonly additionalItems?: JsonSchemaProps | boolean
  readonly allOf?: readonly JsonSchemaProps[]
  readonly anyOf?: readonly JsonSchemaProps[]
  readonly oneOf?: readonly JsonSchemaProps[]
  readonly not?: JsonSchemaProps
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly JsonObject[]
}

interface ReadSchema {
  readonly schema: JsonSchemaProps
  /** Keywords that are of the wrong type. */
  readonly errors: readonly FieldError[]
}

/** Deeper than any schema of use: one level of a schema is two or three of JSON. */
const depthMax = 400

/** Reads a schema; the path says where it stands. */
export function readJsonSchemaProps(value: JsonObject, path: FieldPath): ReadSchema {
  if (exceedsDepth(value, depthMax))
    return { schema: {}, errors: [fieldError.invalid(path, '', `must not be nested deeper than ${depthMax} levels`)] }
  const errors: FieldError[] = []
  return { schema: read(value, path, errors), errors }
}

/** Whether something is one schema: not a list of them, and neither yes nor no. */
export function isSchema(value: JsonSchemaProps | readonly unknown[] | boolean | undefined): value is JsonSchemaProps {
  return isJsonObject(value)
}

/** Reads one keyword; `undefined` when it says nothing, `wrong` when it is of another type. */
type Reader = (value: JsonValue, path: FieldPath, errors: FieldError[]) => unknown

const wrong = Symbol('of the wrong type')

const text: Reader = (value) => (typeof value !== 'string' ? wrong : value === '' ? undefined : value)
const anyText: Reader = (value) => (typeof value === 'string' ? value : wrong)
const flag: Reader = (value) => (typeof value !== 'boolean' ? wrong : value || undefined)
const choice: Reader = (value) => (typeof value === 'boolean' ? value : wrong)
// A float64 in Go.
const number: Reader = (value) => {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : wrong
}
const integer: Reader = (value) => {
  if (typeof value === 'bigint') return Number(value)
  return Number.isInteger(value) ? value : wrong
}
const anything: Reader = (value) => value
const object: Reader = (value) => (isJsonObject(value) ? value : wrong)
const list: Reader = (value) => (Array.isArray(value) ? emptyIsNone(value) : wrong)
const texts: Reader = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? emptyIsNone(value) : wrong
const objects: Reader = (value) => (Array.isArray(value) && value.every(isJsonObject) ? emptyIsNone(value) : wrong)
const schema: Reader = (value, path, errors) => (isJsonObject(value) ? read(value, path, errors) : wrong)
const schemaOrChoice: Reader = (value, path, errors) =>
  typeof value === 'boolean' ? value : schema(value, path, errors)
const schemaOrTexts: Reader = (value, path, errors) =>
  Array.isArray(value) ? (texts(value, path, errors) ?? []) : schema(value, path, errors)
const someSchemas: Reader = (value, path, errors) =>
  Array.isArray(value) && value.every(isJsonObject)
    ? emptyIsNone(value.map((item, index) => read(item, path.index(index), errors)))
    : wrong
const schemaOrSchemas: Reader = (value, path, errors) =>
  Array.isArray(value) ? (someSchemas(value, path, errors) ?? []) : schema(value, path, errors)

/** A map of whatever the reader reads. */
function mapOf(reader: Reader, { keepEmpty = false } = {}): Reader {
  return (value, path, errors) => {
    if (!isJsonObject(value)) return wrong
    const result = {}
    for (const [key, item] of Object.entries(value)) {
      const one = item === undefined ? undefined : reader(item, path.key(key), errors)
      if (one === wrong) return wrong
      if (one !== undefined) setOwn(result, key, one)
    }
    return keepEmpty || Object.keys(result).length > 0 ? result : undefined
  }
}

const readers: Readonly<Record<keyof JsonSchemaProps, Reader>> = {
  $ref: anyText,
  $schema: text,
  id: text,
  type: text,
  format: text,
  title: text,
  description: text,
  pattern: text,
  default: anything,
  example: anything,
  externalDocs: object,
  enum: list,
  required: texts,
  nullable: flag,
  exclusiveMinimum: flag,
  exclusiveMaximum: flag,
  uniqueItems: flag,
  minimum: number,
  maximum: number,
  multipleOf: number,
  minLength: integer,
  maxLength: integer,
  minItems: integer,
  maxItems: integer,
  minProperties: integer,
  maxProperties: integer,
  items: schemaOrSchemas,
  additionalItems: schemaOrChoice,
  additionalProperties: schemaOrChoice,
  properties: mapOf(schema),
  patternProperties: mapOf(schema),
  definitions: mapOf(schema),
  dependencies: mapOf(schemaOrTexts, { keepEmpty: true }),
  allOf: someSchemas,
  anyOf: someSchemas,
  oneOf: someSchemas,
  not: schema,
  'x-kubernetes-list-type': anyText,
  'x-kubernetes-map-type': anyText,
  'x-kubernetes-list-map-keys': texts,
  'x-kubernetes-preserve-unknown-fields': choice,
  'x-kubernetes-embedded-resource': flag,
  'x-kubernetes-int-or-string': flag,
  'x-kubernetes-validations': objects,
  // Keywords of built-in kinds: a CRD loses them, as in kube-apiserver.
  'x-kubernetes-patch-merge-key': nothing,
  'x-kubernetes-patch-strategy': nothing,
  'x-kubernetes-unions': nothing,
  'x-kubernetes-group-version-kind': nothing,
}

function nothing(): undefined {
  return undefined
}

function read(value: JsonObject, path: FieldPath, errors: FieldError[]): JsonSchemaProps {
  const result = {}
  for (const [keyword, reader] of Object.entries(readers)) {
    const given = Object.hasOwn(value, keyword) ? value[keyword] : undefined
    if (given === undefined || given === null) continue
    const found = reader(given, path.child(keyword), errors)
    if (found === wrong) errors.push(fieldError.typeInvalid(path.child(keyword), given, 'is of the wrong type'))
    else if (found !== undefined) setOwn(result, keyword, found)
  }
  return result
}

function emptyIsNone<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items
}

// Paths to declared fields.

interface FieldReference {
  /** The steps from the root. */
  readonly steps: readonly string[]
  /** What stands there; `undefined` inside a map of anything. */
  readonly schema: JsonSchemaProps | undefined
  /** As errors write it: `spec.labels[the color]`. */
  readonly text: string
}

interface FieldReferenceOptions {
  /**
   * Whether `['name']` may be written.
   *
   * @default true
   */
  readonly brackets?: boolean
}

/** What a path refers to, or the sentence that says why it refers to nothing. */
export function followReference(
  path: string,
  root: JsonSchemaProps,
  { brackets = true }: FieldReferenceOptions = {},
): FieldReference | string {
  const tokens = tokensOf(path)
  const steps: string[] = []
  let schema: JsonSchemaProps | undefined = root
  let text = ''
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`
    if (token === '[' && !brackets) return 'array notation is not allowed'
    const name = token === '.' ? { text: tokens.shift() } : quotedName(tokens.shift())
    if (typeof name === 'string') return name
    if (name.text === undefined) return 'unexpected end of JSON path'
    const next: JsonSchemaProps | undefined | string = stepInto(schema, name.text)
    if (typeof next === 'string') return next
    const end = token === '[' ? closing(tokens.shift()) : undefined
    if (end !== undefined) return end
    steps.push(name.text)
    text += schema?.properties === undefined ? `[${name.text}]` : text === '' ? name.text : `.${name.text}`
    schema = next
  }
  return { steps, schema, text }
}

function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? []
}

function quotedName(token: string | undefined): { text: string | undefined } | string {
  if (token === undefined) return { text: undefined }
  const quoted = /^'(.*)'$/s.exec(token)?.[1]
  if (quoted === undefined) return `expected single quoted string but got ${token}`
  const wrong = quoted.match(/\\./g)?.findLast((escape) => !escapes.has(escape))
  return wrong === undefined
    ? { text: quoted.replace(/\\./g, (escape) => escapes.get(escape) ?? '') }
    : `invalid string literal: invalid escape char ${wrong}`
}

const escapes = new Map([
  ['\\a', '\x07'],
  ['\\b', '\b'],
  ['\\f', '\f'],
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\t', '\t'],
  ['\\v', '\v'],
  ["\\'", "'"],
  ['\\\\', '\\'],
])

function closing(token: string | undefined): string | undefined {
  if (token === ']') return undefined
  return token === undefined ? 'unexpected end of JSON path' : `expected ] but got ${token}`
}

function stepInto(schema: JsonSchemaProps | undefined, name: string): JsonSchemaProps | undefined | string {
  if (schema?.properties !== undefined) return getOwn(schema.properties, name) ?? nowhere
  if (schema?.additionalProperties === undefined) return nowhere
  return isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined
}

const nowhere = 'does not refer to a valid field'
