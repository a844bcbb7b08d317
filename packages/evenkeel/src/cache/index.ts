/**
 * Layer 4: objects of a server in memory, kept up to date. Published as `evenkeel/unstable/cache`.
 */
export { ObjectCache } from './object-cache.ts'
export type { CacheKey, CacheState, GetInformerOptions, ObjectCacheOptions } from './object-cache.ts'
export type { InformerHandle } from './sharing/holding.ts'
export { Informer } from './informer.ts'
export type { DeletedObject, InformerOptions, WriteFacts } from './informer.ts'
export type {
  StreamEvent,
  BookmarkEvent,
  ChangeEvent,
  ListPage,
  ListRequest,
  ListWatch,
  WatchRequest,
} from './list-watch.ts'
export { clientListWatch } from './connecting/client-list-watch.ts'
export type { ClientListWatchOptions } from './connecting/client-list-watch.ts'
export type { ReflectorCounts, ReflectorPhase, ReflectorState } from './reflecting/state.ts'
export { kindDecoder } from './storing/form.ts'
export type { KindDecoderOptions, KindDecoder } from './storing/form.ts'
export { Item } from './storing/item.ts'
export type { ItemDecoder, ItemText } from './storing/item.ts'
export type { IndexValues } from './storing/indexes.ts'
export { pick } from './storing/pick.ts'
export type { CachedOf, CacheKind, PathOf, Picked, PickedKind } from './storing/pick.ts'
export type { CacheQuery, CacheScope } from './storing/query.ts'
export { TransformError } from './storing/transform.ts'
export type { CacheEvent, CacheEventType } from './telling/event.ts'
export type { Handler } from './telling/listener.ts'
export type { HandlerOptions, Subscription } from './telling/subscription.ts'
