/**
 * Explains why an object is not ready: conditions, children, dependencies, events, failed reconciles, missing nodes.
 */
import { formatTime, isJsonObject, parseTime, type JsonObject } from 'evenkeel/unstable/api'
import { type Condition, type KubeObject } from 'evenkeel'
import { eventMs } from './events.ts'
import { conditionsOf, readinessOf, stateOf, type ObjectState } from './object-state.ts'
import type { WhyAnswer, WhyFacts, WhyReason } from './why-answer.ts'
import { lastRunsOf, placeOf } from './why-changed.ts'

/** Conditions that report a problem when they are True. */
const badNews = /^(?:Failed|Degraded|Stalled|Drifted|Conflict|Cycle|.*Pressure|.*Unavailable|.*Failure)$/

export function whyNotReady(facts: WhyFacts): WhyAnswer {
  const { object } = facts
  const state = stateOf(object)
  const isReady = state.isGood === true
  const problems = problemsOf(facts)
  const notes = isReady ? [] : [...waitReasons(facts), ...nodeReasons(facts)]
  const reasons = [...problems, ...notes]
  const advice = isReady && problems.length === 0 ? [] : adviceFor(facts)
  return {
    question: 'not-ready',
    answer: readiness(state, { hasProblems: problems.length > 0 }),
    reasons: reasons.length === 0 && !isReady ? silence(facts) : reasons,
    ...(advice.length > 0 && { try: advice }),
  }
}

/** One sentence: `yes: Shines`, `no, it is Progressing: 1 of 3 replicas`. A word is not said twice. */
function readiness({ word, why, isGood }: ObjectState, { hasProblems }: { hasProblems: boolean }): string {
  if (isGood === undefined) return 'it reports no readiness'
  const isRepeated = why === '' || why.toLowerCase() === word.toLowerCase()
  const more = isRepeated ? '' : `: ${why}`
  if (word === 'Deleting') return `no, it is being deleted and ${why}`
  if (!isGood) return `no, it is ${word}${more}`
  return `yes${hasProblems ? ', with problems' : ''}${more}`
}

/** What went wrong, as far as it is known. Of a ready object: what is still wrong. */
export function problemsOf(facts: WhyFacts): readonly WhyReason[] {
  const { object } = facts
  return [
    ...lag(object),
    ...conditionReasons(facts),
    ...partReasons(object, { field: 'children', kind: 'child' }),
    ...partReasons(object, { field: 'dependencies', kind: 'dependency' }),
    ...failureReasons(facts),
    ...eventReasons(facts),
  ]
}

function lag({ metadata: { generation }, ...object }: KubeObject): readonly WhyReason[] {
  const { status } = object as { status?: JsonObject }
  const observed = isJsonObject(status) ? status['observedGeneration'] : undefined
  if (generation === undefined || typeof observed !== 'number' || observed >= generation) return []
  const message = `its spec is at generation ${generation}; its status describes generation ${observed}`
  return [{ kind: 'generation', message, field: 'status.observedGeneration' }]
}

function conditionReasons({ object }: WhyFacts): readonly WhyReason[] {
  const isDeleting = object.metadata.deletionTimestamp !== undefined
  const telling = (condition: Condition): boolean =>
    badNews.test(condition.type) ? condition.status === 'True' : condition.status !== 'True'
  return conditionsOf(object)
    .filter(telling)
    .filter(({ reason }) => !(isDeleting && reason === 'Finalizing'))
    .map(({ type, status, reason = '', message = '', lastTransitionTime }) => {
      const details = [...new Set([reason, message])].filter((text) => text !== '').join(', ')
      return {
        kind: 'condition',
        message: `condition ${type} is ${status}${details === '' ? '' : `: ${details}`}`,
        condition: type,
        ...(lastTransitionTime && { at: String(lastTransitionTime) }),
      }
    })
}

