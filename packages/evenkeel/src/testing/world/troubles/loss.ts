/**
 * Things that go without the program: something in a service outside, or an object that others depend on.
 */
import type { ObjectReference } from '../../faults/deviation.ts'
import type { World } from '../world.ts'

/** Somebody takes something out of a service: the n-th thing of all that its fields hold. */
export async function removeExternalResource(
  world: World,
  { service, nth }: { service: string; nth: number },
): Promise<void> {
  const contents = (world.services as Readonly<Record<string, unknown>>)[service]
  let left = nth
  for (const value of typeof contents === 'object' && contents !== null ? Object.values(contents) : []) {
    const things = value instanceof Map || value instanceof Set ? ([...value.keys()] as unknown[]) : []
    const thing = things[left]
    left -= things.length
    if (left >= 0 || thing === undefined) continue
    await world.actAs('somebody', `takes ${String(thing)} out of ${service}`, () =>
      Promise.resolve((value as Map<unknown, unknown> | Set<unknown>).delete(thing)),
    )
    return
  }
}

/** What others depend on goes, and later they are deleted: they must be able to go as well. */
export async function deleteDependency(world: World, place: ObjectReference): Promise<void> {
  const direct = world.directClient('somebody')
  const needed = direct.find(place)
  if (!needed) return
  await world.actAs('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(needed))
  await world.runUntilQuiet({ forgives: true })
  for (const object of world.facts.state.parents) {
    const {
      kind,
      metadata: { name = '', ownerReferences = [], deletionTimestamp },
    } = object
    if (ownerReferences.length === 0 && deletionTimestamp === undefined)
      await world.actAs('somebody', `deletes ${kind} ${name}`, () => direct.delete(object))
  }
}
