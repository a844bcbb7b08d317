/**
 * Why an object is not ready: its conditions, what it made, what it needs, and what its controller ran into.
 */
import { isJsonObject } from 'evenkeel/api'
import type { Condition, JsonObject, KubeObject } from 'evenkeel/api'
import { conditionsOf, sentence, stateOf } from '../objects/state-of.ts'
import { ago } from '../printing/ago.ts'
import type { WhyAnswer, WhyFacts } from './answer.ts'
import { lastRunsOf } from './ran.ts'

/** Types whose truth is bad news. */
const badNews = /^(?:Failed|Degraded|Stalled|Drifted|Conflict|Cycle|.*Pressure|.*Unavailable|.*Failure)$/

export function whyNotReady(facts: WhyFacts): WhyAnswer {
  const { object } = facts
  const state = stateOf(object)
  const because = [
    ...lag(object),
    ...conditionLines(facts),
    ...partLines(object, 'children', 'it made'),
    ...partLines(object, 'dependencies', 'it needs'),
    ...runLines(facts),
    ...eventLines(facts),
  ]
  if (state.isGood === true && because.length === 0)
    return {
      question: 'not-ready',
      answer: `it is ready${state.why === '' || state.why === state.word ? '' : `: ${state.why}`}`,
      because,
      advice: [],
    }
  if (because.length === 0)
    return {
      question: 'not-ready',
      answer:
        state.isGood === undefined
          ? 'nothing says whether it is ready'
          : `it is ${state.word}${state.why === '' ? '' : `: ${state.why}`}`,
      because: silence(facts),
      advice: adviceFor(facts),
    }
  return {
    question: 'not-ready',
    answer: `it is ${state.word}${state.why === '' ? '' : `: ${state.why}`}`,
    because,
    advice: adviceFor(facts),
  }
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

/** Entries of `status.children` and `status.dependencies` that are not as they should be. */
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
  const { result, error, waitingFor, afterMs } = last.end
  if (error !== undefined)
    return [
      `the last reconcile by ${last.controller} failed (attempt ${last.attempt + 1}): ${error}${afterMs === undefined ? '' : `; it tries again in ${Math.ceil(afterMs / 1000)} s`}`,
    ]
  return waitingFor === undefined ? [] : [`its controller ${last.controller} waits for ${waitingFor} (${result})`]
}

function eventLines({ events, nowMs }: WhyFacts): readonly string[] {
  const last = events.findLast(({ type }) => type === 'Warning')
  return last
    ? [
        `${last.from || 'somebody'} warned ${ago(last.lastTime, nowMs)} ago: ${last.reason}, ${last.message}${last.count > 1 ? ` (${last.count} times)` : ''}`,
      ]
    : []
}

function silence({ object, manager }: WhyFacts): readonly string[] {
  const { status } = object as { status?: JsonObject }
  if (isJsonObject(status) && Object.keys(status).length > 0) return []
  return [
    manager
      ? 'no controller has written a status: does one of this manager work on its kind?'
      : 'no controller has written a status: is one running?',
  ]
}

function adviceFor({ object, manager }: WhyFacts): readonly string[] {
  const kind = object.kind.toLowerCase()
  const name = object.metadata.name ?? ''
  return [
    ...(manager ? [] : ['evenkeel up runs its controller; --manager URL asks one that runs already']),
    `evenkeel describe ${kind}/${name}`,
  ]
}
