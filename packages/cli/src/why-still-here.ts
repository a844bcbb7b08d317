/**
 * Explains why a deleted object still exists: its finalizers and what they wait for, and dependents that must go first.
 */
import type { KubeObject } from 'evenkeel'
import { blockedBecause } from './object-state.ts'
import { ago } from './terminal.ts'
import { refOf, type WhyAnswer, type WhyFacts, type WhyReason } from './why-answer.ts'
import { problemsOf } from './why-not-ready.ts'

const known: Readonly<Record<string, string>> = {
  foregroundDeletion: 'foreground deletion waits for its dependents',
  orphan: 'orphan deletion removes its owner references from dependents',
  kubernetes: 'the namespace waits until all its objects are gone',
  'customresourcecleanup.apiextensions.k8s.io': 'the CustomResourceDefinition waits until its objects are gone',
}

export function whyStillHere(facts: WhyFacts): WhyAnswer {
  const { object, nowMs } = facts
  const { deletionTimestamp, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined)
    return { question: 'still-here', answer: 'it is not being deleted', reasons: ownerReasons(facts) }
  const holders =
    finalizers.length === 0
      ? 'it has no finalizers, so it is about to go'
      : `${finalizers.join(', ')} ${finalizers.length === 1 ? 'blocks' : 'block'} its deletion`
  const why = blockedBecause(object)
  const advice = adviceFor(object, finalizers)
  return {
    question: 'still-here',
    answer: `it was deleted ${ago(String(deletionTimestamp), nowMs)} ago; ${holders}${why === undefined ? '' : `: ${why}`}`,
    reasons: [
      ...finalizers.map((finalizer) => finalizerReason(facts, finalizer)),
      ...blockers(facts),
      ...problemsOf(facts),
    ],
    ...(advice.length > 0 && { try: advice }),
  }
}

const blockersMax = 10

/** Dependents that must go first. */
function blockers({ object, ownerGraph }: WhyFacts): readonly WhyReason[] {
  const { uid = '', finalizers = [] } = object.metadata
  if (!finalizers.includes('foregroundDeletion')) return []
  const blocking = ownerGraph
    .childrenOf(uid)
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  return blocking.slice(0, blockersMax).map((child) => ({
    kind: 'dependent',
    message: `its dependent ${refOf(child)} still exists${child.metadata.deletionTimestamp === undefined ? '' : `, waiting for ${(child.metadata.finalizers ?? []).join(', ')}`}`,
  }))
}

/** What the finalizer stands for, or which field manager added it. */
function finalizerReason({ object, manager }: WhyFacts, finalizer: string): WhyReason {
  const owner = object.metadata.managedFields?.find(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes(JSON.stringify(`v:"${finalizer}"`).slice(1, -1)),
  )?.manager
  const runs = manager?.controllers.map(({ name }) => name) ?? []
  const isAbsent = manager !== undefined && owner !== undefined && !runs.some((name) => owner.includes(name))
  const who =
    owner === undefined
      ? 'its controller removes it after the cleanup'
      : `${owner} added it and removes it after the cleanup`
  const absence = isAbsent ? `; ${owner} is not one of the controllers that run here (${runs.join(', ')})` : ''
  return {
    kind: 'finalizer',
    message: `${finalizer}: ${known[finalizer] ?? `${who}${absence}`}`,
    field: 'metadata.finalizers',
  }
}

function ownerReasons({ object, ownerGraph }: WhyFacts): readonly WhyReason[] {
  return (object.metadata.ownerReferences ?? []).map(({ kind, name, uid }) => ({
    kind: 'owner',
    message: ownerGraph.find(uid)
      ? `${kind.toLowerCase()}/${name} owns it and exists`
      : `${kind.toLowerCase()}/${name} owns it and is deleted: the garbage collector, if one runs, deletes it too`,
    field: 'metadata.ownerReferences',
  }))
}

function adviceFor({ kind, metadata: { name = '' } }: KubeObject, finalizers: readonly string[]): readonly string[] {
  if (finalizers.length === 0) return []
  return [
    'run the controller that cleans up, and read its log',
    `evenkeel finalizers force ${kind.toLowerCase()}/${name} removes the finalizer without cleanup, and lists what may be left behind`,
  ]
}
