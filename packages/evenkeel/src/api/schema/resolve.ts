/**
 * From a place in a schema to what stands there: references and their wrappers are followed.
 *
 *     { allOf: [{ $ref: 'a.v1.Spec' }], default: {} }  ──▶  the node of `a.v1.Spec`, and that name
 *
 * What was found is kept per set of definitions, which all kinds of one server share. Extensions and defaults of the
 * place itself stay with the place: whoever wants them reads them there first.
 */
import type { Definitions, SchemaNode } from './schema.ts'

export interface ResolvedSchema {
  readonly node: SchemaNode
  /** The last definition on the way, `io.k8s.api.core.v1.Pod`; absent when the node stands for itself. */
  readonly name?: string
}

/**
 * The node that stands at a place.
 *
 * @throws {RangeError} when a reference leads nowhere or in a circle: schemas are ours, so that is a mistake of ours.
 */
export function resolveSchema(place: SchemaNode, definitions: Definitions): ResolvedSchema {
  if (place.$ref === undefined && place.allOf === undefined) return { node: place }
  let known = cache.get(definitions)
  if (!known) cache.set(definitions, (known = new WeakMap()))
  let resolved = known.get(place)
  if (!resolved) known.set(place, (resolved = follow(place, definitions)))
  return resolved
}

const cache = new WeakMap<Definitions, WeakMap<SchemaNode, ResolvedSchema>>()

/** More steps than any schema needs; a circle has no end. */
const stepsMax = 32

function follow(place: SchemaNode, definitions: Definitions): ResolvedSchema {
  let resolved: ResolvedSchema = { node: place }
  for (let step = 0; step < stepsMax; step++) {
    const next = nextStep(resolved.node, definitions)
    if (next === undefined) return resolved
    resolved = next.name === undefined && resolved.name !== undefined ? { ...next, name: resolved.name } : next
  }
  throw new RangeError(`the reference ${place.$ref ?? '(in allOf)'} leads in a circle`)
}

function nextStep(node: SchemaNode, definitions: Definitions): ResolvedSchema | undefined {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1)
    const target = definitions(name)
    if (target === undefined) throw new RangeError(`there is no schema ${name}`)
    return { node: target, name }
  }
  // Custom resources use allOf for more conditions on the same value; they have no references.
  const [only] = node.allOf ?? []
  return only?.$ref !== undefined && node.allOf?.length === 1 ? { node: only } : undefined
}
