/**
 * Keywords of JSON Schema that stand alone: which are copied, which are written differently, which have no counterpart.
 */
import { getOwn, isJsonObject, setOwn } from '../../json.ts'
import type { JsonObject, JsonValue } from '../../json.ts'

/** What a schema says of one value, in the words of a structural schema; more is added to it. */
export type NodeDraft = Record<string, JsonValue | undefined>

/** Conditions on values, the same in both languages: also allowed inside of `allOf` and the like. */
const conditions = [
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'multipleOf',
  'minimum',
  'maximum',
  'required',
  'enum',
]
const annotations = ['title', 'description', 'default']
const impossible = [
  'if',
  'then',
  'else',
  'contains',
  'minContains',
  'maxContains',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedItems',
  '$dynamicRef',
  '$recursiveRef',
]

/** Formats that API servers check. A `duration` is not among them: theirs is written as in Go, JSON Schema's as in ISO 8601. */
const formats: ReadonlySet<string> = new Set([
  'bsonobjectid',
  'byte',
  'cidr',
  'creditcard',
  'date',
  'date-time',
  'datetime',
  'double',
  'email',
  'float',
  'hexcolor',
  'hostname',
  'int32',
  'int64',
  'ipv4',
  'ipv6',
  'isbn',
  'isbn10',
  'isbn13',
  'k8s-long-name',
  'k8s-short-name',
  'mac',
  'password',
  'rgbcolor',
  'ssn',
  'uri',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
])

/**
 * What the keywords say that need no look at others.
 *
 * @throws {RangeError} for a keyword that structural schemas have no way to say.
 */
export function copyKeywords(schema: JsonObject, where: string): NodeDraft {
  for (const keyword of impossible) {
    if (getOwn(schema, keyword) !== undefined)
      throw new RangeError(
        `${where} uses \`${keyword}\`, which a custom resource cannot express: describe it without, or check it in a rule`,
      )
  }
  const draft: NodeDraft = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const kept =
      conditions.includes(keyword) ||
      annotations.includes(keyword) ||
      keyword === 'nullable' ||
      keyword.startsWith('x-kubernetes-')
    if (kept && value !== null) setOwn(draft, keyword, value)
  }
  if (typeof schema['format'] === 'string' && formats.has(schema['format'])) draft['format'] = schema['format']
  if (Array.isArray(schema['required']) && schema['required'].length === 0) delete draft['required']
  checkPattern(draft['pattern'], where)
  copyLimits(schema, draft)
  copyConstant(schema, draft)
  return draft
}

/** A node reduced to conditions, as members of `anyOf` and the like must be. Empty when it has none. */
export function narrow(node: JsonObject): NodeDraft {
  const draft: NodeDraft = {}
  for (const keyword of [
    ...conditions,
    'exclusiveMinimum',
    'exclusiveMaximum',
    'format',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
  ]) {
    if (node[keyword] !== undefined) draft[keyword] = node[keyword]
  }
  const items = isJsonObject(node['items']) ? narrow(node['items']) : {}
  if (Object.keys(items).length > 0) draft['items'] = items
  const properties = {}
  for (const [name, property] of Object.entries(isJsonObject(node['properties']) ? node['properties'] : {})) {
    const inside = isJsonObject(property) ? narrow(property) : {}
    if (Object.keys(inside).length > 0) setOwn(properties, name, inside)
  }
  if (Object.keys(properties).length > 0) draft['properties'] = properties
  return draft
}

/** A node without its conditions: the shape of what it describes. */
export function shapeKeywordsOf(node: JsonObject): NodeDraft {
  const draft: NodeDraft = { ...node }
  for (const keyword of [...conditions, 'exclusiveMinimum', 'exclusiveMaximum', 'allOf', 'anyOf', 'oneOf', 'not'])
    delete draft[keyword]
  return draft
}

/** JSON Schema gives an exclusive limit its own number; OpenAPI 3.0 a flag beside the limit. */
function copyLimits(schema: JsonObject, draft: NodeDraft): void {
  for (const [limit, exclusive, sign] of [
    ['minimum', 'exclusiveMinimum', 1],
    ['maximum', 'exclusiveMaximum', -1],
  ] as const) {
    const [bound, beyond] = [schema[limit], schema[exclusive]]
    if (beyond === true && typeof bound === 'number') draft[exclusive] = true
    if (typeof beyond === 'number' && (typeof bound !== 'number' || beyond * sign >= bound * sign)) {
      draft[limit] = beyond
      draft[exclusive] = true
    }
    // Libraries say of every integer that it is one a double can hold, which says nothing.
    if (schema['type'] === 'integer' && Math.abs(Number(draft[limit])) === Number.MAX_SAFE_INTEGER) delete draft[limit]
  }
}

function copyConstant(schema: JsonObject, draft: NodeDraft): void {
  const constant = getOwn(schema, 'const')
  if (constant !== undefined) draft['enum'] = [constant]
}

function checkPattern(pattern: JsonValue | undefined, where: string): void {
  if (typeof pattern === 'string' && /\(\?<?[=!]|\\[1-9]|\\k</.test(pattern)) {
    throw new RangeError(
      `${where} has the pattern ${pattern}, which looks around or back: API servers use Go's regular expressions, which cannot`,
    )
  }
}
