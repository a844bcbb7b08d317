/**
 * A client as what a cache needs of a server.
 */
import type { KubeObject } from '#api'
import type { Client, KindLike } from '#client'
import type { StreamEvent, ListPage, ListRequest, ListWatch, WatchRequest } from '../list-watch.ts'
import type { KindDecoder } from '../storing/form.ts'
import type { Item } from '../storing/item.ts'
import type { Items } from '../storing/items.ts'
import type { CacheScope } from '../storing/query.ts'
import { WatchDecoder } from './read-lines.ts'

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
  return {
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
