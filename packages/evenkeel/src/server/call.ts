/**
 * What is known of a request on its way through the rooms, and what the rooms are furnished with.
 *
 * A call only ever grows: each room adds a value and hands a richer one to the next. Nobody changes what an earlier
 * room said; warnings are the one thing any room may add to.
 */
import type { Clock, Logger, Random } from '#base'
import type { Store } from '#store'
import type { Query, ResourcePath, WireRequest } from '#wire'
import type { AuthorizerChain } from './access/access.ts'
import type { AdmissionChain } from './admission/admission.ts'
import type { Authentication } from './authentication/authentication.ts'
import type { FlowControl } from './fairness/traffic.ts'
import type { CompressedRunCache } from './listing/packing/packed-runs.ts'
import type { Registry } from './resources/registry.ts'
import type { Resource, Subresource } from './resources/resource.ts'
import type { LeaseManager } from './storage/expiry.ts'
import type { ActionHandlers } from './subresources/answering.ts'
import type { Warnings } from './answers/warnings.ts'
import type { Informers } from './views/views.ts'

/** Who is calling. */
export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** After room 2: the path and query are read. */
export interface RequestInfo {
  readonly request: WireRequest
  readonly path: string
  readonly query: Query
  /** Absent when the path is not about resources. */
  readonly resourcePath: ResourcePath | undefined
  /** What the authorizer is asked: `get`, `list`, `watch`, ..., or the method in lower case for other paths. */
  readonly verb: string
  readonly warnings: Warnings
}

/** After room 3: we know who it is. */
export interface RequestContext extends RequestInfo {
  readonly user: User
  /** Who it really is, when the user is somebody it may speak for. */
  readonly impersonator?: User
  /** Takes notes for the audit log, if there is one. */
  annotate?(key: string, value: string): void
}

/** The resource a call is about, found in the registry. */
export interface ResourceRef {
  readonly resource: Resource
  readonly subresource?: Subresource
  /** Empty for cluster-scoped resources, and for collections over all namespaces. */
  readonly namespace: string
  /** Empty for collections. */
  readonly name: string
}

/** What all rooms share. */
export interface ServerContext {
  readonly store: Store
  readonly registry: Registry
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The cluster in every key. */
  readonly cluster: string
  readonly leases: LeaseManager
  /** Kinds that the server itself obeys, in memory. */
  readonly informers: Informers
  /** Who callers are. */
  readonly authentication: Authentication
  /** Who may do what. */
  readonly authorizer: AuthorizerChain
  /** What may change or refuse a write. */
  readonly admission: AdmissionChain
  /** Whose turn it is, and for how long. */
  readonly flowControl: FlowControl
  /** Who answers actions. */
  readonly actionHandlers: ActionHandlers
  /** Parts of lists, compressed. */
  readonly compressedRuns: CompressedRunCache
  /** Resolves once what definitions up to a revision define is served. */
  waitForCrds(revision: number): Promise<void>
  /** Aborts when the server stops: streams end cleanly then. */
  readonly stopping: AbortSignal
}
