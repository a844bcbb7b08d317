/**
 * Ownership: an owner reference names an existing object by its own kind, name and uid; a program does not delete or
 * change what it does not own, in the API or in an external service. The spec of what a user asks for belongs to the user.
 * Identity: a name can be used again, a uid cannot. A delete or update must hit the object that the program observed.
 */
import { isJsonObject, stringifyJson, type JsonValue, type OwnerReference, type UnstructuredObject } from '#api'
import { neighbourLabel, otherClient } from '../foreign-writes.ts'
import type { HistoryEvent } from '../history.ts'
import { describeObject, type Snapshot } from '../snapshot.ts'
import type { Rule, RuleContext } from './rule.ts'

export const ownership: Rule = {
  code: 'ownership',
  says: 'set correct owner references, and change only what you own',
  watch: (world) => ({
    done() {
      for (const event of world.facts.eventsSince('ownership')) {
        if (!world.facts.isProcess(event.actor)) continue
        judgeReferences(world, event)
        judgeNeighbours(world, event)
        judgeForeignObjects(world, event)
        judgeWishes(world, event)
      }
    },
  }),
}

function judgeReferences(world: RuleContext, { before, after }: HistoryEvent): void {
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
        message: `wrong owner reference of ${describeObject(after)}: ${wrong}`,
        hint: 'copy apiVersion, kind, name and uid from the owner itself',
      })
  }
}

function mistakeIn(
  { uid, kind, name, apiVersion }: OwnerReference,
  child: UnstructuredObject,
  { facts: { objects }, history }: RuleContext,
): string | undefined {
  const owner = objects.find(({ metadata }) => metadata.uid === uid)
  if (!owner) {
    // The owner existed and is deleted: the program may not have observed that, and the garbage collector follows.
    if (history.nameOf(uid) !== undefined) return undefined
    const namesake = objects.find((object) => object.kind === kind && object.metadata.name === name)
    return namesake && `${kind} ${name} has the uid ${namesake.metadata.uid ?? ''}, not ${uid}`
  }
  if (owner.kind !== kind || owner.apiVersion.split('/')[0] !== apiVersion.split('/')[0])
    return `the uid is that of ${owner.apiVersion} ${owner.kind} ${owner.metadata.name ?? ''}, not of a ${apiVersion} ${kind}`
  if (owner.metadata.name !== name) return `the uid is that of ${owner.kind} ${owner.metadata.name ?? ''}, not ${name}`
  const [ownerNamespace, childNamespace] = [owner.metadata.namespace ?? '', child.metadata.namespace ?? '']
  if (ownerNamespace !== '' && ownerNamespace !== childNamespace)
    return `${kind} ${name} is in namespace ${ownerNamespace}: the garbage collector will delete the child`
  return undefined
}

/** An object with the labels of a child and no owner or a different one. Without an owner it may be adopted first. */
function judgeNeighbours(world: RuleContext, { actor, before, after }: HistoryEvent): void {
  if (before?.metadata.annotations?.[neighbourLabel] === undefined || isOurs(world, before)) return
  const isFree = (before.metadata.ownerReferences ?? []).length === 0
  if (after && isFree && isOurs(world, after)) return
  const what = after ? 'changes' : 'deletes'
  world.addFinding({
    rule: 'ownership',
    severity: 'error',
    about: `neighbour ${before.kind}`,
    message: `${actor} ${what} ${describeObject(before)}, which it does not own: the labels match, but it has no owner or a different one`,
    hint: 'check metadata.ownerReferences by uid before you change what a label selector finds',
  })
}

/** Deletes of objects that other clients created, and removals of their owner references. */
function judgeForeignObjects(world: RuleContext, { actor, before, after }: HistoryEvent): void {
  const { facts } = world
  if (!before || facts.state.isReconciled(before) || before.metadata.annotations?.[neighbourLabel] !== undefined) return
  if (!after) {
    if (
      before.metadata.deletionTimestamp === undefined &&
      facts.createdBy(before) === otherClient &&
      !isOurs(world, before)
    )
      world.addFinding({
        rule: 'ownership',
        severity: 'error',
        about: describeObject(before),
        message: `${actor} deletes ${describeObject(before)}, which another client created and no object of the program owns`,
        hint: 'delete only what you created or own',
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
      message: `a write of ${actor} removes the owner ${kind} ${name} from ${describeObject(after)}`,
      hint: 'apply only your own owner reference, or send back all that you read',
    })
  }
}

