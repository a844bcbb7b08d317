/**
 * One thing that goes otherwise than in the default schedule, as data: replay and shrinking follow from that.
 *
 * A deviation says where (before or after the n-th effect or look, or when the world has become quiet for the n-th
 * time) and what. The default policy and a list of these is a test case.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import type { WireRequest } from '#wire'
import type { SimulatedProcess } from './process.ts'
import type { ErrorResponse, RequestInfo } from './requests.ts'

/** Where in a schedule. */
export interface SchedulePoint {
  readonly type: 'effect' | 'look' | 'quiet' | 'start'
  readonly index: number
  /** @default 'before' */
  readonly when?: 'before' | 'after'
}

/** An object by its resource, namespace and name. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** What happens there. */
export type DeviationAction =
  /** The process dies and starts again. */
  | { readonly type: 'crash' }
  /** The process dies and stays down until everything is made well again. */
  | { readonly type: 'die' }
  /** The process dies; when it starts again its first lists, or those of one kind, show the past. */
  | { readonly type: 'stale'; readonly back: number; readonly resource?: string }
  /** It is answered with an error and not carried out. */
  | { readonly type: 'refuse'; readonly status: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** No answer comes: before, it was not carried out; after, it was. */
  | { readonly type: 'lose' }
  /** Events of a kind arrive only when everything else has come to rest. */
  | { readonly type: 'hold'; readonly resource: string }
  /** Events of a kind are lost with their connection, and the next look shows only the newest state. */
  | { readonly type: 'coalesce'; readonly resource: string }
  /** All watches are dead, and nobody notices. */
  | { readonly type: 'silence' }
  /** The user is faster: the next step is taken now. */
  | { readonly type: 'early' }
  /** Somebody deletes an object. */
  | { readonly type: 'delete'; readonly object: ObjectReference }
  /** Somebody deletes an object, and makes one of the same name anew. */
  | { readonly type: 'recreate'; readonly object: ObjectReference }
  /** Somebody makes an object beside a child that looks like it, and is nobody's. */
  | { readonly type: 'neighbour'; readonly object: ObjectReference }
  /** Somebody else writes something of their own into an object: a label, an annotation. */
  | { readonly type: 'touch'; readonly object: ObjectReference }
  /** Somebody else has a finalizer on an object. */
  | { readonly type: 'finalize'; readonly object: ObjectReference }
  /** Somebody whose finalizer holds an object deletes it: it stays a while, being deleted. */
  | { readonly type: 'terminate'; readonly object: ObjectReference }
  /** Something changed in a child's spec behind the controller's back. */
  | { readonly type: 'drift'; readonly object: ObjectReference }
  /** The process is paused until its lease is over and another one works, then goes on. */
  | { readonly type: 'rival' }
  /** The process's clock is off; its time may also pass faster or slower than that of others. */
  | { readonly type: 'skew'; readonly offsetMs: number; readonly rate?: number }
  /** A service outside answers from what was there before the last thing was done to it. */
  | { readonly type: 'past' }
  /** A permission is missing for a while. */
  | { readonly type: 'forbid'; readonly verb: string; readonly resource: string }
  /** The watches of a kind break; nothing is lost but the connection. */
  | { readonly type: 'cut'; readonly resource: string }
  /** Nothing goes wrong; only more time passes between the steps of the user. */
  | { readonly type: 'wait' }
  /** One object at a time, whatever the program says about its workers. */
  | { readonly type: 'serial' }
  /** Somebody changes what is wished for; when everything has come to rest it is changed back or deleted, or it is deleted at once. */
  | {
      readonly type: 'amend'
      readonly object: ObjectReference
      readonly spec: JsonObject
      readonly then: 'back' | 'delete' | 'later'
    }
  /** A namespace is being deleted: everything in it goes, and nothing new can be made there for a while. */
  | { readonly type: 'evict'; readonly namespace: string }
  /** A service outside is away for a while; without a name: the server. */
  | { readonly type: 'outage'; readonly service?: string }
  /** The answer arrives only when everything else has come to rest. */
  | { readonly type: 'slow' }
  /** The program starts only after so many steps of the user. */
  | { readonly type: 'late'; readonly steps: number }
  /** A kind is not installed yet when the program starts. */
  | { readonly type: 'absent'; readonly resource: string }
  /** A webhook of somebody else adds something to every object of a kind. */
  | { readonly type: 'mutate'; readonly resource: string }
  /** Beside an object there is another one for which everything is refused, for good. */
  | { readonly type: 'poison'; readonly object: ObjectReference }
  /** Somebody takes something out of a service. */
  | { readonly type: 'vanish'; readonly service: string; readonly nth: number }
  /** What others depend on is deleted, and later they are. */
  | { readonly type: 'deprive'; readonly object: ObjectReference }

export interface Deviation {
  readonly at: SchedulePoint
  readonly deed: DeviationAction
}

/** `after effect 13: crash` */
export function describeDeviation({ at: { type, index, when = 'before' }, deed }: Deviation): string {
  const where =
    type === 'start'
      ? 'from the start'
      : type === 'quiet'
        ? `when quiet for the ${index + 1}. time`
        : `${when} ${type} ${index}`
  return `${where}: ${describeAction(deed)}`
}

const amendments = {
  back: 'and later changes it back',
  delete: 'and deletes it at once',
  later: 'and later deletes it',
}

function describeAction(deed: DeviationAction): string {
  switch (deed.type) {
    case 'refuse':
      return `${deed.status} ${deed.reason}`
    case 'hold':
    case 'coalesce':
      return `${deed.type} events of ${deed.resource}`
    case 'delete':
    case 'recreate':
    case 'neighbour':
    case 'touch':
    case 'finalize':
    case 'terminate':
    case 'poison':
    case 'deprive':
    case 'drift':
      return `${deed.type} ${deed.object.kind} ${deed.object.name}`
    case 'cut':
      return `the watches of ${deed.resource} break`
    case 'forbid':
      return `may not ${deed.verb} ${deed.resource} for a while`
    case 'past':
      return 'the service answers from the past'
    case 'serial':
      return 'one object at a time'
    case 'amend':
      return `somebody sets spec ${JSON.stringify(deed.spec)} of ${deed.object.kind} ${deed.object.name}, ${amendments[deed.then]}`
    case 'stale':
      return `crash, and start with ${deed.resource ?? 'what was there'} as of ${deed.back} versions ago`
    case 'skew':
      return `clock off by ${deed.offsetMs / 1000} s${deed.rate === undefined ? '' : `, ${deed.rate} times as fast`}`
    case 'evict':
      return `the namespace ${deed.namespace} is deleted`
    case 'outage':
      return `${deed.service ?? 'the server'} is away for a while`
    case 'slow':
      return 'the answer takes long'
    case 'late':
      return `the program starts after ${deed.steps} steps of the user`
    case 'absent':
      return `${deed.resource} are not installed yet`
    case 'mutate':
      return `a webhook adds something to all ${deed.resource}`
    case 'vanish':
      return `something in ${deed.service} is taken away`
    default:
      return deed.type
  }
}

/*
 * One thing a process does to the world or asks of it, numbered: the points at which a schedule may deviate.
 *
 * Writes to the server and calls that change something outside are effects; what only looks is a look. Numbers
 * run through the whole schedule, over all processes, so that the same prefix gives the same numbers.
 */

export interface Interaction {
  readonly type: 'effect' | 'look'
  readonly index: number
  readonly process: SimulatedProcess
  /** `create configmaps default/a`, `cloud.createBucket` */
  readonly about: string
  readonly step: number
  /** The step at which it was asked for. */
  readonly requestedAt: number
  /** How many steps of the user had been taken. */
  readonly phase: number
  /** Objects that the process had seen to be deleted when it asked for this. */
  readonly knew?: readonly UnstructuredObject[] | undefined
  /** For requests to the server. */
  readonly requestInfo?: RequestInfo | undefined
  readonly request?: WireRequest | undefined
  /** For calls to the outside. */
  readonly call?: ExternalCall | undefined
  /** How it was answered: the status, `lost`, `reset`, or what an outside call came to. */
  outcome: string
  /** The revision of the store before and after, for writes. */
  revisions?: readonly [before: number, after: number]
}

interface ExternalCall {
  readonly service: string
  readonly method: string
  readonly parameters: readonly unknown[]
}

/** What becomes of something before it is carried out. */
export type RequestDecision =
  | { readonly type: 'go' }
  /** Not carried out; answered with this. */
  | ({ readonly type: 'refuse' } & ErrorResponse)
  /** Not carried out; the connection breaks. */
  | { readonly type: 'reset' }
  /** Carried out on what was there before: only looks at services. */
  | { readonly type: 'past' }
  /** Nobody waits for an answer any more. */
  | { readonly type: 'dead' }

/** What becomes of the answer. */
export type ResponseDecision = 'answer' | 'lose' | 'dead'

/** Who decides about points: the world, with the deviations of this schedule. */
export interface Interceptor {
  before(point: Interaction): Promise<RequestDecision> | RequestDecision
  after(point: Interaction): Promise<ResponseDecision> | ResponseDecision
}

/**
 * What a server really does to its clients: not every fault is legal everywhere.
 */
export interface Profile {
  readonly name: string
  /** A process that starts may first be shown the past: its first list may come from a server that lags behind. */
  readonly timeTravel: boolean
}

export const profiles = {
  /** Lists at start are served from any cache, however old. */
  'k8s<=1.34': { name: 'k8s<=1.34', timeTravel: true },
  /** Streaming lists: what a process is shown at its start is not older than its start. */
  'k8s>=1.35': { name: 'k8s>=1.35', timeTravel: false },
  /** Our own server: as the newer clusters. */
  evenkeel: { name: 'evenkeel', timeTravel: false },
} as const satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles
