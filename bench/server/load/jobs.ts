/**
 * The jobs and results of the load generator. Everything here is sent between processes as JSON.
 */
import type { KindName } from '../objects.ts'

/** How to reach a server. */
export interface Address {
  readonly url: string
  readonly token: string
  /** The trusted CA in PEM; without it any certificate is accepted. */
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

/** The limits of a measurement: whichever comes first. */
export interface Bounds {
  readonly durationMs: number
  readonly countMax: number
  /**
   * The warm-up time.
   *
   * @default 0
   */
  readonly warmMs?: number
}

/** One request in flight on each connection, the next one right after the response. */
export interface RequestsJob {
  readonly type: 'requests'
  readonly place: Place
  readonly operation: Operation
  readonly connections: number
  /** The prefix of the names of its objects; no other job may use it. */
  readonly run: string
  readonly bounds: Bounds
}

/** The whole collection, repeatedly on one connection. */
export interface ListJob {
  readonly type: 'list'
  readonly place: Place
  /** The expected number of objects. */
  readonly items: number
  /** Whether the response may be compressed, as in Go clients. */
  readonly gzip: boolean
  readonly bounds: Bounds
}

/** Many watchers of one namespace while writers create objects in it. */
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
  /** Requests, or events delivered to all watchers in total. */
  readonly count: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of the server's processes per counted operation; NaN when unknown. */
  readonly serverCpuUs: number
  /** The load of the generator, 1 for one whole core: near 1, the generator was the bottleneck. */
  readonly generatorBusy: number
}

export interface Answer {
  readonly id: number
  readonly result?: LoadResult
  readonly error?: string
}
