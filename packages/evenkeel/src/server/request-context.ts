/**
 * The request as the stages of the server pass it on, and the parts of it that every stage may use.
 *
 * A request only grows: each stage adds a value and passes a richer one to the next. No stage changes what an earlier
 * one said, except that every stage may add warnings. This file imports no stage.
 */
import { nativeSignal, randomUuid, type Random } from '#base'
import type { Resource, Subresource } from '@evenkeel/builtins'
import type { MediaFormat, Query, ResourcePath, WireHeaders, WirePeer, WireRequest } from '#wire'

/** The user of a request. */
export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A request whose path and query are parsed. */
export interface RequestInfo {
  readonly request: WireRequest
  readonly path: string
  readonly query: Query
  /** Absent when the path is not about resources. */
  readonly resourcePath: ResourcePath | undefined
  /** The verb for authorization: `get`, `list`, `watch`, ..., or the method in lower case for other paths. */
  readonly verb: string
  /** The formats of this server, the preferred one first. */
  readonly formats: readonly MediaFormat[]
  readonly warnings: Warnings
  /** When the time that the client gave it is over, in milliseconds of the monotonic clock. */
  readonly dueMs?: number
  /** It reads a subresource that streams. */
  readonly isStream?: true
}

/** Whether a request lasts as long as its client wants: it takes no seat and has no deadline, and counts as a watch. */
export function isLongRunning({ verb, isStream }: Pick<RequestInfo, 'verb' | 'isStream'>): boolean {
  return verb === 'watch' || isStream === true
}

/** A request of an authenticated user. */
export interface RequestContext extends RequestInfo {
  readonly user: User
  /** The authenticated user, when `user` is impersonated. */
  readonly impersonator?: User
  /** Adds an annotation to the audit event, if there is an audit log. */
  annotate?(key: string, value: string): void
  /** A stored object with more bytes is not handled here: an update throws {@link LargeObject}. */
  readonly objectBytesMax?: number
}

/** The stored object is too large to be handled in this thread. */
export class LargeObject extends Error {}

/** Returns the user of a request, or undefined when it does not know the credentials. */
export type Authenticator = (info: RequestInfo) => User | undefined | Promise<User | undefined>

/** The resource, subresource and object of a request, found in the registry. */
export interface ResourceRef {
  readonly resource: Resource
  readonly subresource?: Subresource
  /** Empty for cluster-scoped resources, and for collections over all namespaces. */
  readonly namespace: string
  /** Empty for collections. */
  readonly name: string
}

/** All texts together may take this many characters before each is cut short. */
const totalMax = 4096
const shortenedMax = 256

/** `Warning` headers of one response: each text once, bounded in total as kube-apiserver bounds them. */
export class Warnings {
  #texts: string[] | undefined

  add(text: string): void {
    this.#texts ??= []
    if (!this.#texts.includes(text)) this.#texts.push(text)
  }

  /** The value of the header, several warnings joined; undefined without warnings. */
  header(): string | undefined {
    if (this.#texts === undefined) return undefined
    const total = this.#texts.reduce((sum, text) => sum + text.length, 0)
    const texts = total <= totalMax ? this.#texts : shortened(this.#texts)
    return texts.map((text) => `299 - "${escapeText(text)}"`).join(', ')
  }
}

// Every text is cut to its share of the header; texts that still do not fit are left out.
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

/**
 * A request with replaced headers or body, or one that is shown to code of the embedder. Its signal is Node's own, made on
 * first use.
 *
 * A class, because an object literal with a getter gets its own shape: one per request, kept until a full collection.
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

  get original(): WireRequest {
    return this.#given
  }

  pause(): Promise<void> | undefined {
    return pauseLarge(this.#given)
  }
}

/** Lets other requests go first, if the document of this one is large; undefined when it may go on at once. */
export function pauseLarge(request: PausingRequest | undefined): Promise<void> | undefined {
  return request?.pause?.()
}

/** The signal of the client alone: it aborts when the client leaves, and not at the deadline of the request. */
export function clientSignal(request: WireRequest & { readonly original?: WireRequest }): AbortSignal {
  return request.original ? clientSignal(request.original) : request.signal
}

interface PausingRequest extends WireRequest {
  pause?(): Promise<void> | undefined
}

const givenId = /^[\w.-]{1,64}$/

/** The id of a request in the audit log and in other logs; a client may choose it. */
export function auditIdOf({ headers }: WireRequest, random: Random): string {
  const given = headers['audit-id']
  return given !== undefined && givenId.test(given) ? given : randomUuid(random)
}
