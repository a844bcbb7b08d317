/**
 * Which objects were there at a moment of a schedule: those that matter to the program.
 */
import type { UnstructuredObject } from '#api'
import type { ObjectPlace } from '../faults/deviation.ts'
import type { World } from '../world/world.ts'

/** Objects that were there at a step: those that matter to the program. */
export function objectsAt(world: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const happening of world.chronicle.happenings) {
    if (happening.step > step) break
    if (happening.after) now.set(happening.key, happening.after)
    else now.delete(happening.key)
  }
  return [...now.values()].filter((object) => world.facts.view.isReconciled(object) || hasOwner(object))
}

/** The rests at which something can happen, by their numbers: after the last one, when all is made well, nothing does. */
export function restsOf({ restSteps }: World): number[] {
  return restSteps.slice(0, -1).map((_, index) => index)
}

export function objectsAtRest(world: World, index: number): UnstructuredObject[] {
  return objectsAt(world, world.restSteps[index] ?? 0)
}

export function hasOwner({ metadata: { ownerReferences = [] } }: UnstructuredObject): boolean {
  return ownerReferences.length > 0
}

export function placeOf({
  apiVersion,
  kind,
  metadata: { name = '', namespace = '' },
}: UnstructuredObject): ObjectPlace {
  return { apiVersion, kind, namespace, name }
}
