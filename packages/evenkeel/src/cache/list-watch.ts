/**
 * What a cache needs of a server: pages of a collection, and its changes. The seam between this layer and the client.
 *
 * `clientListWatch` makes one from a client, tests make one from a few lines. The collection (kind, namespace, selectors)
 * is fixed when it is made. A refusal of the server is thrown as `ApiError`, also in the middle of a watch.
 *
 * `listAll` lists a whole collection page by page, at one version. If the continue token expires on the way, one more
 * request asks for everything at once. The version is that of the first page: the token of a later page implies it.
 */
import { isExpired, type KubeObject } from '#api'
import { acceptLightSignals, signalFor, type AbortOptions } from '#base'
import type { Client, KindLike } from '#client'
import { Items, type Item } from './items.ts'
import type { CacheScope } from './store.ts'
import type { KindDecoder } from './transform.ts'
import { WatchDecoder } from './watch-decoder.ts'

export interface ListRequest {
  /** `'0'`: any version the server has at hand; `''`: the newest; a version: that or later. Absent with `continue`. */
  readonly resourceVersion?: string
  /** Absent: everything at once. */
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
  /** Send all present objects first, then a bookmark that marks their end. */
  readonly sendInitialEvents?: boolean
  /** Where present objects may be put instead of an event for each; changes until the bookmark are applied there too. */
  readonly gather?: Items<T> | undefined
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

/** An event of a watch. */
export type StreamEvent<T extends KubeObject> = ChangeEvent<T> | BookmarkEvent

export interface ChangeEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly item: Item<T>
}

interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  readonly version: string
  readonly initialEventsEnd: boolean
}

export interface ListWatch<T extends KubeObject> {
  list(request: ListRequest): Promise<ListPage<T>>
  /**
   * First an empty batch, when the server has accepted; then events that arrived together come together, in order. Ends
   * when the server ends the watch, throws when it breaks, and throws the signal's reason as soon as that aborts.
   */
  watch(request: WatchRequest<T>): AsyncIterable<readonly StreamEvent<T>[]>
  /** The current state of one object; for our writes that the watch does not deliver. */
  find?(key: { readonly namespace: string; readonly name: string }, options: AbortOptions): Promise<Item<T> | undefined>
}

interface ClientListWatchOptions<T extends KubeObject> {
  readonly client: Client
  readonly kind: KindLike
  readonly scope: CacheScope
  readonly decoder: KindDecoder<T>
}

export function clientListWatch<T extends KubeObject>({
  client,
  kind,
  scope,
  decoder,
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
        items: items.map((object) => decoder.itemOf(object)),
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
          mayOmitManagedFields: !decoder.keepManagedFields,
        }),
        { decoder, gather },
      )
    },
    find: async ({ namespace, name }, { signal }): Promise<Item<T> | undefined> => {
      const object = await client.find(kind, { name, ...(namespace !== '' && { namespace }) }, { signal })
      return object && decoder.itemOf(object)
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

/** Only fields that are set: an absent selector selects everything, an undefined one is an error. */
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

interface ListAllOptions<T extends KubeObject> {
  readonly resourceVersion: string
  /** 0: everything at once. */
  readonly pageSize: number
  readonly shape: (item: Item<T>) => Item<T>
  readonly signal: AbortSignal
}

interface ListResult<T extends KubeObject> {
  readonly items: Items<T>
  readonly version: string
  /** Whether the server returned pages. */
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
