/**
 * The schemas of OpenAPI documents: the types that a document refers to, their published names, and their form in v3 or
 * v2.
 *
 * Built-in types are published as `io.k8s.api.core.v1.Pod`; the name of a custom resource is its group in reverse:
 * `com.example.stable.v1.CronTab`. Published schemas of built-in types are shared by all documents of a version, since
 * most refer to the same metadata. Names are sorted, so a document does not depend on the order of discovery of its
 * types.
 */
import {
  setOwn,
  type GroupVersion,
  type GroupVersionKind,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type SchemaNode,
} from '#api'
import { builtinSchemas, publishedSchemaName, schemaName, type Resource } from '@evenkeel/builtins'
import { describeDefinition, listText, listTexts, objectTexts } from '@evenkeel/builtins/descriptions'

type SchemaForm = 'v2' | 'v3'

interface PublishedSchema {
  readonly schema: JsonObject
  readonly references: readonly PublishedType[]
}

const sharedSchemas: Readonly<Record<SchemaForm, Map<string, PublishedSchema>>> = { v2: new Map(), v3: new Map() }

/** Kinds that every group version has as its own. */
const commonKinds = ['DeleteOptions', 'WatchEvent'] as const

export class Components {
  readonly #form: SchemaForm
  readonly #schemas = new Map<string, JsonObject>()

  constructor(form: SchemaForm) {
    this.#form = form
  }

