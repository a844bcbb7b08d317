/**
 * Schemas of built-in types for use inside a custom resource: `core.v1.PodTemplateSpec` as a structural schema.
 *
 * The published definitions describe what kube-apiserver stores, in a dialect that a CRD may not use. Here references are
 * resolved, and
 *
 * - defaults that are only the zero values of Go (`""`, `0`, `{}`) are removed, except for keys of a list of type map,
 *   which need a value: `imagePullSecrets` is keyed by a name with the default `""`
 * - IntOrString and Quantity become `x-kubernetes-int-or-string`, free JSON preserves unknown fields
 * - keywords of strategic merge patch are removed, because custom resources do not have it
 * - metadata has the fields that a template may set; the server would own the others (uid, resourceVersion, …)
 *
 * Example: `ports` of a Container keeps `x-kubernetes-list-map-keys: [containerPort, protocol]`, `containerPort` stays
 * required without its default 0, and `protocol` keeps its default `TCP`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/builtins'
import { builtinSchemas } from './schemas.ts'

const either: JsonObject = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
}

/** What the published definition does not say. */
const special: Readonly<Record<string, JsonObject>> = {
  'intstr.IntOrString': either,
  'quantity.Quantity': {
    ...either,
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  },
  'runtime.RawExtension': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'meta.v1.FieldsV1': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'apiextensions.v1.JSON': { 'x-kubernetes-preserve-unknown-fields': true },
}

const templateMetadata = new Set(['name', 'namespace', 'labels', 'annotations', 'finalizers'])

const kept = new Set([
  'type',
  'format',
  'enum',
  'required',
  'nullable',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
])

/**
 * The schema of a built-in type, by its short name.
 *
 * @throws {RangeError} for a name that does not exist, and for a type that contains itself.
 */
export function embeddedSchema(name: string): JsonObject {
  return resolve(name, [])
}

function resolve(name: string, outer: readonly string[]): JsonObject {
  const short = name.slice(name.lastIndexOf('.') + 1)
  if (outer.includes(name))
    throw new RangeError(
      `${short} contains itself, which the schema of a custom resource cannot: use { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } in its place`,
    )
  const known = Object.hasOwn(special, name) ? special[name] : undefined
  if (known) return known
  const definition = builtinSchemas(name)
  if (definition === undefined) throw new RangeError(`there is no built-in type ${name}`)
  const schema = embed(definition as JsonObject, [...outer, name])
  return name === 'meta.v1.ObjectMeta' ? onlyTemplateMetadata(schema) : schema
}

function onlyTemplateMetadata(schema: JsonObject): JsonObject {
  const properties = schemasIn(schema['properties'])
  return {
    type: 'object',
    properties: Object.fromEntries([...properties].filter(([name]) => templateMetadata.has(name))),
  }
}

function embed(node: JsonObject, outer: readonly string[]): JsonObject {
  const reference = referenceOf(node)
  const base = reference === undefined ? ownKeywords(node, outer) : resolve(reference, outer)
  const given = node['default']
  return given === undefined || isZero(given) ? base : { ...base, default: given }
}

function ownKeywords(node: JsonObject, outer: readonly string[]): JsonObject {
  const { properties, items, additionalProperties } = node
  const schema: Record<string, JsonValue | undefined> = Object.fromEntries(
    Object.entries(node).filter(([keyword]) => kept.has(keyword)),
  )
  if (isJsonObject(properties))
    schema['properties'] = Object.fromEntries(
      [...schemasIn(properties)].map(([name, property]) => [name, embed(property, outer)]),
    )
  if (isJsonObject(items)) schema['items'] = embedItem(node, items, outer)
  if (isJsonObject(additionalProperties)) schema['additionalProperties'] = embed(additionalProperties, outer)
  return schema
}

/** Items of a list of type map: keys that are not required have their default. */
function embedItem(list: JsonObject, item: JsonObject, outer: readonly string[]): JsonObject {
  const schema = embed(item, outer)
  const keys = list['x-kubernetes-list-map-keys']
  const properties = schema['properties']
  if (!Array.isArray(keys) || !isJsonObject(properties)) return schema
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const completed = [...schemasIn(properties)].map(([name, property]): [string, JsonObject] => {
    const isComplete = !keys.includes(name) || required.includes(name) || 'default' in property
    return [name, isComplete ? property : { ...property, default: property['type'] === 'string' ? '' : 0 }]
  })
  return { ...schema, properties: Object.fromEntries(completed) }
}

function schemasIn(properties: JsonValue | undefined): Map<string, JsonObject> {
  if (!isJsonObject(properties)) return new Map()
  return new Map(Object.entries(properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])))
}

function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string') return $ref
  const [only] = Array.isArray(allOf) ? allOf : []
  return isJsonObject(only) && typeof only['$ref'] === 'string' ? only['$ref'] : undefined
}

function isZero(value: JsonValue): boolean {
  return value === '' || value === 0 || value === false || (isJsonObject(value) && Object.keys(value).length === 0)
}
