/**
 * What the schema says about merging: which lists are merged, and by which key.
 *
 * A place is where an object stands. Its fields carry the strategy, as extensions beside the reference to their type.
 */
import { getOwn } from '../../json.ts'
import { resolve } from '../../schema/resolve.ts'
import type { Definitions, Schema, SchemaNode } from '../../schema/schema.ts'
import { unworkable } from './refusal.ts'

export interface Place {
  readonly node: SchemaNode
  readonly name: string
  readonly definitions: Definitions
}

export interface Field {
  /** What is merged in here: the object itself, or one item of the list. */
  readonly place: Place
  readonly strategy: 'merge' | 'replace' | 'default'
  /** Empty for lists of scalars. */
  readonly mergeKey: string
}

export function rootPlace({ root, definitions }: Schema): Place {
  return placeAt(root, definitions)
}

/** A field that holds an object. */
export function objectField(place: Place, key: string): Field {
  const at = fieldNode(place, key)
  return { place: placeAt(at, place.definitions), strategy: strategyOf(at), mergeKey: mergeKeyOf(at) }
}

/** A field that holds a list; its place is that of the items. */
export function listField(place: Place, key: string): Field {
  const at = fieldNode(place, key)
  const { node } = resolve(at, place.definitions)
  if (node.type !== 'array') throw unworkable(`expected slice or array type, but ${JSON.stringify(key)} is none`)
  return { place: placeAt(node.items ?? {}, place.definitions), strategy: strategyOf(at), mergeKey: mergeKeyOf(at) }
}

function placeAt(at: SchemaNode, definitions: Definitions): Place {
  const { node, name = '' } = resolve(at, definitions)
  return { node, name: name.slice(name.lastIndexOf('.') + 1), definitions }
}

function fieldNode({ node, name }: Place, key: string): SchemaNode {
  if (node.properties === undefined && node.additionalProperties !== undefined) {
    throw unworkable('merging an object in json but data type is not struct, instead is: map')
  }
  const field = node.properties && getOwn(node.properties, key)
  if (!field) throw unworkable(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`)
  return field
}

/** `retainKeys` only announces that clients use the directive; the directive itself works everywhere. */
function strategyOf(at: SchemaNode): Field['strategy'] {
  const strategies = (at['x-kubernetes-patch-strategy'] ?? '').split(',')
  if (strategies.includes('merge')) return 'merge'
  return strategies.includes('replace') ? 'replace' : 'default'
}

function mergeKeyOf(at: SchemaNode): string {
  return at['x-kubernetes-patch-merge-key'] ?? ''
}
