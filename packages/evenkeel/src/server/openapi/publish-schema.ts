/**
 * One schema as a document shows it: references under published names, in the words of OpenAPI v3 or v2.
 *
 * v2 can say less. What it cannot say is left out, in the way upstream does it, because old clients stumble
 * over a half-said schema where they accept one that says nothing.
 */
import { setOwn, type JsonObject, type JsonObjectDraft, type JsonValue, type SchemaNode } from '#api'
import { publishedSchemaName } from '../builtin/definitions.ts'

interface PublishOptions {
  readonly form: 'v2' | 'v3'
  /** The schema comes from a definition, so its references other than to metadata are published names already. */
  readonly custom: boolean
  /** Told the name of every definition that is referred to. */
  onReference(name: string): void
}

const prefixes = { v2: '#/definitions/', v3: '#/components/schemas/' } as const

/** What v2 has no words for. */
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
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: 'meta.v1.ObjectMeta' },
    },
  }
}

/** A node in the words of v2. */
function reduce(node: SchemaNode, custom: boolean): SchemaNode {
  return custom ? reduceCustom(node) : reduceBuiltin(node)
}

/** A wrapped reference stands by itself, a choice of scalars is called a string, and nothing has a default. */
function reduceBuiltin(node: SchemaNode): SchemaNode {
  const { allOf, oneOf, default: _, ...rest } = node
  if (allOf?.[0]?.$ref !== undefined) return { $ref: allOf[0].$ref, ...rest }
  return oneOf ? { type: 'string', ...rest } : rest
}

function reduceCustom(node: SchemaNode): SchemaNode {
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
