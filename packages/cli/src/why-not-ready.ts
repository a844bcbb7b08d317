/**
 * Explains why an object is not ready (conditions, children, dependencies, events, failed reconciles), and why a deleted
 * object still exists (finalizers, dependents).
 */
import { isJsonObject, type JsonObject } from 'evenkeel/unstable/api'
import { type Condition, type KubeObject } from 'evenkeel'
import { conditionsOf, sentence, stateOf, type ObjectState } from './object-state.ts'
import { ago } from './terminal.ts'
import { lastRunsOf, refOf, type WhyAnswer, type WhyFacts } from './why-changed.ts'

/** Conditions that report a problem when they are True. */
const badNews = /^(?:Failed|Degraded|Stalled|Drifted|Conflict|Cycle|.*Pressure|.*Unavailable|.*Failure)$/

export function whyNotReady(facts: WhyFacts): WhyAnswer {
  const { object } = facts
  const state = stateOf(object)
  const because = [
    ...lag(object),
    ...conditionLines(facts),
    ...partLines(object, 'children', 'child'),
    ...partLines(object, 'dependencies', 'dependency'),
    ...runLines(facts),
    ...eventLines(facts),
  ]
  const isSilent = because.length === 0
  const isFine = isSilent && state.isGood === true
  return {
    question: 'not-ready',
    answer: readiness(state, { isSilent }),
    because: isSilent && !isFine ? silence(facts) : because,
    advice: isFine ? [] : adviceFor(facts),
  }
}

/** One sentence: `yes: Shines`, `no, it is Progressing: 1 of 3 replicas`. A word is not said twice. */
function readiness({ word, why, isGood }: ObjectState, { isSilent }: { isSilent: boolean }): string {
  if (isGood === undefined) return 'it reports no readiness'
  const isRepeated = why === '' || why.toLowerCase() === word.toLowerCase()
  const more = isRepeated ? '' : `: ${why}`
  if (!isGood) return `no, it is ${word}${more}`
  return `yes${isSilent ? '' : ', with problems'}${more}`
}

function lag({ metadata: { generation }, ...object }: KubeObject): readonly string[] {
  const { status } = object as { status?: JsonObject }
  const observed = isJsonObject(status) ? status['observedGeneration'] : undefined
  return generation !== undefined && typeof observed === 'number' && observed < generation
    ? [`its spec is at generation ${generation}; what its controller says is about ${observed}`]
    : []
}

function conditionLines({ object, nowMs }: WhyFacts): readonly string[] {
  const telling = (condition: Condition): boolean =>
    badNews.test(condition.type) ? condition.status === 'True' : condition.status !== 'True'
  return conditionsOf(object)
    .filter(telling)
    .map((condition) => {
      const since = ago(condition.lastTransitionTime ?? '', nowMs)
      return `condition ${condition.type} is ${condition.status}${since === '' ? '' : ` for ${since}`}: ${condition.reason}${condition.message ? `, ${sentence(condition)}` : ''}`
    })
}

/** Entries of `status.children` and `status.dependencies` that are not ready. */
function partLines(object: KubeObject, field: 'children' | 'dependencies', words: string): readonly string[] {
  const { status } = object as { status?: JsonObject }
  const parts = isJsonObject(status) && Array.isArray(status[field]) ? status[field].filter(isJsonObject) : []
  return parts
    .filter(({ state }) => state !== 'Ready' && state !== 'Applied')
    .map(({ kind, name, namespace, state, reason, message }) => {
      const place =
        typeof namespace === 'string' && namespace !== '' && namespace !== object.metadata.namespace
          ? ` in ${namespace}`
          : ''
      return `${words} ${String(kind).toLowerCase()}/${String(name)}${place}, which is ${String(state)}${message ? `: ${String(message)}` : reason ? `: ${String(reason)}` : ''}`
    })
}

function runLines(facts: WhyFacts): readonly string[] {
  const [last] = lastRunsOf(facts)
  if (!last?.end) return last ? [`its controller ${last.controller} is at it right now`] : []
  const { result, error, at, waitingFor, afterMs } = last.end
  if (error !== undefined)
    return [
      `the last reconcile by ${last.controller} failed${at === undefined ? '' : ` at ${at}`} (attempt ${last.attempt + 1}): ${error}${afterMs === undefined ? '' : `; it tries again in ${Math.ceil(afterMs / 1000)} s`}`,
    ]
  return waitingFor === undefined ? [] : [`its controller ${last.controller} waits for ${waitingFor} (${result})`]
}

function eventLines({ events, nowMs }: WhyFacts): readonly string[] {
  const last = events.findLast(({ type }) => type === 'Warning')
  return last
    ? [
        `${last.from || 'an unknown component'} warned ${ago(last.lastTime, nowMs)} ago: ${last.reason}, ${last.message}${last.count > 1 ? ` (${last.count} times)` : ''}`,
      ]
    : []
}

function silence({ object, manager }: WhyFacts): readonly string[] {
  const { status } = object as { status?: JsonObject }
  if (isJsonObject(status) && Object.keys(status).length > 0) return []
  return [
    manager
      ? 'no controller has written a status: does this manager have a controller for its kind?'
      : 'no controller has written a status: is its controller running?',
  ]
}

function adviceFor({ object, manager }: WhyFacts): readonly string[] {
  const kind = object.kind.toLowerCase()
  const name = object.metadata.name ?? ''
  return [
    ...(manager ? [] : ['evenkeel up runs its controller; --manager URL reads from a running manager']),
    `evenkeel describe ${kind}/${name}`,
  ]
}

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
    return { question: 'still-here', answer: 'it is not being deleted', because: ownerLines(facts), advice: [] }
  const holders =
    finalizers.length === 0
      ? 'no finalizer is left: it goes now'
      : `${finalizers.join(', ')} ${finalizers.length === 1 ? 'blocks' : 'block'} its deletion`
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

/** Dependents that must go first. */
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
        `its dependent ${refOf(child)} still exists${child.metadata.deletionTimestamp === undefined ? '' : `, waiting for ${(child.metadata.finalizers ?? []).join(', ')}`}`,
    )
}

/** Which field manager added the finalizer. */
function holderOf({ object, manager }: WhyFacts, finalizer: string): string {
  const owner = object.metadata.managedFields?.find(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes(JSON.stringify(`v:"${finalizer}"`).slice(1, -1)),
  )?.manager
  const runs = manager?.controllers.map(({ name }) => name) ?? []
  const who =
    owner === undefined
      ? 'its controller removes it after the cleanup'
      : `${owner} put it on and takes it off when it has cleaned up`
  return manager && owner !== undefined && !runs.some((name) => owner.includes(name))
    ? `${who}; ${owner} is not among the controllers that run here (${runs.join(', ')})`
    : who
}

function ownerLines({ object, ownerGraph: family }: WhyFacts): readonly string[] {
  return (object.metadata.ownerReferences ?? []).map(({ kind, name, uid }) =>
    family.find(uid)
      ? `${kind.toLowerCase()}/${name} owns it and exists`
      : `${kind.toLowerCase()}/${name} owns it and is deleted: the object will be collected if a garbage collector runs`,
  )
}

function advice({ kind, metadata: { name = '' } }: KubeObject, finalizers: readonly string[]): readonly string[] {
  if (finalizers.length === 0) return []
  return [
    'run the controller that cleans up, and read its log',
    `evenkeel finalizers force ${kind.toLowerCase()}/${name} removes the finalizer without cleanup, and lists what may be left behind`,
  ]
}
