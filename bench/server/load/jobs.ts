/**
 * What the load generator can be asked to do, and what it answers. Everything here travels between processes as JSON.
 */
import type { KindName } from '../objects.ts'

/** How to reach a server. */
export interface Address {
  readonly url: string
  readonly token: string
  /** Whom to trust, in PEM; without it any certificate will do. */
  readonly caPem?: string
}

/** A kind of object in a namespace of a server, and the processes whose CPU time counts. */
export interface Place {
  readonly address: Address
  readonly kind: KindName
  readonly namespace: string
  readonly processIds: readonly number[]
}

export type Operation = 'create' | 'get' | 'update' | 'merge patch' | 'strategic patch' | 'ssa'

/** How long a measurement may take: whichever comes first. */
export interface Bounds {
  readonly durationMs: number
  readonly countMax: number
  /**
   * Time before anything is measured.
   *
   * @default 0
   */
  readonly warmMs?: number
}

/** One request in flight on each connection, the next one as soon as it is answered. */
export interface RequestsJob {
  readonly type: 'requests'
  readonly place: Place
  readonly operation: Operation
  readonly connections: number
  /** The prefix of the names of its objects; no other job may use it. */
  readonly run: string
  readonly bounds: Bounds
}

/** The whole collection, again and again on one connection. */
export interface ListJob {
  readonly type: 'list'
  readonly place: Place
  /** How many objects must be in it. */
  readonly items: number
  /** Whether the answer may be compressed, as clients written in Go always say. */
  readonly gzip: boolean
  readonly bounds: Bounds
}

/** Many watch one namespace while some create objects in it. */
export interface WatchJob {
  readonly type: 'watch'
  readonly place: Place
  readonly watchers: number
  readonly writers: number
  /** Writers wait while watchers are further behind than this many events, on average. */
  readonly lagMax: number
  readonly run: string
  readonly bounds: Bounds
}

export type Job = RequestsJob | ListJob | WatchJob

export interface LoadResult {
  /** Requests, or events delivered to all watchers together. */
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of the server's processes for each counted thing; NaN when it cannot be known. */
  readonly serverCpuUs: number
  /** How busy the generator was, 1 for one whole core: near 1, it is the generator that was measured. */
  readonly generatorBusy: number
}

export interface Answer {
  readonly id: number
  readonly result?: LoadResult
  readonly error?: string
}