/** The spec of what a user asks for belongs to the user: a program reports in the status. */
function judgeWishes(world: RuleContext, { key, actor, before, after }: HistoryEvent): void {
  const { facts, history } = world
  const wished = history.userObjects.get(key)
  if (!before || !after || !wished || !facts.state.isWish(after) || before.metadata.uid !== wished.metadata.uid) return
  // An absent field may get a value.
  const path = changedWish('spec', wished['spec'] as JsonValue, {
    before: before['spec'] as JsonValue,
    after: after['spec'] as JsonValue,
  })
  if (path === undefined) return
  const about = describeObject(after)
  world.addFinding({
    rule: 'ownership',
    severity: 'error',
    about,
    message: `${actor} changes ${path} of ${about}: the user's spec belongs to the user`,
    hint: 'report in the status what is otherwise, and let the user decide',
  })
}

/** The first field that had the value of the user and has another one now, or none. */
function changedWish(
  path: string,
  wished: JsonValue | undefined,
  { before, after }: { readonly before: JsonValue | undefined; readonly after: JsonValue | undefined },
): string | undefined {
  if (wished === undefined) return undefined
  if (isJsonObject(wished) && isJsonObject(before) && isJsonObject(after)) {
    for (const [name, value] of Object.entries(wished)) {
      const found = changedWish(`${path}.${name}`, value, { before: before[name], after: after[name] })
      if (found !== undefined) return found
    }
    return undefined
  }
  return stringifyJson(before) === stringifyJson(wished) && stringifyJson(after) !== stringifyJson(wished)
    ? path
    : undefined
}

/** Whether an object of a reconciled kind owns it; that object may be deleted by now. */
function isOurs(world: RuleContext, { metadata: { ownerReferences = [] } }: UnstructuredObject): boolean {
  return ownerReferences.some(({ apiVersion, kind }) => world.facts.state.isReconciled({ apiVersion, kind }))
}

export const identity: Rule = {
  code: 'identity',
  says: 'delete and update the object you observed, not another one with its name',
  watch: (world) => ({
    done({ requestInfo, process: proc, outcome, type }) {
      const events = world.facts.eventsSince('identity')
      if (type !== 'effect' || !requestInfo || requestInfo.name === '' || !/^20/.test(outcome)) return
      if (requestInfo.verb !== 'delete' && requestInfo.verb !== 'update') return
      for (const { actor, before } of events) {
        if (actor !== proc.name || !before || before.metadata.name !== requestInfo.name) continue
        const seen = proc.network.observed.find(before.kind, {
          name: requestInfo.name,
          namespace: requestInfo.namespace,
        })
        if (seen === undefined || seen.metadata.uid === before.metadata.uid) continue
        world.addFinding({
          rule: 'identity',
          severity: 'error',
          about: describeObject(before),
          message: `${proc.name} ${requestInfo.verb}s ${describeObject(before)}, but it observed another object with that name, which has been replaced`,
          hint: 'delete with a uid precondition; update with the resourceVersion you read',
        })
      }
    },
  }),
}

/** A program that takes every unwanted external resource for its own deletes resources of others. */
export const preexistingResources: Rule = {
  code: 'ownership',
  says: 'leave external resources of others alone',
  watch(world) {
    let preexisting: Map<string, string> | undefined
    return {
      before({ call, type }) {
        if (call && type === 'effect' && !world.options.reference) preexisting ??= flatten(world.facts.external())
      },
      done({ call, type, process: proc }) {
        if (!call || type !== 'effect' || !preexisting || world.options.reference) return
        const now = flatten(world.facts.external())
        for (const [about, value] of preexisting) {
          if (now.get(about) === value) continue
          preexisting.delete(about)
          if (!now.has(about))
            world.addFinding({
              rule: 'ownership',
              severity: 'error',
              about,
              message: `${proc.name} removes ${about}, which existed before and which it never changed: it belongs to another owner`,
              hint: 'record what you created, and remove nothing else',
            })
        }
      },
    }
  },
}

function flatten(snapshot: Snapshot): Map<string, string> {
  return new Map([...snapshot].map(([about, values]) => [about, values.join()]))
}
