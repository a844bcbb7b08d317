/**
 * What a cache needs of a server: pages of a collection, and its changes.
 *
 * The seam between this layer and the client: `connecting/` makes one of a client, tests make one of a few lines. Which
 * collection (kind, namespace, selectors) was settled when it was made. What a server refuses is thrown as `ApiError`,
 * also when the server says so in the middle of a watch.
 */
import type { AbortOptions } from '#base'
import type { KubeObject } from '#api'
import type { Item } from './storing/item.ts'
import type { Items } from './storing/items.ts'

export interface ListRequest {
  /** `'0'` whatever the server has at hand, `''` the newest, a version: that or later. Absent with `continue`. */
  readonly resourceVersion?: string
  /** Absent for everything at once. */
  readonly limit?: number
  readonly continue?: string
  /** One of ours: what asks for Node's own, as `fetch` does, gets it from `forOthers(signal)`. */
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
  /** One of ours: what asks for Node's own, as `fetch` does, gets it from `forOthers(signal)`. */
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
