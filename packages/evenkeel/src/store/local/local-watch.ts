/**
 * A watch on a store of this machine.
 *
 *   replaying ──history read to its end──▶ live ──▶ ended
 *       └──compaction passed us──▶ ended
 *
 * Replaying pulls from the shared history, only as fast as the reader asks, and keeps nothing of
 * its own; live is pushed to by the hub and has a bounded backlog. The step from the one to the
 * other is synchronous: nothing can be published in between.
 */
import type { Watch, WatchBatch, WatchEnd, WatchOptions } from '../store.ts'
import { watchChannel } from '../watch-channel.ts'
import type { WatchChannel } from '../watch-channel.ts'
import type { WatchHub } from './hub.ts'
import { changeOf } from './version.ts'
import type { Versions } from './versions.ts'

/** How many changes of the history one batch holds, at most one commit over. */
const replayMax = 512

export class LocalWatch implements Watch, AsyncIterator<WatchBatch, WatchEnd | undefined> {
  readonly #prefix: string
  readonly #versions: Versions
  readonly #hub: WatchHub
  readonly #channel: WatchChannel
  #cursor: number
  #live = false
  #progressAsked = false

  constructor(prefix: string, { versions, hub }: { versions: Versions; hub: WatchHub }, options: WatchOptions) {
    this.#prefix = prefix
    this.#versions = versions
    this.#hub = hub
    this.#cursor = options.after
    this.#channel = watchChannel(options, () => {
      hub.leave(prefix, this.#channel)
    })
    if (this.#channel.open) hub.add(this.#channel)
    if (options.after === versions.published) this.#join()
  }

  get end(): WatchEnd | undefined {
    return this.#channel.reason
  }

  requestProgress(): void {
    if (this.#live) this.#channel.push({ revision: this.#versions.published, changes: [] })
    else this.#progressAsked = true
  }

  close(): void {
    this.#channel.end({ reason: 'closed' })
  }

  next(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    const batch = this.#replay()
    return batch ? Promise.resolve({ done: false, value: batch }) : this.#channel.next()
  }

  return(): Promise<IteratorResult<WatchBatch, WatchEnd | undefined>> {
    return this.#channel.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The next batch of history with something in it, or undefined once we are live or over. */
  #replay(): WatchBatch | undefined {
    while (!this.#live && this.#channel.open) {
      const { published, compacted, history } = this.#versions
      if (this.#cursor > published) this.#channel.end({ reason: 'ahead', revision: published })
      else if (this.#cursor < compacted) this.#channel.end({ reason: 'compacted', compacted })
      else if (this.#cursor === published) this.#join()
      else {
        const versions = history.after(this.#cursor, replayMax)
        this.#cursor = versions.at(-1)?.revision ?? published
        const changes = versions.filter(({ key }) => key.startsWith(this.#prefix)).map(changeOf)
        if (changes.length > 0) return { revision: this.#cursor, changes }
      }
    }
    return undefined
  }

  #join(): void {
    this.#live = true
    if (!this.#channel.open) return
    this.#hub.join(this.#prefix, this.#channel)
    if (this.#progressAsked) this.requestProgress()
  }
}
