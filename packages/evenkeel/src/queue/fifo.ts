/**
 * A line of those who wait: join at the end, leave from anywhere, each in O(1) and without making anything.
 *
 * The links are fields of those who wait, because there may be a hundred thousand of them and every object less per
 * key is time that the garbage collector does not take. Invariant: one stands in at most one line at a time.
 */
import { assert } from '#base'

/** One that can stand in a line. The fields belong to {@link Fifo}. */
export abstract class FifoNode {
  list: Fifo<this> | undefined = undefined
  before: this | undefined = undefined
  after: this | undefined = undefined
}

export class Fifo<T extends FifoNode> {
  #first: T | undefined
  #last: T | undefined

  /** Who has been here longest. */
  get first(): T | undefined {
    return this.#first
  }

  join(one: T): void {
    assert(one.list === undefined, 'one stands in one line at a time')
    one.list = this
    one.before = this.#last
    if (this.#last) this.#last.after = one
    else this.#first = one
    this.#last = one
  }

  leave(one: T): void {
    assert(one.list === this, 'one leaves the line one stands in')
    if (one.before) one.before.after = one.after
    else this.#first = one.after
    if (one.after) one.after.before = one.before
    else this.#last = one.before
    one.list = one.before = one.after = undefined
  }
}
