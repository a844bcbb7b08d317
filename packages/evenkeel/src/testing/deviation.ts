/**
 * A deviation: one place at which a schedule differs from the default schedule, as data.
 *
 * The default schedule has no faults: events are delivered in order, and the user takes a step whenever the world is
 * quiet. A test case is that default plus a list of deviations. Because a deviation is data, a failure can be written to
 * a replay file, run again, and shrunk.
 *
 * Example: a controller makes a ConfigMap for each App, and the user creates App a. The undisturbed schedule has these
 * interactions, numbered by type:
 *
 *     read 0     get configmaps default/a
 *     effect 0   create configmaps default/a
 *     effect 1   patch apps/status default/a
 *     quiet 0    nothing happens any more
 *
 * Deviations name one of these places and an action. Three of the schedules that follow:
 *
 *     { at: { type: 'effect', index: 0, when: 'after' }, action: { type: 'crash' } }    the ConfigMap exists, the program restarts
 *     { at: { type: 'effect', index: 1 }, action: { type: 'refuse', status: 409, … } }  the status write meets a conflict
 *     { at: { type: 'quiet', index: 0 }, action: { type: 'delete', object: … } }        another client deletes App a
 *
 * plan.ts lists all of them.
 *
 * Invariant: the numbers run through the whole schedule, over all processes. Two schedules with the same prefix number
 * the interactions of that prefix alike.
 */
import { stringifyJson } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'
import type { WireRequest } from '#wire'
import type { SimulatedProcess } from './process.ts'
import type { ErrorResponse, RequestInfo } from './requests.ts'

export interface Deviation {
  readonly at: SchedulePoint
  readonly action: DeviationAction
}

/** A place in a schedule: before or after an effect, before a read, in the n-th quiet state, or the start. */
export interface SchedulePoint {
  readonly type: 'effect' | 'read' | 'quiet' | 'start'
  readonly index: number
  /** @default 'before' */
  readonly when?: 'before' | 'after'
}

