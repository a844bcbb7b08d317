/**
 * Layer 4: objects of a server in memory, kept up to date. Published as `evenkeel/unstable/cache`.
 */

export { ObjectCache, type CacheKey, type GetInformerOptions, type ObjectCacheOptions } from './cache.ts'
export type { InformerHandle } from './shared-informers.ts'

export type { IndexValues } from './indexes.ts'
export { pick, type CachedOf, type CacheKind } from './projection.ts'
export type { CacheQuery } from './store.ts'
export type { CacheEvent } from './event.ts'
export type { Subscription } from './listeners.ts'
