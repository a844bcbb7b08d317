/**
 * Rule 4: deletion first. Who has seen that an object is being deleted makes nothing new for it.
 */
import { isJsonObject, type OwnerReference, type UnstructuredObject } from '#api'
import type { Interaction } from '../deviation.ts'
import { foreignFinalizer } from '../foreign-writes.ts'
import { bodyOf } from '../requests.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

const undoes =
  /^(?:ensure)?(?:absent|gone|delete|remove|destroy|release|clean|clear|detach|unregister|drop|revoke|stop|cancel|terminate|purge|unbind|disable)/i

export const deletionFirst: Rule = {
  code: 'deletion-first',
  number: 4,
  says: 'look whether an object is being deleted before anything else; make nothing new for it',
  watch: (world) => ({
    done(point) {
      if (point.type !== 'effect') return
      if (point.call) judgeCall(point, world)
      else judgeWrite(point, world)
    },
  }),
}

function judgeWrite(point: Interaction, world: World): void {
  const { requestInfo, request, knew = [] } = point
  if (!requestInfo || !request) return
  const body = bodyOf(request)
  // Adding a finalizer to what is going is refused by the server, every time.
  const target = knew.find(
    ({ kind, metadata }) =>
      kind === kindOf(world, requestInfo.resource, requestInfo.group) &&
      metadata.name === requestInfo.name &&
      (metadata.namespace ?? '') === requestInfo.namespace,
  )
  if (
    point.outcome === '422' &&
    target &&
    world.facts.state.isReconciled(target) &&
    JSON.stringify(body).includes('finalizers')
  ) {
    world.addFinding({
      rule: 'deletion-first',
      severity: 'error',
      about: describeObject(target),
      message: `a finalizer is added to ${describeObject(target)} while it is being deleted: the server refuses that, again and again`,
      hint: 'look at metadata.deletionTimestamp before you add the finalizer',
    })
    return
  }
  if (!isJsonObject(body) || !/^20[01]$/.test(point.outcome)) return
  const isNew = requestInfo.verb === 'create' || point.outcome === '201'
  if (!isNew) return
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {}
  for (const { uid } of (metadata['ownerReferences'] ?? []) as unknown as OwnerReference[]) {
    const owner = seenDeleting(point, uid)
    if (owner)
      world.addFinding({
        rule: 'deletion-first',
        severity: 'error',
        about: `${requestInfo.resource} for ${describeObject(owner)}`,
        message: `${point.about}: something new is made for ${describeObject(owner)}, which is being deleted`,
        hint: 'return when metadata.deletionTimestamp is set, after the cleanup',
      })
  }
}

function judgeCall(point: Interaction, world: World): void {
  const { call, knew = [] } = point
  if (!call || point.outcome !== 'done' || undoes.test(call.method)) return
  const words = JSON.stringify(call.parameters)
  for (const object of knew) {
    const {
      metadata: { uid = '', name = '' },
    } = object
    if (!world.facts.state.isReconciled(object) || !world.facts.objects.some((one) => one.metadata.uid === uid))
      continue
    if (words.includes(`"${uid}"`) || new RegExp(`"[^"]*\\b${escaped(name)}\\b[^"]*"`).test(words)) {
      world.addFinding({
        rule: 'deletion-first',
        severity: 'error',
        about: `${call.service}.${call.method} for ${describeObject(object)}`,
        message: `${call.service}.${call.method} is called for ${describeObject(object)}, which is being deleted`,
        hint: 'return when metadata.deletionTimestamp is set, after the cleanup',
      })
    }
  }
}

function seenDeleting({ knew = [] }: Interaction, uid: string): UnstructuredObject | undefined {
  return knew.find(({ metadata }) => metadata.uid === uid)
}

function kindOf(world: World, resource: string, group: string): string {
  return world.facts.kindOf(group, resource) ?? resource
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/*
 * Rule 5: finalizers. Each takes off its own and nobody else's, and an object that is being deleted goes in the end.
 */

export const finalizers: Rule = {
  code: 'cleanup',
  number: 5,
  says: 'clean up what you made, take off only your own finalizer, and always get done',
  watch: (world) => ({
    done() {
      judgeRemovals(world)
    },
    quiet({ isHealed, isLast }) {
      if (isHealed && isLast) judgeStuck(world)
    },
  }),
}

function judgeRemovals(world: World): void {
  for (const { actor, before, after, resource } of world.facts.eventsSince('finalizers')) {
    if (!before || !world.facts.isProcess(actor) || resource === 'customresourcedefinitions') continue
    const left = new Set(after?.metadata.finalizers)
    for (const name of before.metadata.finalizers ?? []) {
      if (left.has(name) || world.facts.addedBy(before, name) !== 'somebody') continue
      world.addFinding({
        rule: 'cleanup',
        severity: 'error',
        about: describeObject(before),
        message: `the finalizer ${name} of ${describeObject(before)} belongs to somebody else and was taken off`,
        hint: 'remove your own finalizer from the list and send the rest back as it was',
      })
    }
  }
}

function judgeStuck(world: World): void {
  for (const object of world.facts.objects) {
    const { deletionTimestamp, finalizers: names = [] } = object.metadata
    // Somebody else may hold it still.
    if (names.includes(foreignFinalizer)) continue
    if (
      deletionTimestamp === undefined ||
      !(world.facts.state.isReconciled(object) || world.facts.state.isOwned(object))
    )
      continue
    world.addFinding({
      rule: 'cleanup',
      severity: 'error',
      about: describeObject(object),
      message: `${describeObject(object)} is being deleted and never goes: ${names.join(', ')} stays on it`,
      hint: 'a cleanup must succeed when there is nothing (left) to clean up',
    })
  }
}
