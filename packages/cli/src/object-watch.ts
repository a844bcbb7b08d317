/**
 * The objects of a selection as they are, and every change after that: a list, then a watch from the version of the list.
 *
 * Nothing is missed between the two. The server may end a watch at any time, and a version may expire: then a new list
 * follows, and the reader compares. A watch that the connection breaks is an error of the caller.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { sleep, type Clock } from 'evenkeel/unstable/base'

interface WatchedKind {
  readonly apiVersion: string
  readonly kind: string
}

interface ObjectWatchOptions {
  /** Undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly signal: AbortSignal
  readonly clock: Clock
}

export type ObjectChange =
  /** All objects, first and after every gap. */
  | { readonly type: 'LISTED'; readonly objects: readonly KubeObject[] }
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }

/** Before a new list, so that a server that ends every watch at once is not flooded. */
const pauseMs = 1000

/** Ends only with its reader or the signal. @throws {ApiError} when the server refuses; {@link ConnectionError} */
export async function* watchObjects(
  client: Pick<Client, 'list' | 'watch'>,
  { apiVersion, kind }: WatchedKind,
  { namespace, labelSelector, fieldSelector, signal, clock }: ObjectWatchOptions,
): AsyncGenerator<ObjectChange, never, undefined> {
  const type = { apiVersion, kind }
  const selection = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    signal,
  }
  for (;;) {
    const { items, metadata } = await client.list(type, selection)
    yield { type: 'LISTED', objects: items.map((item) => ({ ...item, ...type })) }
    const { resourceVersion } = metadata
    for await (const event of client.watch(type, { ...selection, ...(resourceVersion && { resourceVersion }) })) {
      if (event.type === 'ERROR' && event.error.reason === 'Expired') break
      if (event.type === 'ERROR') throw event.error
      if (event.type !== 'BOOKMARK') yield { type: event.type, object: { ...event.object, ...type } }
    }
    await sleep(clock, pauseMs, { signal })
  }
}
