/**
 * Changes of runs as events for a controller. An object that changed several times before it was read is one event.
 *
 * Invariant: bounded by the number of objects.
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
