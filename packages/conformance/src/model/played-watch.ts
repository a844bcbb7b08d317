/**
 * A watch of a played history: read from time to time and compared with the model.
 */
import assert from 'node:assert/strict'
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import type { Store, Watch, WatchBatch, WatchEnd } from 'evenkeel/unstable/store'
import { plainChange } from './store-model.ts'
import type { PlainChange, StoreModel } from './store-model.ts'

const turns = new SystemClock()

export class PlayedWatch {
  readonly #watch: Watch
  readonly #iterator: AsyncIterator<WatchBatch, WatchEnd | undefined>
  readonly #prefix: string
  /** Every change up to here was received. */
  #position: number
  #hasReceived = false

  constructor(store: Store, { prefix, after }: { prefix: string; after: number }) {
    this.#prefix = prefix
    this.#position = after
    this.#watch = store.watch(prefix, { after })
    this.#iterator = this.#watch[Symbol.asyncIterator]()
  }

  get end(): WatchEnd | undefined {
    return this.#watch.end
  }

  /** Reads to the newest revision of the model, or to an end caused by compaction; returns the received changes. */
  async drain(model: StoreModel): Promise<PlainChange[]> {
    const received: PlainChange[] = []
    const from = this.#position
    this.#watch.requestProgress()
    const isAhead = !this.#hasReceived && from > model.head
    const until = isAhead ? Infinity : model.head
    while (this.#position < until) {
      const { done, value } = await this.#iterator.next()
      if (done) {
        if (value?.reason === 'compacted')
          assert.ok(
            this.#position < value.compacted && value.compacted <= model.compacted,
            'the watch ended without a reason',
          )
        else assert.deepEqual([value?.reason, isAhead], ['ahead', true])
        break
      }
      assert.ok(value.revision >= this.#position, 'progress does not go back')
      this.#hasReceived = true
      received.push(...value.changes.map((change) => plainChange(change)))
      this.#position = value.revision
      if (value.changes.length > 0) continue
      await nextTurn(turns)
      this.#watch.requestProgress()
    }
    this.#compare(
      received,
      model.changesAfter(from, this.#prefix).filter(({ revision }) => revision <= this.#position),
      model.compacted,
    )
    return received
  }

  /** The previous entry may be missing after a compaction. */
  #compare(received: readonly PlainChange[], expected: readonly PlainChange[], compacted: number): void {
    const excused = expected.map((change, index) => {
      const { previous, ...rest } = change
      return previous && !received[index]?.previous && change.revision <= compacted ? rest : change
    })
    assert.deepEqual(received, excused)
  }
}
