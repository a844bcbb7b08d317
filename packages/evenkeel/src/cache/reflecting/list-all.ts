/**
 * A whole collection by list, page by page, of one moment.
 *
 * A token that expires on the way costs one more request: everything at once. The version is that of the first page;
 * later pages carry the token alone, which says the version.
 */
import { isExpired } from '#api'
import type { KubeObject } from '#api'
import type { ListPage, ListWatch } from '../list-watch.ts'
import type { Item } from '../storing/item.ts'
import { Items } from '../storing/items.ts'

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
