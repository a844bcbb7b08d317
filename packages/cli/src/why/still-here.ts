/**
 * Why an object that was deleted is still here: who holds it, since when, and what would let it go.
 */
import type { KubeObject } from 'evenkeel/api'
import { conditionsOf, sentence } from '../objects/state-of.ts'
import { ago } from '../printing/ago.ts'
import { refOf } from './answer.ts'
import type { WhyAnswer, WhyFacts } from './answer.ts'

const known: Readonly<Record<string, string>> = {
  foregroundDeletion: 'it was deleted in the foreground and waits for what belongs to it',
  orphan: 'it was deleted without what belongs to it, which is being set free',
  kubernetes: 'the namespace waits until everything in it is gone',
  'customresourcecleanup.apiextensions.k8s.io': 'the definition waits until its objects are gone',
}

export function whyStillHere(facts: WhyFacts): WhyAnswer {
  const { object, nowMs } = facts
  const { deletionTimestamp, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined)
    return { question: 'still-here', answer: 'nobody deleted it', because: ownerLines(facts), advice: [] }
  const holders =
    finalizers.length === 0
      ? 'nothing holds it any more: it goes now'
      : `${finalizers.join(', ')} ${finalizers.length === 1 ? 'holds' : 'hold'} it`
  const because = [
    ...finalizers.map((finalizer) => `${finalizer}: ${known[finalizer] ?? holderOf(facts, finalizer)}`),
    ...blockers(facts),
    ...conditionsOf(object)
      .filter(({ type, status }) => (type === 'Finalizing' || type.startsWith('Namespace')) && status === 'True')
      .map((condition) => `${condition.type}: ${sentence(condition)}`),
  ]
  return {
    question: 'still-here',
    answer: `it was deleted ${ago(String(deletionTimestamp), nowMs)} ago; ${holders}`,
    because,
    advice: advice(object, finalizers),
  }
}

/** Children that must go first. */
function blockers({ object, ownerGraph: family }: WhyFacts): readonly string[] {
  const { uid = '', finalizers = [] } = object.metadata
  if (!finalizers.includes('foregroundDeletion')) return []
  const blocking = family
    .childrenOf(uid)
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  return blocking
    .slice(0, 10)
    .map(
      (child) =>
        `${refOf(child)} belongs to it and is still there${child.metadata.deletionTimestamp === undefined ? '' : `, waiting for ${(child.metadata.finalizers ?? []).join(', ')}`}`,
    )
}

/** Who put the finalizer there, by the fields that managers own. */
function holderOf({ object, manager }: WhyFacts, finalizer: string): string {
  const owner = object.metadata.managedFields?.find(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes(JSON.stringify(`v:"${finalizer}"`).slice(1, -1)),
  )?.manager
  const runs = manager?.controllers.map(({ name }) => name) ?? []
  const who =
    owner === undefined
      ? 'its controller takes it off when it has cleaned up'
      : `${owner} put it on and takes it off when it has cleaned up`
  return manager && owner !== undefined && !runs.some((name) => owner.includes(name))
    ? `${who}; ${owner} is not among the controllers that run here (${runs.join(', ')})`
    : who
}

function ownerLines({ object, ownerGraph: family }: WhyFacts): readonly string[] {
  return (object.metadata.ownerReferences ?? []).map(({ kind, name, uid }) =>
    family.find(uid)
      ? `${kind.toLowerCase()}/${name} owns it and is there`
      : `${kind.toLowerCase()}/${name} owns it and is gone: it will be collected, unless nobody collects`,
  )
}

function advice({ kind, metadata: { name = '' } }: KubeObject, finalizers: readonly string[]): readonly string[] {
  if (finalizers.length === 0) return []
  return [
    'run the controller that cleans up, and look at its log',
    `evenkeel finalizers force ${kind.toLowerCase()}/${name} lets it go without cleaning up, and says what may be left behind`,
  ]
}
