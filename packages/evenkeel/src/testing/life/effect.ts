/**
 * One thing a process does to the world or asks of it, numbered: the points at which a schedule may deviate.
 *
 * Writes to the server and calls that change something outside are effects; what only looks is a look. Numbers
 * run through the whole schedule, over all processes, so that the same prefix gives the same numbers.
 */
import type { UnstructuredObject } from '#api'
import type { WireRequest } from '#wire'
import type { RequestInfo } from './asked.ts'
import type { ErrorResponse } from './answers.ts'
import type { SimulatedProcess } from './life.ts'

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
