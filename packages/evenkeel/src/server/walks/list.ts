/**
 * The walk of GET on a collection.
 *
 * All pages of a list are read at one revision. In the common case, JSON without selectors, nothing is parsed: the
 * stored bytes are joined, and a large list goes out piece by piece so that other requests are not kept waiting.
 */
import { badRequest, parseRequestedVersion } from '#api'
import type { JsonObject, ListMeta, UnstructuredObject } from '#api'
import type { Entry } from '#store'
import type { WireResponse } from '#wire'
import { acceptsGzip, packedHeaders, packedSizeMin } from '../answers/compress.ts'
import type { Call, Rooms, Target } from '../call.ts'
import { formatContinue, parseContinue } from '../listing/continue.ts'
import { isCurrent, isStoredForm, prepare, toServed } from '../convert.ts'
import { joinedList, listText } from '../listing/list-bytes.ts'
import type { ListText } from '../listing/list-bytes.ts'
import { packedList } from '../listing/packing/packed-list.ts'
import { readListOptions } from '../options/list-options.ts'
import type { ListOptions } from '../options/list-options.ts'
import { guarded, refusal } from '../persist.ts'
import { chooseForm, encode, headersOf, includeObjectOf } from '../reply.ts'
import { select } from '../listing/selection.ts'
import type { Selection } from '../listing/selection.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import { makeTable, metadataListOnly } from '../tables/index.ts'
import type { MetaVersion } from '../tables/index.ts'
import type { MediaChoice } from '#wire'
import { servedType } from '../convert.ts'
import { requireReached } from './read.ts'

export async function list(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource, { answer: 'list' })
  const page = await readPage(target, readListOptions(call.query, { watch: false }), rooms)
  if (choice.format === 'json' && choice.shape === undefined && !choice.pretty && areCurrent(page, resource)) {
    return replyText(call, listText(page, resource), rooms)
  }
  const items = storedOf(page)
  const preparing = prepare(items, resource, { reuse: true })
  if (preparing) await preparing
  const document = shapeList(items.map((stored) => toServed(stored, resource)), page, { call, target, rooms, choice })
  return { status: 200, headers: headersOf(call, choice.format), body: encode(document, choice) }
}

/** Compressed right here when it is worth it: runs of objects are remembered in that form. */
async function replyText(call: Call, text: ListText, rooms: Rooms): Promise<WireResponse> {
  const { method, headers: { 'accept-encoding': encodings = '' } } = call.request
  const headers = headersOf(call, 'json')
  if (text.size < packedSizeMin || method === 'HEAD' || !acceptsGzip(encodings)) return { status: 200, headers, body: joinedList(text, rooms) }
  return { status: 200, headers: { ...headers, ...packedHeaders }, body: await packedList(text, rooms) }
}

