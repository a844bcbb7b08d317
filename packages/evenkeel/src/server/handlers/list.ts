/**
 * GET of a collection.
 *
 * All pages of a list are read at one revision. In the common case, JSON without selectors, nothing is parsed: the
 * stored bytes are joined, and a large list is sent piece by piece so that other requests do not wait. Objects that have
 * to be parsed are parsed in slices, for the same reason.
 */
import { badRequest, isJsonObject, parseRequestedVersion, type JsonValue, type ListMeta } from '#api'
import type { Clock } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Entry } from '#store'
import type { MediaChoice, WireResponse } from '#wire'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import type { ListSlices } from '../flowcontrol/work-scheduler.ts'
import { compressedList, type CompressedRunCache } from '../list/compressed-list.ts'
import { joinedList, listText, transformedList, type ListText } from '../list/list-response.ts'
import { selectionFor, type ListSelection } from '../list/selection.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { acceptsGzip, gzipHeaders, gzipSizeMin, headersOf, negotiateResponse } from '../response.ts'
import { isCurrent, isStorageVersion, prepareConversions } from '../storage/codec.ts'
import { revisionError, withStorageErrors, type Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { requireRevision } from './get.ts'
import { readListOptions, type ListOptions } from './list-options.ts'

interface ListServices {
  readonly storage: Storage
  readonly flowControl: FlowControl
  readonly compressedRuns: CompressedRunCache
  readonly clock: Clock
}

export class ListHandler {
  readonly #storage: Storage
  readonly #flowControl: FlowControl
  readonly #compressedRuns: CompressedRunCache
  readonly #clock: Clock

  constructor({ storage, flowControl, compressedRuns, clock }: ListServices) {
    this.#storage = storage
    this.#flowControl = flowControl
    this.#compressedRuns = compressedRuns
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const choice = negotiateResponse(context, target.resource, { answer: 'list' })
    const slices = this.slicesFor(context)
    const page = await this.readPage(target, readListOptions(context.query, { watch: false }), slices)
    return this.reply(context, page, { target, choice, slices })
  }

  /** Replies with the objects of a page. */
  async reply(
    context: RequestContext,
    page: ListPage,
    { target, choice, slices }: { target: ResourceRef; choice: MediaChoice; slices: ListSlices },
  ): Promise<WireResponse> {
    const { resource } = target
    if (choice.format === 'json' && choice.shape === undefined && !choice.pretty && areCurrent(page, resource))
      return this.#replyText(context, listText(page, resource))
    const { entries, metadata } = page
    const body = await transformedList(entries, { context, target, clock: this.#clock, choice, slices, metadata })
    return { status: 200, headers: headersOf(context, choice.format), body }
  }

  /** The slices in which the objects of a list are parsed, with turns for other requests in between. */
  slicesFor(context: RequestContext): ListSlices {
    return this.#flowControl.sliceList(context)
  }

  /** Reads the objects of one page. */
  async readPage(target: ResourceRef, options: ListOptions, slices: ListSlices): Promise<ListPage> {
    const selection = selectionFor(target, options, this.#storage)
    const start = startOf(options)
    // As upstream, a request for any version gets the whole list.
    const limit = start.kind === 'any' ? 0 : options.limit
    const page = await this.#collect({ target, slices, selection, limit }, start)
    if (start.kind === 'notOlderThan') requireRevision(options.resourceVersion, page.revision)
    return { entries: page.entries, metadata: metadataOf(page, selection) }
  }

  /** Large lists are compressed from runs of objects that are remembered in compressed form. */
  async #replyText(context: RequestContext, text: ListText): Promise<WireResponse> {
    const {
      method,
      headers: { 'accept-encoding': encodings = '' },
      borrowsChunks: isLent,
    } = context.request
    const headers = headersOf(context, 'json')
    if (text.size < gzipSizeMin || method === 'HEAD' || !acceptsGzip(encodings))
      return { status: 200, headers, body: joinedList(text, this.#clock, { isLent }) }
    const body = await compressedList(text, this.#compressedRuns, this.#clock)
    return { status: 200, headers: { ...headers, ...gzipHeaders }, body }
  }

  async #collect(collection: ListQuery, start: ListStart): Promise<ListResult> {
    const {
      target,
      limit,
      selection,
      selection: { prefix, matches },
    } = collection
    const found: Entry[] = []
    let after = start.after === undefined ? undefined : prefix + start.after
    let revision = start.kind === 'exact' ? start.revision : undefined
    for (;;) {
      const wanted = limit === 0 ? undefined : matches ? Math.max(limit, scanMin) : limit
      const result = await withStorageErrors(target, 'list', () =>
        this.#range(selection, { revision, after, limit: wanted }),
      )
      if (!result.ok)
        throw revisionError(result, {
          requested: revision ?? 0,
          ...(start.after !== undefined && { continueToken: formatContinue({ revision: -1, after: start.after }) }),
        })
      const { entries, remaining } = result
      revision = result.revision
      // Without a selector the first range is the page.
      if (matches === undefined)
        return { revision, entries, remaining, ...(remaining > 0 && { after: lastKey(entries, prefix) }) }
      const left = entries.length - (await pick(entries, { ...collection, found })) + remaining
      if (left === 0) return { revision, entries: found, remaining: 0 }
      if (found.length === limit) return { revision, entries: found, after: lastKey(found, prefix), remaining: left }
      after = entries.at(-1)?.key
    }
  }

  async #range({ prefix, key }: ListSelection, { revision, after, limit }: RangeOptions) {
    const { store } = this.#storage
    if (key === undefined) return store.range(prefix, { revision, after, limit })
    const result = await store.get(key, { revision })
    if (!result.ok) return result
    const entries: readonly Entry[] =
      result.entry === undefined || (after !== undefined && key <= after) ? [] : [result.entry]
    return { ok: true as const, revision: result.revision, entries, remaining: 0 }
  }
}

function areCurrent({ entries }: ListPage, resource: Resource): boolean {
  return resource.reading === undefined
    ? isStorageVersion(resource)
    : entries.every(({ value, revision }) => isCurrent({ bytes: value, writtenAt: revision }, resource))
}

/** A page of a collection: the stored objects and the metadata of the list. */
interface ListPage {
  readonly entries: readonly Entry[]
  readonly metadata: ListMeta
}

type ListStart =
  | { readonly kind: 'newest' | 'any' | 'notOlderThan'; readonly after?: string }
  | { readonly kind: 'exact'; readonly revision: number; readonly after?: string }

function startOf({ resourceVersion, resourceVersionMatch: match, limit, continueToken }: ListOptions): ListStart {
  const requested = parseRequestedVersion(resourceVersion)
  if (requested === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(resourceVersion)}: it must be a whole number`)
  if (continueToken !== '') {
    if (requested.kind === 'version') throw badRequest('specifying resource version is not allowed when using continue')
    const { revision, after } = parseContinue(continueToken)
    return revision < 0 ? { kind: 'newest', after } : { kind: 'exact', revision, after }
  }
  if (requested.kind !== 'version') return { kind: requested.kind }
  const exact = match === 'Exact' || (match === '' && limit > 0)
  return exact
    ? { kind: 'exact', revision: Math.min(Number(resourceVersion), Number.MAX_SAFE_INTEGER) }
    : { kind: 'notOlderThan' }
}

interface ListQuery {
  readonly target: ResourceRef
  readonly slices: ListSlices
  readonly selection: ListSelection
  readonly limit: number
}

interface ListResult {
  readonly revision: number
  readonly entries: readonly Entry[]
  /** The key of the last item, when more follow; relative to the prefix. */
  readonly after?: string
  readonly remaining: number
}

/** How many entries are read at a time when a selector may reject most of them. */
const scanMin = 500

interface RangeOptions {
  readonly revision: number | undefined
  readonly after: string | undefined
  readonly limit: number | undefined
}

/** Adds matching objects up to the limit, and returns how many it examined. Parsed objects are not kept. */
async function pick(
  entries: readonly Entry[],
  { target, slices, selection: { matches }, limit, found }: ListQuery & { readonly found: Entry[] },
): Promise<number> {
  for (let start = 0; start < entries.length; start += scanMin) {
    const items = entries
      .slice(start, start + scanMin)
      .map((entry) => ({ entry, stored: new StoredObject(entry.value, entry.revision) }))
    const preparing = prepareConversions(
      items.map(({ stored }) => stored),
      target.resource,
      { reuse: true },
    )
    if (preparing) await preparing
    for (const [index, { entry, stored }] of items.entries()) {
      const pausing = slices.add(entry.value.byteLength)
      if (pausing) await pausing
      if (matches?.(stored) !== true) continue
      found.push(entry)
      if (found.length === limit) return start + index + 1
    }
  }
  return entries.length
}

function lastKey(entries: readonly Entry[], prefix: string): string {
  return entries.at(-1)?.key.slice(prefix.length) ?? ''
}

function metadataOf({ revision, after, remaining }: ListResult, { matches }: ListSelection): ListMeta {
  if (after === undefined) return { resourceVersion: String(revision) }
  return {
    resourceVersion: String(revision),
    continue: formatContinue({ revision, after }),
    ...(matches === undefined && { remainingItemCount: remaining }),
  }
}

/**
 * The continue token between two pages: the revision that all pages are read at and the key that the last page ended
 * with. Clients treat it as opaque. It is not trusted: the key must be below the prefix of the list.
 */
interface Continuation {
  /** The revision of the first page; -1 to continue with the current state. */
  readonly revision: number
  /** The last key of the page before, without the prefix of the list. */
  readonly after: string
}

const tokenVersion = 'evenkeel.dev/v1'

export function formatContinue({ revision, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: revision, start: after })).toString('base64url')
}

/**
 * Reads a token.
 *
 * @throws {ApiError} `BadRequest`
 */
export function parseContinue(token: string): Continuation {
  const value = decodeToken(token)
  if (!isJsonObject(value) || value['v'] !== tokenVersion) throw invalidToken()
  const { rv, start } = value
  if (!Number.isSafeInteger(rv) || (rv as number) < -1 || rv === 0) throw invalidToken()
  if (typeof start !== 'string' || start === '' || !/^[!-~]+$/.test(start)) throw invalidToken()
  return { revision: rv as number, after: start }
}

function decodeToken(token: string): JsonValue | undefined {
  if (!/^[\w-]+=*$/.test(token)) return undefined
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as JsonValue
  } catch {
    return undefined
  }
}

function invalidToken(): Error {
  return badRequest('invalid continue token: continue key is not valid: start the list again without it')
}
