/**
 * Forgets old history: what happened longer ago than the window can no longer be asked for, and clients that try are
 * told to list again.
 *
 * Every interval the revision of one interval ago is compacted, so history reaches back one to two intervals.
 */
import type { Clock, Logger } from '#base'
import type { Store } from '#store'

interface CompactionOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly intervalMs: number
}

/** Compacts until it is stopped. */
export function startCompaction(store: Store, { clock, log, intervalMs }: CompactionOptions): () => void {
  let seen = 0
  let cancel = (): void => {}
  const step = async (): Promise<void> => {
    const head = await store.head()
    if (seen > 0) await store.compact(seen)
    seen = head
  }
  const again = (): void => {
    cancel = clock.after(intervalMs, () => {
      step()
        .catch((error: unknown) => {
          log.warn('old history could not be compacted', { error })
        })
        .finally(() => {
          if (!stopped) again()
        })
    })
  }
  let stopped = false
  again()
  return () => {
    stopped = true
    cancel()
  }
}
