/**
 * What is known of a request on its way through the rooms, and what the rooms are furnished with.
 *
 * A call only ever grows: each room adds a value and hands a richer one to the next. Nobody changes what an earlier
 * room said; warnings are the one thing any room may add to.
 */
import { nativeSignal, randomUuid, type Clock, type Logger, type Random } from '#base'
import type { Resource, Subresource } from '#builtins'
import type { Store } from '#store'
import type { Query, ResourcePath, WireHeaders, WirePeer, WireRequest } from '#wire'
import type { AdmissionChain } from './admission/admission.ts'
import type { Authentication } from './auth/authentication.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import type { FlowControl } from './flowcontrol/flow-control.ts'
import type { ActionHandlers } from './handlers/actions.ts'
import type { Informers } from './informers.ts'
import type { CompressedRunCache } from './list/compressed-list.ts'
import type { Registry } from './registry/registry.ts'
import type { LeaseManager } from './storage/storage.ts'

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

/*
 * `Warning` headers of one response: said once each, bounded in total as kube-apiserver bounds them.
 */

/** All texts together may take this many characters before each is cut short. */
const totalMax = 4096
const shortenedMax = 256

export class Warnings {
  #texts: string[] | undefined

  add(text: string): void {
    this.#texts ??= []
    if (!this.#texts.includes(text)) this.#texts.push(text)
  }

  /** The value of the header, several warnings joined; undefined when there is nothing to say. */
  header(): string | undefined {
    if (this.#texts === undefined) return undefined
    const total = this.#texts.reduce((sum, text) => sum + text.length, 0)
    const texts = total <= totalMax ? this.#texts : shortened(this.#texts)
    return texts.map((text) => `299 - "${escapeText(text)}"`).join(', ')
  }
}

// Every text cut to its share of what a header may hold; what does not fit even then is left out.
function shortened(texts: readonly string[]): string[] {
  const kept: string[] = []
  let total = 0
  for (const text of texts) {
    const cut = [...text].slice(0, shortenedMax).join('')
    if (total + cut.length > totalMax) break
    total += cut.length
    kept.push(cut)
  }
  return kept
}

// A quoted string of HTTP: control characters become spaces, quotes and backslashes are escaped, the rest is written
// as UTF-8 bytes, each in one character, because header values are bytes.
function escapeText(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}]/gu, ' ').replaceAll(/["\\]/g, (character) => `\\${character}`)
  return /^[\x20-\x7e]*$/.test(plain) ? plain : Buffer.from(plain, 'utf8').toString('latin1')
}

/*
 * A request of which something was replaced, or that is shown to the code of others. Its signal is that of the first one as Node has
 * them, made when somebody asks for it.
 *
 * A class, because an object with a getter of its own has a shape of its own: one for every request, kept until the collector of
 * garbage goes through everything.
 */

export class ChangedRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly peer?: WirePeer
  readonly #given: WireRequest

  constructor(
    given: WireRequest,
    { headers = given.headers, body = given.body }: Partial<Pick<WireRequest, 'headers' | 'body'>> = {},
  ) {
    this.method = given.method
    this.target = given.target
    this.headers = headers
    if (body !== undefined) this.body = body
    if (given.peer !== undefined) this.peer = given.peer
    this.#given = given
  }

  get signal(): AbortSignal {
    return nativeSignal(this.#given.signal)
  }
}

/*
 * The number of a request, by which it is found again in the audit log and in the logs of others.
 */

const givenId = /^[\w.-]{1,64}$/

/** Clients may number their requests themselves. */
export function auditIdOf({ headers }: WireRequest, random: Random): string {
  const given = headers['audit-id']
  return given !== undefined && givenId.test(given) ? given : randomUuid(random)
}
