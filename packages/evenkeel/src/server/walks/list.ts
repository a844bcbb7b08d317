/**
 * The walk of GET on a collection.
 *
 * All pages of a list are read at one revision. In the common case, JSON without selectors, nothing is parsed: the
 * stored bytes are joined, and a large list goes out piece by piece so that other requests are not kept waiting. What has
 * to be looked into is looked into in shares, for the same reason.
 */
import { badRequest, parseRequestedVersion } from '#api'
import type { ListMeta } from '#api'
import type { Entry } from '#store'
import type { WireResponse } from '#wire'
import { acceptsGzip, packedHeaders, packedSizeMin } from '../answers/compress.ts'
import type { Call, Rooms, Target } from '../call.ts'
import type { Share } from '../fairness/share.ts'
import { formatContinue, parseContinue } from '../listing/continue.ts'
import { isCurrent, isStoredForm, prepare } from '../convert.ts'
import { joinedList, listText } from '../listing/list-bytes.ts'
import type { ListText } from '../listing/list-bytes.ts'
import { shapedList } from '../listing/shaped-list.ts'
import { packedList } from '../listing/packing/packed-list.ts'
import { readListOptions } from '../options/list-options.ts'
import type { ListOptions } from '../options/list-options.ts'
import { guarded, refusal } from '../persist.ts'
import { chooseForm, headersOf } from '../reply.ts'
import { select } from '../listing/selection.ts'
import type { Selection } from '../listing/selection.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import { requireReached } from './read.ts'

export async function list(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource, { answer: 'list' })
  const share = rooms.traffic.share(call.request)
  const page = await readPage(target, readListOptions(call.query, { watch: false }), { rooms, share })
  if (choice.format === 'json' && choice.shape === undefined && !choice.pretty && areCurrent(page, resource)) {
    return replyText(call, listText(page, resource), rooms)
  }
  const body = await shapedList(page.entries, { call, target, rooms, choice, share, metadata: page.metadata })
  return { status: 200, headers: headersOf(call, choice.format), body }
}

/** Compressed right here when it is worth it: runs of objects are remembered in that form. */
async function replyText(call: Call, text: ListText, rooms: Rooms): Promise<WireResponse> {
  const {
    method,
    headers: { 'accept-encoding': encodings = '' },
  } = call.request
  const headers = headersOf(call, 'json')
  if (text.size < packedSizeMin || method === 'HEAD' || !acceptsGzip(encodings))
    return { status: 200, headers, body: joinedList(text, rooms) }
  return { status: 200, headers: { ...headers, ...packedHeaders }, body: await packedList(text, rooms) }
}

function areCurrent({ entries }: Page, resource: Resource): boolean {
  return resource.reading === undefined
    ? isStoredForm(resource)
    : entries.every(({ value, revision }) => isCurrent({ bytes: value, writtenAt: revision }, resource))
}

/** Some objects of a collection, as they lie in the store, and what the list says about itself. */
interface Page {
  readonly entries: readonly Entry[]
  readonly metadata: ListMeta
}

/** The objects of a page, for who has to look into them. */
export function storedOf({ entries }: Page): StoredObject[] {
  return entries.map(({ value, revision }) => new StoredObject(value, revision))
}

interface Reading {
  readonly rooms: Rooms
  /** Of whoever the work is for: what has to be looked into is done in pieces, and others come in between. */
  readonly share: Share
}

/** Reads the objects that a list is about. */
export async function readPage(target: Target, options: ListOptions, { rooms, share }: Reading): Promise<Page> {
  const selection = select(target, options, rooms)
  const start = startOf(options)
  // Upstream gives everything it has in its cache to who asks for any version.
  const limit = start.kind === 'any' ? 0 : options.limit
  const page = await collect({ target, rooms, share, selection, limit }, start)
  if (start.kind === 'notOlderThan') requireReached(options.resourceVersion, page.revision)
  return { entries: page.entries, metadata: metadataOf(page, selection) }
}

type Start =
  | { readonly kind: 'newest' | 'any' | 'notOlderThan'; readonly after?: string }
  | { readonly kind: 'exact'; readonly revision: number; readonly after?: string }

function startOf({ resourceVersion, match, limit, continueToken }: ListOptions): Start {
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
  return exact ? { kind: 'exact', revision: Number(resourceVersion) } : { kind: 'notOlderThan' }
}

interface Collection extends Reading {
  readonly target: Target
  readonly selection: Selection
  readonly limit: number
}

interface Collected {
  readonly revision: number
  readonly entries: readonly Entry[]
  /** The key of the last item, when more follow; relative to the prefix. */
  readonly after?: string
  readonly remaining: number
}

/** How many entries are looked at in one go when a selector may refuse most of them. */
const scanMin = 500

async function collect(collection: Collection, start: Start): Promise<Collected> {
  const {
    target,
    rooms,
    limit,
    selection,
    selection: { prefix, matches },
  } = collection
  const found: Entry[] = []
  let after = start.after === undefined ? undefined : prefix + start.after
  let revision = start.kind === 'exact' ? start.revision : undefined
  for (;;) {
    const wanted = limit === 0 ? undefined : matches ? Math.max(limit, scanMin) : limit
    const result = await guarded(target, 'list', () => rangeOf(selection, { rooms, revision, after, limit: wanted }))
    if (!result.ok)
      throw refusal(result, {
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

/** Adds those that are meant, up to the limit, and tells how many it looked at. What was parsed for it is not kept. */
async function pick(
  entries: readonly Entry[],
  { target, share, selection: { matches }, limit, found }: Collection & { readonly found: Entry[] },
): Promise<number> {
  for (let start = 0; start < entries.length; start += scanMin) {
    const items = entries
      .slice(start, start + scanMin)
      .map((entry) => ({ entry, stored: new StoredObject(entry.value, entry.revision) }))
    const preparing = prepare(
      items.map(({ stored }) => stored),
      target.resource,
      { reuse: true },
    )
    if (preparing) await preparing
    for (const [index, { entry, stored }] of items.entries()) {
      const pausing = share.add(entry.value.byteLength)
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

interface RangeWish {
  readonly rooms: Rooms
  readonly revision: number | undefined
  readonly after: string | undefined
  readonly limit: number | undefined
}

async function rangeOf({ prefix, key }: Selection, { rooms: { store }, revision, after, limit }: RangeWish) {
  if (key === undefined) return store.range(prefix, { revision, after, limit })
  const result = await store.get(key, { revision })
  if (!result.ok) return result
  const entries: readonly Entry[] =
    result.entry === undefined || (after !== undefined && key <= after) ? [] : [result.entry]
  return { ok: true as const, revision: result.revision, entries, remaining: 0 }
}

function metadataOf({ revision, after, remaining }: Collected, { matches }: Selection): ListMeta {
  if (after === undefined) return { resourceVersion: String(revision) }
  return {
    resourceVersion: String(revision),
    continue: formatContinue({ revision, after }),
    ...(matches === undefined && { remainingItemCount: remaining }),
  }
}
