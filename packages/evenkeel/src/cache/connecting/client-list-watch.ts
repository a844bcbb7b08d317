/**
 * A client as what a cache needs of a server.
 */
import type { KubeObject } from '#api'
import type { Client, KindLike } from '#client'
import type { Arrival, ListPage, ListRequest, ListWatch, WatchRequest } from '../list-watch.ts'
import { Blocks } from '../storing/blocks.ts'
import type { KindForm } from '../storing/form.ts'
import type { Item } from '../storing/item.ts'
import type { CacheScope } from '../storing/query.ts'
import { readLines } from './read-lines.ts'

export interface ClientListWatchOptions<T extends KubeObject> {
  readonly client: Client
  readonly kind: KindLike
  readonly scope: CacheScope
  readonly form: KindForm<T>
}

export function clientListWatch<T extends KubeObject>({ client, kind, scope, form }: ClientListWatchOptions<T>): ListWatch<T> {
  const selection = selectionOf(scope)
  return {
    list: async ({ resourceVersion, limit = 0, continue: token, signal }: ListRequest): Promise<ListPage<T>> => {
      const { items, metadata } = await client.page(kind, { ...selection, signal, pageSize: limit, ...token && { continue: token }, ...resourceVersion && { resourceVersion } })
      return { items: items.map((object) => form.itemOf(object)), resourceVersion: metadata.resourceVersion ?? '', continue: metadata.continue ?? '' }
    },
    watch: ({ resourceVersion, sendInitialEvents, timeoutSeconds, signal }: WatchRequest) => {
      const position = { ...resourceVersion !== '' && { resourceVersion }, ...sendInitialEvents && { sendInitialEvents } }
      return batches(client.watch(kind, { ...selection, ...position, timeoutSeconds, signal }), { form, isList: sendInitialEvents === true })
    },
    find: async ({ namespace, name }, { signal }): Promise<Item<T> | undefined> => {
      const object = await client.find(kind, { name, ...namespace !== '' && { namespace } }, { signal })
      return object && form.itemOf(object)
    },
  }
}

/** Only what is said: an absent selector selects everything, an undefined one is a mistake. */
function selectionOf({ namespace, labelSelector, fieldSelector }: CacheScope): Pick<Parameters<Client['page']>[1] & object, 'namespace' | 'labelSelector' | 'fieldSelector'> {
  return { ...namespace !== undefined && { namespace }, ...labelSelector !== undefined && { labelSelector }, ...fieldSelector !== undefined && { fieldSelector } }
}

async function* batches<T extends KubeObject>(stream: ReturnType<Client['watch']>, { form, isList }: { form: KindForm<T>, isList: boolean }): AsyncGenerator<readonly Arrival<T>[]> {
  let blocks = isList ? new Blocks() : undefined
  try {
    await stream.open()
    yield []
    for (let lines = await stream.nextLines(); lines; lines = await stream.nextLines()) {
      const arrivals = readLines(lines, { form, blocks })
      // What comes after the list comes one by one.
      if (blocks && arrivals.some((arrival) => arrival.type === 'BOOKMARK' && arrival.initialEventsEnd)) blocks = undefined
      yield arrivals
    }
  } finally {
    await stream.return()
  }
}
