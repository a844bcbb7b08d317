/**
 * A watch of a played history: read now and then, and compared with the model each time.
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
  /** Everything up to here was told. */
  #position: number
  #isTold = false

  constructor(store: Store, { prefix, after }: { prefix: string; after: number }) {
    this.#prefix = prefix
    this.#position = after
    this.#watch = store.watch(prefix, { after })
    this.#iterator = this.#watch[Symbol.asyncIterator]()
  }

  get end(): WatchEnd | undefined {
    return this.#watch.end
  }

  /** Reads to the newest revision of the model, or to an end that compaction excuses; gives what was told. */
  async drain(model: StoreModel): Promise<PlainChange[]> {
    const told: PlainChange[] = []
    const from = this.#position
    this.#watch.requestProgress()
    const isAhead = !this.#isTold && from > model.head
    const until = isAhead ? Infinity : model.head
    while (this.#position < until) {
      const { done, value } = await this.#iterator.next()
      if (done) {
        if (value?.reason === 'compacted')
          assert.ok(this.#position < value.compacted && value.compacted <= model.compacted, 'ended without need')
        else assert.deepEqual([value?.reason, isAhead], ['ahead', true])
        break
      }
      assert.ok(value.revision >= this.#position, 'progress does not go back')
      this.#isTold = true
      told.push(...value.changes.map((change) => plainChange(change)))
      this.#position = value.revision
      if (value.changes.length > 0) continue
      await nextTurn(turns)
      this.#watch.requestProgress()
    }
    this.#compare(
      told,
      model.changesAfter(from, this.#prefix).filter(({ revision }) => revision <= this.#position),
      model.compacted,
    )
    return told
  }

  /** What was there before may be missing once it is compacted. */
  #compare(told: readonly PlainChange[], expected: readonly PlainChange[], compacted: number): void {
    const excused = expected.map((change, index) => {
      const { previous, ...rest } = change
      return previous && !told[index]?.previous && change.revision <= compacted ? rest : change
    })
    assert.deepEqual(told, excused)
  }
}