/** An object by kind, namespace and name. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** What happens at a schedule point. */
export type DeviationAction =
  /** The process crashes and restarts. */
  | { readonly type: 'crash' }
  /** The process crashes and restarts only after all faults are over. */
  | { readonly type: 'die' }
  /** The process crashes and restarts with stale first lists, of all kinds or of one. */
  | { readonly type: 'stale'; readonly back: number; readonly resource?: string }
  /** The request fails with an error and is not executed. */
  | { readonly type: 'refuse'; readonly status: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** The connection breaks: before the request is executed, or after. */
  | { readonly type: 'lose' }
  /** Watch events of a kind arrive only when the world is quiet. */
  | { readonly type: 'hold'; readonly resource: string }
  /** Watch events of a kind are lost with their connection; the next list shows only the newest state. */
  | { readonly type: 'coalesce'; readonly resource: string }
  /** All watches stay open and deliver nothing. */
  | { readonly type: 'silence' }
  /** The user takes the next step now. */
  | { readonly type: 'early' }
  /** Another client deletes an object. */
  | { readonly type: 'delete'; readonly object: ObjectReference }
  /** Another client deletes an object and creates one with the same name. */
  | { readonly type: 'recreate'; readonly object: ObjectReference }
  /** Another client creates an object that looks like a child and has no owner, or a different one. */
  | { readonly type: 'neighbour'; readonly object: ObjectReference }
  /** Another client adds a label and an annotation to an object. */
  | { readonly type: 'touch'; readonly object: ObjectReference }
  /** Another client adds a finalizer to an object. */
  | { readonly type: 'finalize'; readonly object: ObjectReference }
  /** Another client adds a finalizer and deletes the object: it stays in deletion for a while. */
  | { readonly type: 'terminate'; readonly object: ObjectReference }
  /** Another client changes a field of a child. */
  | { readonly type: 'drift'; readonly object: ObjectReference }
  /** The process is paused until its lease expires and another process leads; then it resumes. */
  | { readonly type: 'rival' }
  /** The clock of the process has an offset, or runs faster or slower. */
  | { readonly type: 'skew'; readonly offsetMs: number; readonly rate?: number }
  /** An external service answers a read with its state before the last change. */
  | { readonly type: 'past' }
  /** A permission is missing for some requests. */
  | { readonly type: 'forbid'; readonly verb: string; readonly resource: string }
  /** The watches of a kind break; no event is lost. */
  | { readonly type: 'cut'; readonly resource: string }
  /** No fault: more time passes between the steps of the user. */
  | { readonly type: 'wait' }
  /** Every controller has one worker, whatever its declaration says. */
  | { readonly type: 'serial' }
  /** Another client changes a spec. Then the change is reverted when the world is quiet, or the object is deleted later or at once. */
  | {
      readonly type: 'amend'
      readonly object: ObjectReference
      readonly spec: JsonObject
      readonly then: 'back' | 'delete' | 'later'
    }
  /** A namespace is deleted with all its objects; creates in it fail until it is empty. */
  | { readonly type: 'evict'; readonly namespace: string }
  /** An external service is unavailable for a while; without a name: the API server. */
  | { readonly type: 'outage'; readonly service?: string }
  /** The response arrives only when the world is quiet. */
  | { readonly type: 'slow' }
  /** The program starts after so many steps of the user. */
  | { readonly type: 'late'; readonly steps: number }
  /** A kind is not installed when the program starts. */
  | { readonly type: 'absent'; readonly resource: string }
  /** A mutating webhook adds a label and an annotation to every object of a kind. */
  | { readonly type: 'mutate'; readonly resource: string }
  /** A second object is created beside an object; every effect for it fails. */
  | { readonly type: 'poison'; readonly object: ObjectReference }
  /** Another client removes a resource from an external service. */
  | { readonly type: 'vanish'; readonly service: string; readonly nth: number }
  /** Another client changes an object that the program depends on, and reverts it when the world is quiet. */
  | { readonly type: 'alter'; readonly object: ObjectReference }
  /** An object that the program depends on is deleted, and later its dependents. */
  | { readonly type: 'deprive'; readonly object: ObjectReference }

/** `after effect 13`: equal for equal schedule points. */
export function schedulePointKey({ type, index, when = 'before' }: SchedulePoint): string {
  return `${when} ${type} ${index}`
}

/** `after effect 13: crash` */
export function describeDeviation({ at: { type, index, when = 'before' }, action }: Deviation): string {
  const where =
    type === 'start' ? 'from the start' : type === 'quiet' ? `in quiet state ${index}` : `${when} ${type} ${index}`
  return `${where}: ${describeAction(action)}`
}

const amendments = {
  back: 'and reverts it later',
  delete: 'and deletes it at once',
  later: 'and deletes it later',
}

function describeAction(action: DeviationAction): string {
  switch (action.type) {
    case 'refuse':
      return `${action.status} ${action.reason}`
    case 'hold':
    case 'coalesce':
      return `${action.type} events of ${action.resource}`
    case 'delete':
    case 'recreate':
    case 'neighbour':
    case 'touch':
    case 'finalize':
    case 'terminate':
    case 'poison':
    case 'deprive':
    case 'alter':
    case 'drift':
      return `${action.type} ${action.object.kind} ${action.object.name}`
    case 'cut':
      return `the watches of ${action.resource} break`
    case 'forbid':
      return `permission to ${action.verb} ${action.resource} is missing`
    case 'past':
      return 'the service answers with an old state'
    case 'serial':
      return 'one worker per controller'
    case 'amend':
      return `another client sets spec ${stringifyJson(action.spec)} of ${action.object.kind} ${action.object.name} ${amendments[action.then]}`
    case 'stale':
      return `crash and restart with ${action.resource ?? 'all kinds'} as of ${action.back} revisions ago`
    case 'skew':
      return `clock offset ${action.offsetMs / 1000} s${action.rate === undefined ? '' : `, ${action.rate} times as fast`}`
    case 'evict':
      return `namespace ${action.namespace} is deleted`
    case 'outage':
      return `${action.service ?? 'the API server'} is unavailable for a while`
    case 'slow':
      return 'the response is slow'
    case 'late':
      return `the program starts after ${action.steps} steps of the user`
    case 'absent':
      return `${action.resource} are not installed yet`
    case 'mutate':
      return `a webhook changes all ${action.resource}`
    case 'vanish':
      return `a resource in ${action.service} is removed`
    default:
      return action.type
  }
}

/**
 * A request or an external call of a process, with its number: a place at which a schedule may deviate.
 *
 * Writes to the server and external calls that change something are effects. The others are reads.
 */
export interface Interaction {
  readonly type: 'effect' | 'read'
  readonly index: number
  readonly process: SimulatedProcess
  /** `create configmaps default/a`, `cloud.createBucket` */
  readonly about: string
  readonly step: number
  /** The step at which the process sent it. */
  readonly requestedAt: number
  /** How many steps the user had taken. */
  readonly phase: number
  /** Objects that the process had observed in deletion when it sent this. */
  readonly knownDeletions?: readonly UnstructuredObject[] | undefined
  /** For requests to the API server. */
  readonly requestInfo?: RequestInfo | undefined
  readonly request?: WireRequest | undefined
  /** For calls of external services. */
  readonly call?: ExternalCall | undefined
  /** The response: an HTTP status, or `done`, `failed: …`, `refuse` or `reset` for an external call. */
  outcome: string
  /** The revision of the store before and after a write. */
  revisions?: readonly [before: number, after: number]
}

export interface ExternalCall {
  readonly service: string
  readonly method: string
  readonly parameters: readonly unknown[]
}

/** What happens to an interaction before it is executed. */
export type RequestDecision =
  | { readonly type: 'go' }
  /** Not executed; this error is the response. */
  | ({ readonly type: 'refuse' } & ErrorResponse)
  /** Not executed; the connection breaks. */
  | { readonly type: 'reset' }
  /** Executed on the state before the last change: only for reads of external services. */
  | { readonly type: 'past' }
  /** The process crashed: no response. */
  | { readonly type: 'dead' }

/** What happens to the response. */
export type ResponseDecision = 'answer' | 'lose' | 'dead'

/** Decides about interactions: the world, with the deviations of its schedule. */
export interface Interceptor {
  before(interaction: Interaction): Promise<RequestDecision> | RequestDecision
  after(interaction: Interaction): Promise<ResponseDecision> | ResponseDecision
}

/**
 * Which faults are legal: what a real server does to its clients.
 */
export interface Profile {
  readonly name: string
  /** The first list of a process may be stale, because a lagging server answers it. */
  readonly timeTravel: boolean
}

export const profiles = {
  /** The first list may come from any cache, however old. */
  'k8s<=1.34': { name: 'k8s<=1.34', timeTravel: true },
  /** Streaming lists: the first list is not older than the start of the process. */
  'k8s>=1.35': { name: 'k8s>=1.35', timeTravel: false },
  /** The Evenkeel server: as in newer clusters. */
  evenkeel: { name: 'evenkeel', timeTravel: false },
} as const satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles
