/**
 * What the schema says about merging: which lists are merged, and by which key.
 *
 * A place is where an object stands. Its fields carry the strategy, as extensions beside the reference to their type.
 */
import { getOwn } from '../../json.ts'
import { resolveSchema } from '../../schema/resolve.ts'
import type { Definitions, Schema, SchemaNode } from '../../schema/schema.ts'
import { unprocessable } from './refusal.ts'

export interface PatchSchema {
  readonly node: SchemaNode
  readonly name: string
  readonly definitions: Definitions
}

export interface PatchMeta {
  /** What is merged in here: the object itself, or one item of the list. */
  readonly schema: PatchSchema
  readonly strategy: 'merge' | 'replace' | 'default'
  /** Empty for lists of scalars. */
  readonly mergeKey: string
}

export function rootPatchSchema({ root, definitions }: Schema): PatchSchema {
  return patchSchemaAt(root, definitions)
}

/** A field that holds an object. */
export function patchMetaForStruct(place: PatchSchema, key: string): PatchMeta {
  const at = fieldNode(place, key)
  return { schema: patchSchemaAt(at, place.definitions), strategy: strategyOf(at), mergeKey: mergeKeyOf(at) }
}

/** A field that holds a list; its place is that of the items. */
export function patchMetaForSlice(place: PatchSchema, key: string): PatchMeta {
  const at = fieldNode(place, key)
  const { node } = resolveSchema(at, place.definitions)
  if (node.type !== 'array') throw unprocessable(`expected slice or array type, but ${JSON.stringify(key)} is none`)
  return {
    schema: patchSchemaAt(node.items ?? {}, place.definitions),
    strategy: strategyOf(at),
    mergeKey: mergeKeyOf(at),
  }
}

function patchSchemaAt(at: SchemaNode, definitions: Definitions): PatchSchema {
  const { node, name = '' } = resolveSchema(at, definitions)
  return { node, name: name.slice(name.lastIndexOf('.') + 1), definitions }
}

function fieldNode({ node, name }: PatchSchema, key: string): SchemaNode {
  if (node.properties === undefined && node.additionalProperties !== undefined) {
    throw unprocessable('merging an object in json but data type is not struct, instead is: map')
  }
  const field = node.properties && getOwn(node.properties, key)
  if (!field)
    throw unprocessable(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`)
  return field
}

/** `retainKeys` only announces that clients use the directive; the directive itself works everywhere. */
function strategyOf(at: SchemaNode): PatchMeta['strategy'] {
  const strategies = (at['x-kubernetes-patch-strategy'] ?? '').split(',')
  if (strategies.includes('merge')) return 'merge'
  return strategies.includes('replace') ? 'replace' : 'default'
}

function mergeKeyOf(at: SchemaNode): string {
  return at['x-kubernetes-patch-merge-key'] ?? ''
}
