/**
 * Asks the server about writes of ours that the watch does not tell of.
 *
 * Mostly the watch tells, or passes the write; this is for deletes that nobody announces, for servers whose versions
 * cannot be compared, and for watches that are stuck. One timer, only while something waits.
 */
import { Stopper } from '#base'
import type { AbortOptions, Cancel, Clock } from '#base'
import type { KubeObject } from '#api'
import type { Item } from '../storing/item.ts'
import type { Store } from '../storing/store.ts'
import type { Ahead } from './ahead.ts'

interface AheadCheckOptions<T extends KubeObject> {
  readonly store: Store<T>
  readonly find:
    | ((key: { namespace: string; name: string }, options: AbortOptions) => Promise<Item<T> | undefined>)
    | undefined
  readonly shape: (item: Item<T>) => Item<T>
  readonly clock: Clock
  readonly checkMs: number
}

export class AheadCheck<T extends KubeObject> {
  readonly #options: AheadCheckOptions<T>
  #cancel: Cancel | undefined
  #controller = new Stopper()

  constructor(options: AheadCheckOptions<T>) {
    if (!(options.checkMs > 0)) throw new RangeError(`checkWritesMs must be above 0, got ${options.checkMs}`)
    this.#options = options
  }

  /** Something waits: look at it after a while. */
  expect(): void {
    if (this.#controller.signal.aborted) this.#controller = new Stopper()
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
    for (const [slot, ahead] of [...store.ahead]) {
      if (signal.aborted) return
      if (store.ahead.get(slot) !== ahead) continue
      await this.#check(slot, ahead).catch(() => undefined)
    }
    if (signal.aborted) return
    this.#cancel = undefined
    if (store.ahead.size > 0) this.expect()
  }

  async #check(slot: string, ahead: Ahead<T>): Promise<void> {
    const { store, find, shape } = this.#options
    const { namespace, name } = ahead
    const found = find ? await find({ namespace, name }, { signal: this.#controller.signal }) : ahead.seen
    if (store.ahead.get(slot) !== ahead) return
    if (!find || (found === undefined && ahead.seen === undefined)) store.resolve(namespace, name)
    else if (found === undefined)
      store.note({ namespace, name, item: undefined, version: ahead.version, uid: ahead.uid })
    else if (found.version !== ahead.item?.version)
      store.note({ namespace, name, item: shape(found), version: found.version, uid: found.uid })
  }
}
