/**
 * Layer 4: objects of a server in memory, kept up to date. Published as `evenkeel/unstable/cache`.
 */

export {
  ObjectCache,
  type CacheKey,
  type CacheState,
  type GetInformerOptions,
  type ObjectCacheOptions,
} from './cache.ts'
export type { InformerHandle } from './shared-informers.ts'
export { Informer, type DeletedObject, type InformerOptions, type WriteFacts } from './informer.ts'
export {
  clientListWatch,
  type StreamEvent,
  type BookmarkEvent,
  type ChangeEvent,
  type ListPage,
  type ListRequest,
  type ListWatch,
  type WatchRequest,
  type ClientListWatchOptions,
} from './list-watch.ts'
export type { ReflectorCounts, ReflectorPhase, ReflectorState } from './reflector.ts'
export { kindDecoder, TransformError, type KindDecoderOptions, type KindDecoder } from './transform.ts'
export { Item, type ItemDecoder, type ItemText } from './items.ts'
export type { IndexValues } from './indexes.ts'
export { pick, type CachedOf, type CacheKind, type PathOf, type Picked, type PickedKind } from './projection.ts'
export type { CacheQuery, CacheScope } from './store.ts'
export type { CacheEvent, CacheEventType } from './event.ts'
export type { Handler, HandlerOptions, Subscription } from './listeners.ts'