  /** Adds a type with everything it refers to; returns the reference to it. */
  add(type: PublishedType): JsonObject {
    const pending = [type]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (this.#schemas.has(next.name)) continue
      const { schema, references } = this.#publish(next)
      this.#schemas.set(next.name, schema)
      for (const reference of references) if (!this.#schemas.has(reference.name)) pending.push(reference)
    }
    return { $ref: `${this.#form === 'v3' ? '#/components/schemas/' : '#/definitions/'}${type.name}` }
  }

  /** All schemas by name. Kinds that belong to every group version list the given ones. */
  schemas(versions: readonly GroupVersion[]): JsonObject {
    const sorted: JsonObjectDraft = {}
    for (const name of [...this.#schemas.keys()].sort()) sorted[name] = this.#schemas.get(name)
    for (const kind of commonKinds) {
      const { name } = builtinType(`meta.v1.${kind}`)
      const schema = this.#schemas.get(name)
      if (schema) sorted[name] = { ...schema, 'x-kubernetes-group-version-kind': kindsOf(kind, versions) }
    }
    return sorted
  }

  #publish(type: PublishedType): PublishedSchema {
    const known = sharedSchemas[this.#form].get(type.name)
    if (known) return known
    const references = new Set<string>()
    const schema = publishType(type, { form: this.#form, onReference: (name) => references.add(name) })
    // A custom type's list refers to the type itself, which its own operations add.
    const published = {
      schema,
      references: [...references].filter((name) => builtinSchemas(name) !== undefined).map(builtinType),
    }
    if (!type.custom) sharedSchemas[this.#form].set(type.name, published)
    return published
  }
}

function publishType(
  { node, custom }: PublishedType,
  { form, onReference }: { form: SchemaForm; onReference(name: string): void },
): JsonObject {
  const root = node() ?? { type: 'object' }
  // Old clients take the properties as complete, so an open object must have none.
  const isOpen = custom && form === 'v2' && root['x-kubernetes-preserve-unknown-fields'] === true
  if (!isOpen) return publishSchema(root, { form, custom, onReference })
  return { type: 'object', 'x-kubernetes-group-version-kind': root['x-kubernetes-group-version-kind'] ?? [] }
}

function kindsOf(kind: string, versions: readonly GroupVersion[]): JsonObject[] {
  const others = versions.filter(({ group, version }) => group !== '' || version !== 'v1')
  return [{ group: '', version: 'v1' }, ...others].map(({ group, version }) => ({ group, kind, version }))
}

// One schema, with references under published names. v2 is less expressive: the rest is left out as upstream does,
// because old clients fail on a partial schema where they accept an empty one.

interface PublishOptions {
  readonly form: 'v2' | 'v3'
  /** The schema comes from a CRD, so its references other than to metadata are published names already. */
  readonly custom: boolean
  /** Called with the name of every referenced schema. */
  onReference(name: string): void
}

const prefixes = { v2: '#/definitions/', v3: '#/components/schemas/' } as const

/** Keywords that v2 does not have. */
const junctors: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'nullable'])

export function publishSchema(node: SchemaNode, options: PublishOptions): JsonObject {
  const embedded = node['x-kubernetes-embedded-resource'] === true ? withObjectFields(node, options.form) : node
  return options.form === 'v3'
    ? publishFields(embedded, options)
    : publishFields(reduce(embedded, options.custom), options)
}

function publishFields(node: SchemaNode, options: PublishOptions): JsonObject {
  const published: JsonObjectDraft = {}
  for (const key of Object.keys(node))
    setOwn(published, key, publishField(key, node[key as keyof SchemaNode] as JsonValue, options))
  return published
}

function publishField(key: string, value: JsonValue, options: PublishOptions): JsonValue {
  switch (key) {
    case '$ref':
      return publishReference(value as string, options)
    case 'properties':
      return publishProperties(value as Readonly<Record<string, SchemaNode>>, options)
    case 'items':
    case 'not':
      return publishSchema(value as SchemaNode, options)
    case 'additionalProperties':
      return typeof value === 'boolean' ? value : publishSchema(value as SchemaNode, options)
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return (value as readonly SchemaNode[]).map((one) => publishSchema(one, options))
    default:
      return value
  }
}

function publishReference(name: string, { form, custom, onReference }: PublishOptions): string {
  onReference(name)
  return prefixes[form] + (custom && !name.startsWith('meta.v1.') ? name : publishedSchemaName(name))
}

function publishProperties(properties: Readonly<Record<string, SchemaNode>>, options: PublishOptions): JsonObject {
  const published: JsonObjectDraft = {}
  for (const [name, node] of Object.entries(properties)) setOwn(published, name, publishSchema(node, options))
  return published
}

/** An object inside an object has a kind and metadata of its own. */
function withObjectFields(node: SchemaNode, form: 'v2' | 'v3'): SchemaNode {
  if (form === 'v2' && node['x-kubernetes-preserve-unknown-fields'] === true) return node
  return {
    ...node,
    required: [...new Set([...(node.required ?? []), 'kind', 'apiVersion'])],
    properties: {
      ...node.properties,
      ...objectProperties,
    },
  }
}

/** The fields of every object. A description stands beside a reference only when `allOf` wraps the reference. */
const objectProperties = {
  apiVersion: { type: 'string', description: objectTexts.apiVersion },
  kind: { type: 'string', description: objectTexts.kind },
  metadata: { allOf: [{ $ref: 'meta.v1.ObjectMeta' }], description: objectTexts.metadata },
} as const satisfies Readonly<Record<string, SchemaNode>>

/** A node reduced to v2. */
function reduce(node: SchemaNode, custom: boolean): SchemaNode {
  return custom ? reduceCustom(node) : reduceBuiltin(node)
}

/** A wrapped reference is unwrapped, a union of scalars becomes a string, and defaults are dropped. */
function reduceBuiltin(node: SchemaNode): SchemaNode {
  const { allOf, oneOf, default: _, ...rest } = node
  if (allOf?.[0]?.$ref !== undefined) return { $ref: allOf[0].$ref, ...rest }
  return oneOf ? { type: 'string', ...rest } : rest
}

function reduceCustom(node: SchemaNode): SchemaNode {
  const wrapped = node.allOf?.[0]?.$ref
  if (wrapped !== undefined)
    return { $ref: wrapped, ...(node.description !== undefined && { description: node.description }) }
  const isOpen = node['x-kubernetes-preserve-unknown-fields'] === true
  const losesParts = isOpen || node.nullable === true
  const hasItems = node.items !== undefined && !losesParts
  const losesType = node.nullable === true || (isOpen && node.type === 'object') || (node.type === 'array' && !hasItems)
  const required = node.required?.filter((name) => node.properties?.[name]?.nullable !== true)
  const kept = Object.entries(node).filter(([key]) => {
    if (key === 'items' || key === 'properties') return !losesParts
    if (key === 'type') return !losesType
    return !junctors.has(key) && key !== 'required'
  })
  return { ...Object.fromEntries(kept), ...(required && required.length > 0 && { required }) }
}

// Types and their published names.

export interface PublishedType {
  readonly name: string
  /** Undefined for an unknown type: it is published as an object without properties. */
  node(): SchemaNode | undefined
  /** From a CRD, so that OpenAPI v2 cannot express parts of it. */
  readonly custom: boolean
}

/** A type by the short name of its schema. */
export function builtinType(name: string): PublishedType {
  const describe = () => {
    const node = builtinSchemas(name)
    return node && describeDefinition(name, node)
  }
  return { name: publishedSchemaName(name), node: describe, custom: false }
}

/** The type of a kind that is not a resource of its own, such as `Scale`. */
export function kindType(kind: GroupVersionKind): PublishedType {
  return builtinType(schemaName(kind))
}

export function resourceType(resource: Resource): PublishedType {
  if (!resource.custom) return kindType(resource)
  return { name: customName(resource), node: () => customNode(resource), custom: true }
}

export function listType(resource: Resource): PublishedType {
  const { group, version, listKind } = resource
  if (!resource.custom) return kindType({ group, version, kind: listKind })
  return { name: customName({ group, version, kind: listKind }), node: () => customListNode(resource), custom: true }
}

function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

/** A custom resource's schema with the fields of every object. */
function customNode(resource: Resource): SchemaNode {
  const {
    group,
    version,
    kind,
    schema: { root },
  } = resource
  return {
    type: 'object',
    ...root,
    properties: { ...root.properties, ...objectProperties },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
    ...publishedSelectors(resource),
  }
}

function customListNode(resource: Resource): SchemaNode {
  const { group, version, kind, listKind } = resource
  return {
    type: 'object',
    description: listText(kind),
    required: ['items'],
    properties: {
      apiVersion: objectProperties.apiVersion,
      items: {
        type: 'array',
        description: listTexts.items,
        items: { $ref: customName({ group, version, kind }) },
      },
      kind: { type: 'string', description: listTexts.kind },
      metadata: { allOf: [{ $ref: 'meta.v1.ListMeta' }], description: listTexts.metadata },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
    ...publishedSelectors(resource),
  }
}

/** The fields that field selectors of a custom resource may use, for clients that check a selector first. */
function publishedSelectors({ strategy: { selectableFields = {} } }: Resource): JsonObject {
  const fields = Object.keys(selectableFields).map((fieldPath) => ({ fieldPath }))
  return fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields }
}