function areCurrent({ entries }: Page, resource: Resource): boolean {
  return resource.reading === undefined ? isStoredForm(resource) : entries.every(({ value, revision }) => isCurrent({ bytes: value, writtenAt: revision }, resource))
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

/** Reads the objects that a list is about. */
export async function readPage(target: Target, options: ListOptions, rooms: Rooms): Promise<Page> {
  const selection = select(target, options, rooms)
  const start = startOf(options)
  // Upstream gives everything it has in its cache to who asks for any version.
  const limit = start.kind === 'any' ? 0 : options.limit
  const page = await collect({ target, rooms, selection, limit }, start)
  if (start.kind === 'notOlderThan') requireReached(options.resourceVersion, page.revision)
  return { entries: page.entries, metadata: metadataOf(page, selection) }
}

type Start =
  | { readonly kind: 'newest' | 'any' | 'notOlderThan', readonly after?: string }
  | { readonly kind: 'exact', readonly revision: number, readonly after?: string }

function startOf({ resourceVersion, match, limit, continueToken }: ListOptions): Start {
  const requested = parseRequestedVersion(resourceVersion)
  if (requested === undefined) throw badRequest(`invalid resource version ${JSON.stringify(resourceVersion)}: it must be a whole number`)
  if (continueToken !== '') {
    if (requested.kind === 'version') throw badRequest('specifying resource version is not allowed when using continue')
    const { revision, after } = parseContinue(continueToken)
    return revision < 0 ? { kind: 'newest', after } : { kind: 'exact', revision, after }
  }
  if (requested.kind !== 'version') return { kind: requested.kind }
  const exact = match === 'Exact' || (match === '' && limit > 0)
  return exact ? { kind: 'exact', revision: Number(resourceVersion) } : { kind: 'notOlderThan' }
}

interface Collection {
  readonly target: Target
  readonly rooms: Rooms
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

async function collect({ target, rooms, selection, limit }: Collection, start: Start): Promise<Collected> {
  const { prefix, matches } = selection
  const found: Entry[] = []
  let after = start.after === undefined ? undefined : prefix + start.after
  let revision = start.kind === 'exact' ? start.revision : undefined
  for (;;) {
    const wanted = limit === 0 ? undefined : matches ? Math.max(limit, scanMin) : limit
    const result = await guarded(target, 'list', () => rangeOf(selection, { rooms, revision, after, limit: wanted }))
    if (!result.ok) throw refusal(result, { requested: revision ?? 0, ...start.after !== undefined && { continueToken: formatContinue({ revision: -1, after: start.after }) } })
    const { entries, remaining } = result
    revision = result.revision
    // Without a selector the first range is the page.
    if (matches === undefined) return { revision, entries, remaining, ...remaining > 0 && { after: lastKey(entries, prefix) } }
    const items = entries.map((entry) => ({ entry, stored: new StoredObject(entry.value, entry.revision) }))
    const preparing = prepare(items.map(({ stored }) => stored), target.resource, { reuse: true })
    if (preparing) await preparing
    for (const [index, { entry, stored }] of items.entries()) {
      if (!matches(stored)) continue
      found.push(entry)
      const left = entries.length - index - 1 + remaining
      if (found.length === limit && left > 0) return { revision, entries: found, after: lastKey(found, prefix), remaining: left }
    }
    if (remaining === 0) return { revision, entries: found, remaining: 0 }
    after = entries.at(-1)?.key
  }
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
  const entries: readonly Entry[] = result.entry === undefined || (after !== undefined && key <= after) ? [] : [result.entry]
  return { ok: true as const, revision: result.revision, entries, remaining: 0 }
}

function metadataOf({ revision, after, remaining }: Collected, { matches }: Selection): ListMeta {
  if (after === undefined) return { resourceVersion: String(revision) }
  return {
    resourceVersion: String(revision),
    continue: formatContinue({ revision, after }),
    ...matches === undefined && { remainingItemCount: remaining },
  }
}

/** A list that has to be looked into: another version, another shape, another format. */
function shapeList(objects: readonly UnstructuredObject[], { metadata }: Page, { call, target: { resource }, rooms, choice }: { call: Call, target: Target, rooms: Rooms, choice: MediaChoice }): JsonObject {
  const version = choice.shape?.version as MetaVersion
  if (choice.shape?.kind === 'Table') {
    const table = makeTable({ columns: resource.columns, objects, listMeta: metadata, includeObject: includeObjectOf(call.query), nowMs: rooms.clock.now(), version })
    return table as unknown as JsonObject
  }
  if (choice.shape) return metadataListOnly(objects, { metadata, version }) as unknown as JsonObject
  const shown = resource.custom ? objects : objects.map(withoutType)
  return { kind: resource.listKind, apiVersion: servedType(resource).apiVersion, metadata: metadata as JsonObject, items: shown as unknown as JsonObject[] }
}

function withoutType({ apiVersion: _, kind: __, ...rest }: UnstructuredObject): JsonObject {
  return rest as unknown as JsonObject
}
