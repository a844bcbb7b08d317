/**
 * Several schemas for one value as one structural schema: the shape is common, what differs becomes conditions.
 *
 *     a | b, as { type: 'a', x } and { type: 'b', y }   ──▶   { type, x, y } with oneOf: x where type is a, y where it is b
 *
 * Shapes that contradict each other (a text or a list) have no structural schema.
 */
import { deepEqual, getOwn, isJsonObject, setOwn } from '../../json.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { narrow, shapeKeywordsOf } from './keywords.ts'
import type { NodeDraft } from './keywords.ts'

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
