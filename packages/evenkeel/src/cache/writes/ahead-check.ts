/**
 * Asks the server about writes of ours that the watch does not tell of.
 *
 * Mostly the watch tells, or passes the write; this is for deletes that nobody announces, for servers whose versions
 * cannot be compared, and for watches that are stuck. One timer, only while something waits.
 */
import { LightAbortController } from '#base'
import type { AbortOptions, Cancel, Clock } from '#base'
import type { KubeObject } from '#api'
import type { Item } from '../storing/item.ts'
import type { Store } from '../storing/store.ts'
import type { PendingWrite } from './ahead.ts'

interface PendingWriteCheckOptions<T extends KubeObject> {
  readonly store: Store<T>
  readonly find:
    | ((key: { namespace: string; name: string }, options: AbortOptions) => Promise<Item<T> | undefined>)
    | undefined
  readonly shape: (item: Item<T>) => Item<T>
  readonly clock: Clock
  readonly checkMs: number
}

export class PendingWriteCheck<T extends KubeObject> {
  readonly #options: PendingWriteCheckOptions<T>
  #cancel: Cancel | undefined
  #controller = new LightAbortController()

  constructor(options: PendingWriteCheckOptions<T>) {
    if (!(options.checkMs > 0)) throw new RangeError(`checkWritesMs must be above 0, got ${options.checkMs}`)
    this.#options = options
  }

  /** Something waits: look at it after a while. */
  expect(): void {
    if (this.#controller.signal.aborted) this.#controller = new LightAbortController()
    this.#cancel ??= this.#options.clock.after(this.#options.checkMs, () => {
      void this.#run()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#controller.abort(new Error('the informer stopped'))
  }

  async #run(): Promise<void> {
    const { store } = this.#options
    const { signal } = this.#controller
    for (const [slot, ahead] of [...store.pendingWrites]) {
      if (signal.aborted) return
      if (store.pendingWrites.get(slot) !== ahead) continue
      await this.#check(slot, ahead).catch(() => undefined)
    }
    if (signal.aborted) return
    this.#cancel = undefined
    if (store.pendingWrites.size > 0) this.expect()
  }

  async #check(slot: string, ahead: PendingWrite<T>): Promise<void> {
    const { store, find, shape } = this.#options
    const { namespace, name } = ahead
    const found = find ? await find({ namespace, name }, { signal: this.#controller.signal }) : ahead.observed
    if (store.pendingWrites.get(slot) !== ahead) return
    if (!find || (found === undefined && ahead.observed === undefined)) store.resolve(namespace, name)
    else if (found === undefined)
      store.note({ namespace, name, item: undefined, version: ahead.version, uid: ahead.uid })
    else if (found.version !== ahead.item?.version)
      store.note({ namespace, name, item: shape(found), version: found.version, uid: found.uid })
  }
}
