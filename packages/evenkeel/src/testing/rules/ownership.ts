/**
 * Ownership: an owner reference names an object that is there, by its own kind and where it may own; nobody deletes or
 * changes what is not theirs.
 */
import type { OwnerReference, UnstructuredObject } from '#api'
import { neighbourLabel } from '../foreign-writes.ts'
import type { HistoryEvent } from '../history.ts'
import { describeObject, type Snapshot } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

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

/*
 * Identity: a name can be used again, a uid cannot. Who deletes or replaces must mean the very object it has seen.
 */

export const identity: Rule = {
  code: 'identity',
  says: 'a name can be used again, a uid cannot: mean the very object you have seen',
  watch: (world) => ({
    done({ requestInfo, process: life, outcome, type }) {
      const news = world.facts.eventsSince('identity')
      if (type !== 'effect' || !requestInfo || requestInfo.name === '' || !/^20/.test(outcome)) return
      if (requestInfo.verb !== 'delete' && requestInfo.verb !== 'update') return
      for (const { actor, before } of news) {
        if (actor !== life.name || !before || before.metadata.name !== requestInfo.name) continue
        const seen = life.network.observed.find(before.kind, {
          name: requestInfo.name,
          namespace: requestInfo.namespace,
        })
        if (seen === undefined || seen.metadata.uid === before.metadata.uid) continue
        world.addFinding({
          rule: 'identity',
          severity: 'error',
          about: describeObject(before),
          message: `${life.name} ${requestInfo.verb}s ${describeObject(before)}, but it is not the one that it has seen: it was made anew under the same name`,
          hint: 'delete with a precondition on the uid; update with the resourceVersion you read',
        })
      }
    },
  }),
}

/*
 * Strangers: what was in a service before the program came stays there, unless the program has made something of it.
 *
 * Who takes everything that is not wanted for something of its own deletes what others live on.
 */

export const preexistingResources: Rule = {
  code: 'ownership',
  says: 'leave alone what others have in a service',
  watch(world) {
    let strange: Map<string, string> | undefined
    return {
      before({ call, type }) {
        if (call && type === 'effect' && !world.options.reference) strange ??= flatten(world.facts.outside())
      },
      done({ call, type, process: life }) {
        if (!call || type !== 'effect' || !strange || world.options.reference) return
        const now = flatten(world.facts.outside())
        for (const [about, value] of strange) {
          if (now.get(about) === value) continue
          strange.delete(about)
          if (!now.has(about))
            world.addFinding({
              rule: 'ownership',
              severity: 'error',
              about,
              message: `${life.name} takes away ${about}, which was there before and which it never touched: it belongs to somebody else`,
              hint: 'remember what you made, and take away nothing else',
            })
        }
      },
    }
  },
}

function flatten(snapshot: Snapshot): Map<string, string> {
  return new Map([...snapshot].map(([about, values]) => [about, values.join()]))
}
