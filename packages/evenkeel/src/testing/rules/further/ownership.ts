/**
 * Ownership: an owner reference names an object that is there, by its own kind and where it may own; nobody deletes or
 * changes what is not theirs.
 */
import type { OwnerReference, UnstructuredObject } from '#api'
import { describeObject } from '../../state/normalize.ts'
import type { HistoryEvent } from '../../world/chronicle.ts'
import { neighbourLabel } from '../../world/deeds.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'

export const ownership: Rule = {
  code: 'ownership',
  says: 'own what you make, by the right name; leave alone what is not yours',
  watch: (world) => ({
    done() {
      for (const event of world.facts.eventsSince('ownership')) {
        if (!world.facts.isProcess(event.actor)) continue
        judgeReferences(world, event)
        judgeNeighbours(world, event)
        judgeStrangers(world, event)
      }
    },
  }),
}

function judgeReferences(world: World, { before, after }: HistoryEvent): void {
  if (!after) return
  const known = new Set((before?.metadata.ownerReferences ?? []).map(({ uid }) => uid))
  const references = after.metadata.ownerReferences ?? []
  for (const reference of references) {
    if (known.has(reference.uid)) continue
    const wrong = mistakeIn(reference, after, world)
    if (wrong !== undefined)
      world.addFinding({
        rule: 'ownership',
        severity: 'error',
        about: describeObject(after),
        message: `the owner of ${describeObject(after)} is wrong: ${wrong}`,
        hint: 'take apiVersion, kind, name and uid from the very object that owns it',
      })
  }
}

function mistakeIn(
  { uid, kind, name, apiVersion }: OwnerReference,
  child: UnstructuredObject,
  { facts: { objects }, history }: World,
): string | undefined {
  const owner = objects.find(({ metadata }) => metadata.uid === uid)
  if (!owner) {
    // It was there and is gone: who had not seen that yet does nothing wrong, and the garbage collector comes.
    if (history.nameOf(uid) !== undefined) return undefined
    const namesake = objects.find((object) => object.kind === kind && object.metadata.name === name)
    return namesake && `${kind} ${name} has the uid ${namesake.metadata.uid ?? ''}, not ${uid}`
  }
  if (owner.kind !== kind || owner.apiVersion.split('/')[0] !== apiVersion.split('/')[0])
    return `the uid is that of ${owner.apiVersion} ${owner.kind} ${owner.metadata.name ?? ''}, not of a ${apiVersion} ${kind}`
  if (owner.metadata.name !== name) return `the uid is that of ${owner.kind} ${owner.metadata.name ?? ''}, not ${name}`
  const [inside, outside] = [owner.metadata.namespace ?? '', child.metadata.namespace ?? '']
  if (inside !== '' && inside !== outside)
    return `${kind} ${name} is in the namespace ${inside}: the garbage collector will delete the child`
  return undefined
}

/** Somebody else's object that looks like a child: same labels, another owner or none. Who has none may be taken in first. */
function judgeNeighbours(world: World, { actor, before, after }: HistoryEvent): void {
  if (before?.metadata.annotations?.[neighbourLabel] === undefined || isOurs(world, before)) return
  const isFree = (before.metadata.ownerReferences ?? []).length === 0
  if (after && isFree && isOurs(world, after)) return
  const what = after ? 'changed' : 'deleted'
  world.addFinding({
    rule: 'ownership',
    severity: 'error',
    about: `neighbour ${before.kind}`,
    message: `${actor} has ${what} ${describeObject(before)}, which only looks like one of its own: same labels, but another owner or none`,
    hint: 'look at metadata.ownerReferences (by uid) before you touch what a label selector found',
  })
}

/** Deleting what others made, and taking others' owners away. */
function judgeStrangers(world: World, { actor, before, after }: HistoryEvent): void {
  const { facts } = world
  if (!before || facts.state.isReconciled(before) || before.metadata.annotations?.[neighbourLabel] !== undefined) return
  if (!after) {
    if (
      before.metadata.deletionTimestamp === undefined &&
      facts.createdBy(before) === 'somebody' &&
      !isOurs(world, before)
    )
      world.addFinding({
        rule: 'ownership',
        severity: 'error',
        about: describeObject(before),
        message: `${actor} has deleted ${describeObject(before)}, which others made and which belongs to no object of the program`,
        hint: 'delete only what you made or own',
      })
    return
  }
  const left = new Set((after.metadata.ownerReferences ?? []).map(({ uid }) => uid))
  for (const { uid, kind, name } of before.metadata.ownerReferences ?? []) {
    const owner = facts.objects.find(({ metadata }) => metadata.uid === uid)
    if (left.has(uid) || !owner || facts.state.isReconciled(owner)) continue
    world.addFinding({
      rule: 'ownership',
      severity: 'error',
      about: describeObject(after),
      message: `a write of ${actor} takes the owner ${kind} ${name} away from ${describeObject(after)}`,
      hint: 'apply only your own owner reference, or send back what you read',
    })
  }
}

/** Whether one of the program's own objects owns it, or did: it may be gone by now. */
function isOurs(world: World, { metadata: { ownerReferences = [] } }: UnstructuredObject): boolean {
  return ownerReferences.some(({ apiVersion, kind }) => world.facts.state.isReconciled({ apiVersion, kind }))
}
