/**
 * Whether the store answers: asked for `/readyz`, with a limit of two seconds, as kube-apiserver asks etcd.
 *
 * A store that has stopped answering has not reported a failure yet: its calls just wait. Anybody may ask for
 * `/readyz`, so questions that arrive together share one answer, and an answer holds for half a second.
 */
import { abortable, deadline, type Clock } from '#base'
import type { Store } from '#store'

const limitMs = 2_000
const validMs = 500

export class StoreProbe {
  readonly #store: Pick<Store, 'head' | 'failure'>
  readonly #clock: Clock
  #asking: Promise<string | undefined> | undefined
  #lastOkMs = Number.NEGATIVE_INFINITY

  constructor(store: Pick<Store, 'head' | 'failure'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Why the store is not ready; undefined when it is. */
  failure(): Promise<string | undefined> | string | undefined {
    const known = this.#store.failure()?.message
    if (known !== undefined) return known
    if (this.#clock.monotonic() - this.#lastOkMs < validMs) return undefined
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<string | undefined> {
    const limit = deadline(this.#clock, limitMs)
    try {
      const { signal } = limit
      await abortable(this.#store.head({ signal }), { signal })
      this.#lastOkMs = this.#clock.monotonic()
      return undefined
    } catch (error) {
      return limit.signal.aborted ? `the store does not answer within ${limitMs} ms` : String(error)
    } finally {
      limit.done()
    }
  }
}
