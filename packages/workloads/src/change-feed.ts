/**
 * Changes of runs: as events for a controller, and for listeners.
 *
 * An object that changed several times before it was read is one event. A thousand runs that end together have a listener each,
 * and each of their changes reaches its own only.
 *
 * Invariant: both are bounded by the number of objects.
 */
import type { ChannelEvent } from 'evenkeel/controller'
import { onAbort } from 'evenkeel/unstable/base'
import type { RunOwner } from './runs.ts'

export class ChangeFeed {
  readonly #waiting = new Map<string, ChannelEvent>()
  #wake: () => void = () => undefined

  push({ namespace, name }: RunOwner, note: string): void {
    this.#waiting.set(`${namespace}/${name}`, { namespace, name, note })
    this.#wake()
  }

  async *events(signal: AbortSignal): AsyncGenerator<ChannelEvent> {
    const stop = onAbort(signal, () => {
      this.#wake()
    })
    try {
      while (!signal.aborted) {
        for (const [key, event] of this.#waiting) {
          this.#waiting.delete(key)
          yield event
        }
        if (this.#waiting.size > 0 || isAborted(signal)) continue
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      stop()
    }
  }
}

/** Read again after a pause: the compiler thinks it cannot have changed. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

export type RunListener = (owner: RunOwner, note: string) => void

export class RunListeners {
  readonly #ofAll = new Set<RunListener>()
  readonly #ofOne = new Map<string, Set<RunListener>>()

  add(call: RunListener, uid: string | undefined): () => void {
    if (uid === undefined) {
      this.#ofAll.add(call)
      return () => this.#ofAll.delete(call)
    }
    const own = this.#ofOne.get(uid) ?? new Set()
    this.#ofOne.set(uid, own.add(call))
    return () => {
      own.delete(call)
      if (own.size === 0 && this.#ofOne.get(uid) === own) this.#ofOne.delete(uid)
    }
  }

  call(owner: RunOwner, note: string): void {
    for (const call of [...this.#ofAll, ...(this.#ofOne.get(owner.uid) ?? [])]) call(owner, note)
  }
}
