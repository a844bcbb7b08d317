/**
 * Converts single keywords of JSON Schema to those of a structural schema: which are copied, which are written differently,
 * which have no counterpart.
 *
 * Several schemas for one value become one structural schema: the common fields are declared once, what differs becomes a
 * condition.
 *
 *     a | b, as { type: 'a', x } and { type: 'b', y }   ──▶   { type, x, y } with oneOf: x where type is a, y where it is b
 *
 * Schemas of different types (a text or a list) have no common structural schema.
 */
import { deepEqual, getOwn, isJsonObject, setOwn, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'

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
function shapeKeywordsOf(node: JsonObject): NodeDraft {
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

// Unions: several schemas for one value.

export type Combinator = 'allOf' | 'anyOf' | 'oneOf'

/**
 * One node for alternatives (`anyOf`, `oneOf`) or for parts (`allOf`), each of them structural itself.
 *
 * @throws {RangeError} when they have no common shape.
 */
export function combine(members: readonly NodeDraft[], junction: Combinator, where: string): NodeDraft {
  const [first, ...others] = members
  if (first === undefined) throw new RangeError(`${where} has alternatives without any: give one, or leave it out`)
  if (others.every((member) => deepEqual(member, first))) return first
  if (junction !== 'allOf' && members.every(isEnumeration)) return enumerate(members)
  const shape = members.map(shapeKeywordsOf).reduce((shared, next) => mergeShapes(shared, next, where))
  const conditions = members.map((member) => withoutMeta(narrow(member), where))
  if (junction === 'allOf') return mergeConditions(shape, conditions)
  if (shape['x-kubernetes-int-or-string'] === true) return mergeEither(shape, conditions, where)
  // An alternative without conditions lets everything through, and so does the whole. (In a `oneOf`, too: what kept the
  // alternatives apart was that each refuses the fields of the others, and those are pruned now.)
  if (conditions.some((condition) => Object.keys(condition).length === 0)) return shape
  return { ...shape, [junction]: conditions }
}

function isEnumeration(member: NodeDraft): boolean {
  return (
    Array.isArray(member['enum']) &&
    Object.keys(member).every((keyword) =>
      ['enum', 'type', 'nullable', 'title', 'description', 'x-kubernetes-int-or-string'].includes(keyword),
    )
  )
}

function enumerate(members: readonly NodeDraft[]): NodeDraft {
  const values = members.flatMap((member) => member['enum'] as readonly JsonValue[])
  return { enum: values.filter((value, index) => values.findIndex((other) => deepEqual(other, value)) === index) }
}

/** Parts all hold: conditions that do not meet stand together, the others in an `allOf`. */
function mergeConditions(shape: NodeDraft, conditions: readonly NodeDraft[]): NodeDraft {
  const required = [...new Set(conditions.flatMap((condition) => (condition['required'] ?? []) as readonly string[]))]
  const rest = conditions
    .map(({ required: _required, ...condition }) => condition)
    .filter((condition) => Object.keys(condition).length > 0)
  return { ...shape, ...(required.length > 0 && { required }), ...(rest.length > 0 && { allOf: rest }) }
}

/** Conditions on texts say nothing of numbers, and the other way round, so they stand side by side. */
function mergeEither(shape: NodeDraft, conditions: readonly NodeDraft[], where: string): NodeDraft {
  const keywords = conditions.flatMap((condition) => Object.keys(condition))
  if (keywords.includes('enum') || new Set(keywords).size < keywords.length) {
    throw new RangeError(
      `${where} is an integer or a text, with conditions that a custom resource cannot tell apart: list all values, or drop the conditions`,
    )
  }
  return Object.assign({ ...shape }, ...conditions) as NodeDraft
}

/** A shape that has room for both. */
function mergeShapes(a: NodeDraft, b: NodeDraft, where: string): NodeDraft {
  if (deepEqual(a, b)) return a
  const merged = { ...a, ...b }
  mergeTypes(a, b, { merged, where })
  if (a['format'] !== b['format']) delete merged['format']
  for (const keyword of [
    'default',
    'x-kubernetes-list-type',
    'x-kubernetes-map-type',
    'x-kubernetes-list-map-keys',
  ] as const) {
    if (a[keyword] !== undefined && b[keyword] !== undefined && !deepEqual(a[keyword], b[keyword])) {
      throw new RangeError(`${where} has alternatives that differ in \`${keyword}\`: a field can have only one`)
    }
  }
  const properties = mergeProperties(a, b, where)
  if (properties !== undefined) merged['properties'] = properties
  if (isJsonObject(a['items']) && isJsonObject(b['items']))
    merged['items'] = mergeNodes(a['items'], b['items'], `${where}[]`)
  if (merged['properties'] !== undefined && merged['additionalProperties'] !== undefined) {
    throw new RangeError(
      `${where} is an object with fields in one alternative and a map in another: a custom resource needs one shape`,
    )
  }
  return merged
}

function mergeTypes(a: NodeDraft, b: NodeDraft, { merged, where }: { merged: NodeDraft; where: string }): void {
  if (a['type'] === b['type'] && a['x-kubernetes-int-or-string'] === b['x-kubernetes-int-or-string']) return
  const kinds = [a, b].map((node) =>
    node['x-kubernetes-int-or-string'] === true ? 'either' : String(node['type'] ?? 'anything'),
  )
  if (!kinds.every((kind) => ['integer', 'string', 'either'].includes(kind))) {
    throw new RangeError(
      `${where} may be of type ${kinds.join(' or ')}: a custom resource needs one type, or integer and string`,
    )
  }
  delete merged['type']
  merged['x-kubernetes-int-or-string'] = true
}

function mergeProperties(a: NodeDraft, b: NodeDraft, where: string): JsonObject | undefined {
  const [ours, theirs] = [a['properties'], b['properties']].map((properties) =>
    isJsonObject(properties) ? properties : undefined,
  )
  if (ours === undefined || theirs === undefined) return ours ?? theirs
  const merged = { ...ours }
  for (const [name, property] of Object.entries(theirs)) {
    const other = getOwn(ours, name)
    setOwn(
      merged,
      name,
      isJsonObject(other) && isJsonObject(property) ? mergeNodes(other, property, `${where}.${name}`) : property,
    )
  }
  return merged
}

/** What two alternatives say of the same field: alike or, without conditions, alike enough. */
function mergeNodes(a: JsonObject, b: JsonObject, where: string): JsonObject {
  if (deepEqual(a, b)) return a
  return mergeShapes(shapeKeywordsOf(a), shapeKeywordsOf(b), where)
}

function withoutMeta(condition: NodeDraft, where: string): NodeDraft {
  if (isJsonObject(condition['properties']) && getOwn(condition['properties'], 'metadata') !== undefined) {
    throw new RangeError(
      `${where} has conditions on a field called metadata inside an alternative, which a custom resource may not: use another name`,
    )
  }
  return condition
}
