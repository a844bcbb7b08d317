/**
 * One thing a process does to the world or asks of it, numbered: the points at which a schedule may deviate.
 *
 * Writes to the server and calls that change something outside are effects; what only looks is a look. Numbers
 * run through the whole schedule, over all processes, so that the same prefix gives the same numbers.
 */
import type { UnstructuredObject } from '#api'
import type { WireRequest } from '#wire'
import type { Asked } from './asked.ts'
import type { Refusal } from './answers.ts'
import type { Life } from './life.ts'

export interface Point {
  readonly type: 'effect' | 'look'
  readonly index: number
  readonly life: Life
  /** `create configmaps default/a`, `cloud.createBucket` */
  readonly about: string
  readonly step: number
  /** The step at which it was asked for. */
  readonly askedAt: number
  /** How many steps of the user had been taken. */
  readonly phase: number
  /** Objects that the process had seen to be deleted when it asked for this. */
  readonly knew?: readonly UnstructuredObject[] | undefined
  /** For requests to the server. */
  readonly asked?: Asked | undefined
  readonly request?: WireRequest | undefined
  /** For calls to the outside. */
  readonly call?: OutsideCall | undefined
  /** How it was answered: the status, `lost`, `reset`, or what an outside call came to. */
  outcome: string
  /** The revision of the store before and after, for writes. */
  revisions?: readonly [before: number, after: number]
}

interface OutsideCall {
  readonly service: string
  readonly method: string
  readonly parameters: readonly unknown[]
}

/** What becomes of something before it is carried out. */
export type Fate =
  | { readonly type: 'go' }
  /** Not carried out; answered with this. */
  | ({ readonly type: 'refuse' } & Refusal)
  /** Not carried out; the connection breaks. */
  | { readonly type: 'reset' }
  /** Carried out on what was there before: only looks at services. */
  | { readonly type: 'past' }
  /** Nobody waits for an answer any more. */
  | { readonly type: 'dead' }

/** What becomes of the answer. */
export type Aftermath = 'answer' | 'lose' | 'dead'

/** Who decides about points: the world, with the deviations of this schedule. */
export interface Intervening {
  before(point: Point): Promise<Fate> | Fate
  after(point: Point): Promise<Aftermath> | Aftermath
}
