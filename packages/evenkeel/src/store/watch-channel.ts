/**
 * The backlog of a watch: bounded in bytes, the same in every engine.
 */
import { Channel } from '#base'
import { storeLimits } from './store.ts'
import type { WatchBatch, WatchEnd, WatchOptions } from './store.ts'

export type WatchChannel = Channel<WatchBatch, WatchEnd>

/** A channel that ends with `overflow` when its reader falls too far behind. */
export function watchChannel(
  { signal, backlogBytesMax = storeLimits.backlogBytesMax }: Omit<WatchOptions, 'after'>,
  onClose: () => void,
): WatchChannel {
  return new Channel<WatchBatch, WatchEnd>({
    weightMax: backlogBytesMax,
    weigh: batchBytes,
    overflow: { reason: 'overflow' },
    signal,
    onClose,
  })
}

/** What a batch weighs in the backlog of a watcher: its keys and new values, and something for each. */
function batchBytes({ changes }: WatchBatch): number {
  let bytes = 64
  for (const { key, entry } of changes) bytes += key.length + (entry?.value.length ?? 0) + 64
  return bytes
}
