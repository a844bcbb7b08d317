/**
 * Which objects were there at a moment of a schedule: those that matter to the program.
 */
import type { UnstructuredObject } from '#api'
import type { ObjectReference } from '../faults/deviation.ts'
import type { World } from '../world/world.ts'

/** Objects that were there at a step: those that matter to the program. */
export function objectsAt(world: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const event of world.history.events) {
    if (event.step > step) break
    if (event.after) now.set(event.key, event.after)
    else now.delete(event.key)
  }
  return [...now.values()].filter((object) => world.facts.state.isReconciled(object) || hasOwner(object))
}

/** The rests at which something can happen, by their numbers: after the last one, when all is made well, nothing does. */
export function quietIndexesOf({ quietSteps }: World): number[] {
  return quietSteps.slice(0, -1).map((_, index) => index)
}

export function objectsAtQuiet(world: World, index: number): UnstructuredObject[] {
  return objectsAt(world, world.quietSteps[index] ?? 0)
}

export function hasOwner({ metadata: { ownerReferences = [] } }: UnstructuredObject): boolean {
  return ownerReferences.length > 0
}

export function objectReferenceOf({
  apiVersion,
  kind,
  metadata: { name = '', namespace = '' },
}: UnstructuredObject): ObjectReference {
  return { apiVersion, kind, namespace, name }
}