/** Entries of `status.children` and `status.dependencies` that are not ready. */
function partReasons(
  object: KubeObject,
  { field, kind: part }: { field: 'children' | 'dependencies'; kind: 'child' | 'dependency' },
): readonly WhyReason[] {
  const { status } = object as { status?: JsonObject }
  const parts = isJsonObject(status) && Array.isArray(status[field]) ? status[field].filter(isJsonObject) : []
  return parts
    .filter(({ state }) => state !== 'Ready' && state !== 'Applied')
    .map(({ kind, name, namespace, state, reason, message }) => {
      const isElsewhere = typeof namespace === 'string' && namespace !== '' && namespace !== object.metadata.namespace
      const details = message ? `: ${String(message)}` : reason ? `: ${String(reason)}` : ''
      return {
        kind: part,
        message: `${part} ${String(kind).toLowerCase()}/${String(name)}${isElsewhere ? ` in ${namespace}` : ''} is ${String(state)}${details}`,
        field: `status.${field}`,
      }
    })
}

/** The last reconcile, if it failed. */
function failureReasons(facts: WhyFacts): readonly WhyReason[] {
  const [last] = lastRunsOf(facts)
  if (last?.end?.error === undefined) return []
  const { error, afterMs } = last.end
  const retry = afterMs === undefined ? '' : `; it tries again in ${Math.ceil(afterMs / 1000)} s`
  return [
    {
      kind: 'reconcile',
      message: `the last reconcile by ${last.controller} failed (attempt ${last.attempt + 1}): ${error}${retry}`,
      at: formatTime(last.startedMs),
      ...placeOf(last),
    },
  ]
}

/** What its controller is doing, which is no problem by itself. */
function waitReasons(facts: WhyFacts): readonly WhyReason[] {
  const [last] = lastRunsOf(facts)
  if (!last) return []
  const at = formatTime(last.startedMs)
  if (!last.end) return [{ kind: 'reconcile', message: `its controller ${last.controller} reconciles it now`, at }]
  const { waitingFor, error } = last.end
  if (waitingFor === undefined || error !== undefined) return []
  return [{ kind: 'reconcile', message: `its controller ${last.controller} waits for ${waitingFor}`, at }]
}

/** The last warning; of a ready object only one that came after it became ready. */
function eventReasons(facts: WhyFacts): readonly WhyReason[] {
  const { object, events } = facts
  const last = events.findLast(({ type }) => type === 'Warning')
  const [run] = lastRunsOf(facts)
  // The failure of a reconcile is an event too; the ledger knows more about it.
  const isReported = run?.end?.error !== undefined && last?.message.startsWith(run.end.error) === true
  if (!last || isReported) return []
  const ready = readinessOf(object)
  const readySinceMs = ready?.status === 'True' ? parseTime(String(ready.lastTransitionTime ?? '')) : undefined
  if (readySinceMs !== undefined && eventMs(last) <= readySinceMs) return []
  const { from, reason, message, count, lastTime } = last
  return [
    {
      kind: 'event',
      message: `${from || 'an unknown component'} warned: ${reason}, ${message}${count > 1 ? ` (${count} times)` : ''}`,
      ...(lastTime !== '' && { at: lastTime }),
    },
  ]
}

function nodeReasons({ nodes }: WhyFacts): readonly WhyReason[] {
  return nodes === 0 ? [{ kind: 'node', message: 'this server has no nodes: nothing runs its pods' }] : []
}

function silence({ object, manager }: WhyFacts): readonly WhyReason[] {
  const { status } = object as { status?: JsonObject }
  if (isJsonObject(status) && Object.keys(status).length > 0) return []
  const isAsked = manager !== undefined && !isBuiltIn(object)
  return [
    {
      kind: 'controller',
      message: `no controller has written a status: ${isAsked ? 'does this manager have a controller for its kind?' : 'is its controller running?'}`,
      field: 'status',
    },
  ]
}

/** Whether the kind belongs to Kubernetes: its controller is part of a cluster and not of a program. */
function isBuiltIn({ apiVersion }: KubeObject): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  return !group.includes('.') || group.endsWith('.k8s.io')
}

function adviceFor({ object, manager, nodes }: WhyFacts): readonly string[] {
  const { kind, metadata } = object
  return [
    ...(manager || isBuiltIn(object)
      ? []
      : ['evenkeel up runs its controller; --manager URL reads from a running manager']),
    ...(nodes === 0 ? ['a cluster with nodes, to run pods: evenkeel get nodes'] : []),
    `evenkeel describe ${kind.toLowerCase()}/${metadata.name ?? ''}`,
  ]
}
