/**
 * Converts JSON Schema, as schema libraries write it (draft 2020-12 or OpenAPI 3.0), to a structural schema.
 *
 * Annotations are dropped, keywords with another spelling are rewritten, and what a custom resource cannot express is
 * refused with its path: a schema must not silently check less than its types promise. References are replaced by the
 * schema they refer to; a schema that refers to itself has no structural form.
 */
import {
  deepEqual,
  deepFreeze,
  exceedsDepth,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import type { SchemaNode } from '../schema/schema.ts'
import { combine, copyKeywords, narrow, type Combinator, type NodeDraft } from './json-schema-keywords.ts'

/** Deeper schemas are refused before they are walked. */
const depthMax = 400

/**
 * The structural schema that says the same.
 *
 * @param where names the schema in messages: `Website.spec`.
 * @throws {RangeError} when it says something that a custom resource cannot express.
 */
export function structuralFromJsonSchema(schema: JsonObject, where: string): SchemaNode {
  if (exceedsDepth(schema, depthMax)) throw new RangeError(`${where} is nested deeper than ${depthMax} levels`)
  return deepFreeze(convert(schema, new ReferenceScope(schema, where))) as SchemaNode
}

function convert(value: JsonValue, outer: ReferenceScope): NodeDraft {
  if (value === true) return { ...anything }
  if (!isJsonObject(value)) throw new RangeError(`${outer.where} allows nothing at all, or is no schema: leave it out`)
  const { schema, scope } = followRef(value, outer)
  const { where } = scope
  const draft = copyKeywords(schema, where)
  const type = readType(schema, draft, where)
  if (type !== undefined) draft['type'] = type
  convertObject(schema, draft, scope)
  convertList(schema, draft, scope)
  const whole = (['allOf', 'anyOf', 'oneOf'] as const).reduce(
    (node, junction) => convertCombinator(schema, node, { junction, scope }),
    draft,
  )
  if (isJsonObject(schema['not'])) whole['not'] = narrow(convertInside(schema['not'], scope.at('', where)))
  return finishType(whole, where)
}

/** Types that a list in `type` names beside null; more than one is an alternative. */
function readType(schema: JsonObject, draft: NodeDraft, where: string): string | undefined {
  const { type } = schema
  const types = (Array.isArray(type) ? type : type === undefined ? [] : [type]).map(String)
  if (types.includes('null')) draft['nullable'] = true
  const [first, second, ...more] = types.filter((name) => name !== 'null').sort()
  if (second === undefined) return first
  if (first !== 'integer' || second !== 'string' || more.length > 0) {
    throw new RangeError(
      `${where} may be of type ${types.join(' or ')}: a custom resource needs one type, or integer and string`,
    )
  }
  draft['x-kubernetes-int-or-string'] = true
  return undefined
}

function convertObject(schema: JsonObject, draft: NodeDraft, scope: ReferenceScope): void {
  const { properties } = schema
  if (isJsonObject(properties)) {
    const converted = {}
    for (const [name, property] of Object.entries(properties)) {
      if (property !== undefined) setOwn(converted, name, convert(property, scope.at(`.${name}`)))
    }
    draft['type'] ??= 'object'
    if (Object.keys(converted).length > 0) draft['properties'] = converted
  }
  const rest = restOf(schema, scope)
  if (rest === undefined || rest === false) return
  draft['type'] ??= 'object'
  const isAnything = rest === true || (isJsonObject(rest) && Object.keys(rest).length === 0)
  if (isAnything) draft['x-kubernetes-preserve-unknown-fields'] = true
  else if (draft['properties'] === undefined) draft['additionalProperties'] = convert(rest, scope.at('.*'))
  else
    throw new RangeError(
      `${scope.where} has both named fields and a schema for all others: a custom resource is either an object or a map`,
    )
}

const matchesAll = ['', '.*', '^.*$', '^(.*)$']

/** What is said of fields without a name of their own. Without a word, unknown fields are pruned, as `false` would have it. */
function restOf(schema: JsonObject, { where }: ReferenceScope): JsonValue | undefined {
  const names = schema['propertyNames']
  if (isJsonObject(names) && !Object.keys(names).every((keyword) => keyword === 'type')) {
    throw new RangeError(`${where} restricts the names of fields, which a custom resource cannot express`)
  }
  const patterns = Object.entries(isJsonObject(schema['patternProperties']) ? schema['patternProperties'] : {})
  const odd = patterns.find(([pattern]) => !matchesAll.includes(pattern))
  if (odd !== undefined)
    throw new RangeError(
      `${where} has fields by the pattern ${odd[0]}, which a custom resource cannot express: use a map of all names`,
    )
  return patterns[0]?.[1] ?? schema['additionalProperties'] ?? schema['unevaluatedProperties']
}

function convertList(schema: JsonObject, draft: NodeDraft, scope: ReferenceScope): void {
  const { prefixItems, items } = schema
  const tuple = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as readonly JsonValue[]
  if (tuple.length > 0 && !tuple.every((item) => deepEqual(item, tuple[0]))) {
    throw new RangeError(
      `${scope.where} is a tuple of different types, which a custom resource cannot express: use an object with named fields`,
    )
  }
  const item = tuple[0] ?? (Array.isArray(items) ? undefined : items)
  if (item !== undefined && item !== false) draft['items'] = convert(item, scope.at('[]'))
  if (tuple.length > 0 && (items === false || schema['additionalItems'] === false)) draft['maxItems'] ??= tuple.length
  if (draft['type'] === 'array') draft['items'] ??= { ...anything }
  if (schema['uniqueItems'] === true) makeSet(draft, scope.where)
}

function makeSet(draft: NodeDraft, where: string): void {
  const { items } = draft
  if (!isJsonObject(items) || ['array', 'object', undefined].includes(items['type'] as string | undefined)) {
    throw new RangeError(
      `${where} wants its items to be unique, which a custom resource can express for texts, numbers and booleans only`,
    )
  }
  draft['x-kubernetes-list-type'] ??= 'set'
}

function convertCombinator(
  schema: JsonObject,
  node: NodeDraft,
  { junction, scope }: { junction: Combinator; scope: ReferenceScope },
): NodeDraft {
  const given = schema[junction]
  if (!Array.isArray(given)) return node
  const members = (given as readonly JsonValue[]).filter((member) => !isNull(member))
  const nullable = members.length < given.length && junction !== 'allOf' ? { nullable: true } : {}
  // With a type of its own the schema describes the value, and the members only say more about it.
  if (schema['type'] !== undefined || schema['properties'] !== undefined) {
    const conditions = members.map((member) => narrow(convertInside(member, scope)))
    return { ...node, ...nullable, [junction]: conditions }
  }
  const converted = members.map((member) => convert(member, scope.at('', scope.where)))
  const isNullable = converted.some((member) => member['nullable'] === true) ? { nullable: true } : {}
  const bare = converted.map(({ nullable: _nullable, ...member }) => member)
  const combined = combine(bare, junction, scope.where)
  const parts =
    junction !== 'allOf' && node['type'] !== undefined
      ? combine([node, combined], 'allOf', scope.where)
      : { ...combined, ...node }
  return { ...parts, ...nullable, ...isNullable }
}

/** A member that leans on the type of the schema it stands in. */
function convertInside(member: JsonValue, scope: ReferenceScope): NodeDraft {
  if (!isJsonObject(member)) throw new RangeError(`${scope.where} has an alternative that is no schema`)
  const { schema, scope: inner } = followRef(member, scope)
  const draft = copyKeywords(schema, inner.where)
  if (isJsonObject(schema['properties'])) {
    const properties = {}
    for (const [name, property] of Object.entries(schema['properties']))
      if (property !== undefined) setOwn(properties, name, convertInside(property, inner.at(`.${name}`)))
    draft['properties'] = properties
  }
  if (isJsonObject(schema['items'])) draft['items'] = convertInside(schema['items'], inner.at('[]'))
  for (const junction of ['allOf', 'anyOf', 'oneOf'] as const) {
    const members = schema[junction]
    if (Array.isArray(members))
      draft[junction] = (members as readonly JsonValue[]).map((each) => narrow(convertInside(each, inner)))
  }
  if (isJsonObject(schema['not'])) draft['not'] = narrow(convertInside(schema['not'], inner))
  return draft
}

function isNull(member: JsonValue): boolean {
  return isJsonObject(member) && (member['type'] === 'null' || getOwn(member, 'const') === null)
}

const anything = { 'x-kubernetes-preserve-unknown-fields': true } as const

/** Every place needs a type: that of its listed values, if it has any, and else it holds anything. */
function finishType(draft: NodeDraft, where: string): NodeDraft {
  const values = Array.isArray(draft['enum']) ? (draft['enum'] as readonly JsonValue[]) : undefined
  if (values?.includes(null) === true) draft['nullable'] = true
  if (
    draft['type'] !== undefined ||
    draft['x-kubernetes-int-or-string'] === true ||
    draft['x-kubernetes-preserve-unknown-fields'] === true
  )
    return draft
  if (values === undefined) return { ...draft, ...anything }
  const types = [
    ...new Set(
      values.filter((value) => value !== null).map((value) => (Number.isInteger(value) ? 'integer' : typeof value)),
    ),
  ].sort()
  const [first, second, third] = types
  if (first === 'integer' && second === 'string' && third === undefined)
    return { ...draft, 'x-kubernetes-int-or-string': true }
  if (first === 'integer' && second === 'number' && third === undefined) return { ...draft, type: 'number' }
  if (first === undefined || second !== undefined || first === 'object')
    throw new RangeError(
      `${where} lists values of several types: a custom resource needs one type, or integer and string`,
    )
  return { ...draft, type: first }
}

// References.

/** More places than a sensible schema has: references to references can multiply without end. */
const placesMax = 20_000

/** Where a schema stands: what messages call the place, and the document its references are looked up in. */
class ReferenceScope {
  readonly where: string
  readonly document: JsonObject
  readonly #trail: readonly string[]
  readonly #count: { places: number }

  constructor(
    document: JsonObject,
    where: string,
    { trail = [], count = { places: 0 } }: { trail?: readonly string[]; count?: { places: number } } = {},
  ) {
    this.document = document
    this.where = where
    this.#trail = trail
    this.#count = count
  }

  /** A place further in. */
  at(step: string, where = `${this.where}${step}`): ReferenceScope {
    if (++this.#count.places > placesMax)
      throw new RangeError(`${this.where}: the schema has more than ${placesMax} places once its references are put in`)
    return new ReferenceScope(this.document, where, { trail: this.#trail, count: this.#count })
  }

  /** The same place, behind a reference. */
  behind(ref: string): ReferenceScope {
    if (this.#trail.includes(ref)) {
      throw new RangeError(
        `${this.where} refers to itself (${ref}), which a custom resource cannot express: describe it to a fixed depth, or as an object of anything`,
      )
    }
    return new ReferenceScope(this.document, this.where, { trail: [...this.#trail, ref], count: this.#count })
  }

  /** The same place, where a schema brings definitions of its own. */
  within(schema: JsonObject): ReferenceScope {
    const bringsOwn =
      schema !== this.document && ['definitions', '$defs'].some((keyword) => isJsonObject(getOwn(schema, keyword)))
    return bringsOwn ? new ReferenceScope(schema, this.where, { trail: [], count: this.#count }) : this
  }
}

/**
 * The schema that stands at a place, with what is said beside the reference.
 *
 * @throws {RangeError} when a reference leads outside, nowhere, or back to itself.
 */
function followRef(value: JsonObject, outer: ReferenceScope): { schema: JsonObject; scope: ReferenceScope } {
  let [schema, scope] = [value, outer.within(value)]
  for (let ref = getOwn(schema, '$ref'); ref !== undefined; ref = getOwn(schema, '$ref')) {
    if (typeof ref !== 'string' || !ref.startsWith('#'))
      throw new RangeError(
        `${scope.where} refers to ${JSON.stringify(ref)}, outside of the schema: put the definition in`,
      )
    const { $ref: _ref, ...beside } = schema
    scope = scope.behind(ref)
    schema = { ...find(ref, scope), ...beside }
  }
  return { schema, scope }
}

function find(ref: string, { document, where }: ReferenceScope): JsonObject {
  let found: JsonValue | undefined = document
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) ? getOwn(found, key) : undefined
  }
  if (!isJsonObject(found)) throw new RangeError(`${where} refers to ${ref}, which the schema does not define`)
  return found
}
