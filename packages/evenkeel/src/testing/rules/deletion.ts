/**
 * Rule 4, deletion first: a program that has observed an object in deletion creates nothing new for it.
 * Rule 5, cleanup: a controller removes only its own finalizer, and an object in deletion is gone in the end.
 */
import { isJsonObject, type UnstructuredObject, stringifyJson } from '#api'
import type { Interaction } from '../deviation.ts'
import { foreignFinalizer, otherClient } from '../foreign-writes.ts'
import { bodyOf } from '../requests.ts'
import { describeObject } from '../snapshot.ts'
import type { Rule, RuleContext } from './rule.ts'

/** External calls that remove something, by the names of their methods. */
export const removalMethods =
  /^(?:ensure)?(?:absent|gone|delete|remove|destroy|release|clean|clear|detach|unregister|drop|revoke|stop|cancel|terminate|purge|unbind|disable)/i

export const deletionFirst: Rule = {
  code: 'deletion-first',
  number: 4,
  says: 'check deletionTimestamp first, and create nothing new for an object in deletion',
  watch: (world) => ({
    done(interaction) {
      if (interaction.type !== 'effect') return
      if (interaction.call) judgeCall(interaction, world)
      else judgeWrite(interaction, world)
    },
  }),
}

function judgeWrite(interaction: Interaction, world: RuleContext): void {
  const { requestInfo, request, knownDeletions = [] } = interaction
  if (!requestInfo || !request) return
  const body = bodyOf(request)
  // The server always refuses a new finalizer on an object in deletion.
  const target = knownDeletions.find(
    ({ kind, metadata }) =>
      kind === kindOf(world, requestInfo.resource, requestInfo.group) &&
      metadata.name === requestInfo.name &&
      (metadata.namespace ?? '') === requestInfo.namespace,
  )
  if (
    interaction.outcome === '422' &&
    target &&
    world.facts.state.isReconciled(target) &&
    stringifyJson(body).includes('finalizers')
  ) {
    world.addFinding({
      rule: 'deletion-first',
      severity: 'error',
      about: describeObject(target),
      message: `the program adds a finalizer to ${describeObject(target)}, which is being deleted: the server refuses every attempt`,
      hint: 'check metadata.deletionTimestamp before you add the finalizer',
    })
    return
  }
  if (!isJsonObject(body) || !/^20[01]$/.test(interaction.outcome)) return
  const isNew = requestInfo.verb === 'create' || interaction.outcome === '201'
  if (!isNew) return
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {}
  const references = Array.isArray(metadata['ownerReferences']) ? metadata['ownerReferences'].filter(isJsonObject) : []
  for (const { uid } of references) {
    const owner = seenDeleting(interaction, uid)
    if (owner)
      world.addFinding({
        rule: 'deletion-first',
        severity: 'error',
        about: `${requestInfo.resource} for ${describeObject(owner)}`,
        message: `${interaction.about} creates an object for ${describeObject(owner)}, which is being deleted`,
        hint: 'return after the cleanup when metadata.deletionTimestamp is set',
      })
  }
}

function judgeCall(interaction: Interaction, world: RuleContext): void {
  const { call, knownDeletions = [] } = interaction
  if (!call || interaction.outcome !== 'done' || removalMethods.test(call.method)) return
  const words = stringifyJson(call.parameters)
  for (const object of knownDeletions) {
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
        hint: 'return after the cleanup when metadata.deletionTimestamp is set',
      })
    }
  }
}

function seenDeleting({ knownDeletions = [] }: Interaction, uid: unknown): UnstructuredObject | undefined {
  return knownDeletions.find(({ metadata }) => metadata.uid === uid)
}

function kindOf(world: RuleContext, resource: string, group: string): string {
  return world.facts.kindOf(group, resource) ?? resource
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

export const finalizers: Rule = {
  code: 'cleanup',
  number: 5,
  says: 'clean up what you created, remove only your own finalizer, and let the deletion end',
  watch: (world) => ({
    done() {
      judgeRemovals(world)
    },
    quiet({ isHealed, isLast }) {
      if (isHealed && isLast) judgeStuck(world)
    },
  }),
}

function judgeRemovals(world: RuleContext): void {
  for (const { actor, before, after, resource } of world.facts.eventsSince('finalizers')) {
    if (!before || !world.facts.isProcess(actor) || resource === 'customresourcedefinitions') continue
    const left = new Set(after?.metadata.finalizers)
    for (const name of before.metadata.finalizers ?? []) {
      if (left.has(name) || world.facts.addedBy(before, name) !== otherClient) continue
      world.addFinding({
        rule: 'cleanup',
        severity: 'error',
        about: describeObject(before),
        message: `${actor} removes the finalizer ${name} of another client from ${describeObject(before)}`,
        hint: 'remove only your own finalizer from the list',
      })
    }
  }
}

function judgeStuck(world: RuleContext): void {
  for (const object of world.facts.objects) {
    const { deletionTimestamp, finalizers: names = [] } = object.metadata
    // Another client may still hold it.
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
      message: `the deletion of ${describeObject(object)} never ends: the finalizer ${names.join(', ')} remains`,
      hint: 'a cleanup must succeed when nothing is left to clean up',
    })
  }
}
