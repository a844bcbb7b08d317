/**
 * What a cache needs of a server: pages of a collection, and its changes.
 *
 * The seam between this layer and the client: `connecting/` makes one of a client, tests make one of a few lines. Which
 * collection (kind, namespace, selectors) was settled when it was made. What a server refuses is thrown as `ApiError`,
 * also when the server says so in the middle of a watch.
 */
import { isExpired, type KubeObject } from '#api'
import { acceptLightSignals, signalFor, type AbortOptions } from '#base'
import type { Client, KindLike } from '#client'
import { Items, type Item } from './items.ts'
import type { CacheScope } from './store.ts'
import type { KindDecoder } from './transform.ts'
import { WatchDecoder } from './watch-decoder.ts'

export interface ListRequest {
  /** `'0'` whatever the server has at hand, `''` the newest, a version: that or later. Absent with `continue`. */
  readonly resourceVersion?: string
  /** Absent for everything at once. */
  readonly limit?: number
  readonly continue?: string
  readonly signal: AbortSignal
}

export interface ListPage<T extends KubeObject> {
  readonly items: readonly Item<T>[]
  readonly resourceVersion: string
  /** Empty on the last page. */
  readonly continue: string
}

export interface WatchRequest<T extends KubeObject = KubeObject> {
  readonly resourceVersion: string
  /** All objects that are there first, and a bookmark that says when they are through. */
  readonly sendInitialEvents?: boolean
  /** Where the objects that are there may be put, instead of telling of each; changes until the bookmark are made there too. */
  readonly gather?: Items<T> | undefined
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

/** What a watch tells. */
export type StreamEvent<T extends KubeObject> = ChangeEvent<T> | BookmarkEvent

export interface ChangeEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly item: Item<T>
}

export interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  readonly version: string
  readonly initialEventsEnd: boolean
}

export interface ListWatch<T extends KubeObject> {
  list(request: ListRequest): Promise<ListPage<T>>
  /** First an empty batch, when the server has agreed; then what arrived together comes together, in order. Ends when the server ends the watch, throws when it breaks, and with the signal's reason as soon as that aborts. */
  watch(request: WatchRequest<T>): AsyncIterable<readonly StreamEvent<T>[]>
  /** One object as it is now; for objects that we wrote and the watch does not tell of. */
  find?(key: { readonly namespace: string; readonly name: string }, options: AbortOptions): Promise<Item<T> | undefined>
}

/*
 * A client as what a cache needs of a server.
 */

export interface ClientListWatchOptions<T extends KubeObject> {
  readonly client: Client
  readonly kind: KindLike
  readonly scope: CacheScope
  readonly decoder: KindDecoder<T>
}

export function clientListWatch<T extends KubeObject>({
  client,
  kind,
  scope,
  decoder: form,
}: ClientListWatchOptions<T>): ListWatch<T> {
  const selection = selectionOf(scope)
  return acceptLightSignals<ListWatch<T>>({
    list: async ({ resourceVersion, limit = 0, continue: token, signal }: ListRequest): Promise<ListPage<T>> => {
      const { items, metadata } = await client.page(kind, {
        ...selection,
        signal,
        pageSize: limit,
        ...(token && { continue: token }),
        ...(resourceVersion && { resourceVersion }),
      })
      return {
        items: items.map((object) => form.itemOf(object)),
        resourceVersion: metadata.resourceVersion ?? '',
        continue: metadata.continue ?? '',
      }
    },
    watch: ({ resourceVersion, sendInitialEvents, timeoutSeconds, gather, signal }: WatchRequest<T>) => {
      const position = {
        ...(resourceVersion !== '' && { resourceVersion }),
        ...(sendInitialEvents && { sendInitialEvents }),
      }
      return batches(
        client.watch(kind, {
          ...selection,
          ...position,
          timeoutSeconds,
          signal,
          mayOmitManagedFields: !form.keepManagedFields,
        }),
        { decoder: form, gather },
      )
    },
    find: async ({ namespace, name }, { signal }): Promise<Item<T> | undefined> => {
      const object = await client.find(kind, { name, ...(namespace !== '' && { namespace }) }, { signal })
      return object && form.itemOf(object)
    },
  })
}

/** The same list-watch; one of user code gets the platform's own signals. */
export function withSignals<T extends KubeObject>(source: ListWatch<T>): ListWatch<T> {
  const find = source.find?.bind(source)
  return {
    list: (request) => source.list({ ...request, signal: signalFor(source, request.signal) }),
    watch: (request) => source.watch({ ...request, signal: signalFor(source, request.signal) }),
    ...(find && { find: (key, { signal }) => find(key, { signal: signal && signalFor(source, signal) }) }),
  }
}

/** Only what is said: an absent selector selects everything, an undefined one is a mistake. */
function selectionOf({
  namespace,
  labelSelector,
  fieldSelector,
}: CacheScope): Pick<Parameters<Client['page']>[1] & object, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
}

async function* batches<T extends KubeObject>(
  stream: ReturnType<Client['watch']>,
  options: { decoder: KindDecoder<T>; gather: Items<T> | undefined },
): AsyncGenerator<readonly StreamEvent<T>[]> {
  const reader = new WatchDecoder(options)
  try {
    await stream.open()
    yield []
    for (let runs = await stream.nextLines(); runs; runs = await stream.nextLines())
      yield runs.flatMap((lines) => reader.read(lines))
  } finally {
    await stream.return()
  }
}

/*
 * A whole collection by list, page by page, of one moment.
 *
 * A token that expires on the way costs one more request: everything at once. The version is that of the first page;
 * later pages carry the token alone, which says the version.
 */

interface ListAllOptions<T extends KubeObject> {
  readonly resourceVersion: string
  /** 0 for everything at once. */
  readonly pageSize: number
  readonly shape: (item: Item<T>) => Item<T>
  readonly signal: AbortSignal
}

interface ListResult<T extends KubeObject> {
  readonly items: Items<T>
  readonly version: string
  /** Whether the server gave pages. */
  readonly paged: boolean
}

export async function listAll<T extends KubeObject>(
  source: ListWatch<T>,
  options: ListAllOptions<T>,
): Promise<ListResult<T>> {
  const { resourceVersion, pageSize, signal } = options
  const first = await source.list({ resourceVersion, signal, ...(pageSize > 0 && { limit: pageSize }) })
  const items = new Items<T>()
  putAll(items, first, options)
  try {
    for (let token = first.continue; token !== '';) {
      const page = await source.list({ continue: token, signal, ...(pageSize > 0 && { limit: pageSize }) })
      putAll(items, page, options)
      token = page.continue
    }
  } catch (error) {
    if (!isExpired(error) || first.continue === '') throw error
    const whole = await source.list({ resourceVersion, signal })
    const all = new Items<T>()
    putAll(all, whole, options)
    return { items: all, version: whole.resourceVersion, paged: true }
  }
  return { items, version: first.resourceVersion, paged: first.continue !== '' }
}

function putAll<T extends KubeObject>(items: Items<T>, page: ListPage<T>, { shape }: ListAllOptions<T>): void {
  for (const item of page.items) items.put(shape(item))
}
