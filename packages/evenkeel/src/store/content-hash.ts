/**
 * One hash over the contents of a store, the same in every engine: equal hashes mean equal keys,
 * values and revisions. Tests and self-checks compare a cache or a mirror with it.
 */
import { createHash } from 'node:crypto'
import type { Entry } from './store.ts'

/** Feeds entries in key order; `digest` ends it. */
export class ContentHash {
  readonly #hash = createHash('sha256')
  readonly #numbers = new Float64Array(4)

  add({ key, value, revision, created, lease }: Entry): void {
    this.#numbers.set([key.length, value.length, revision, created])
    this.#hash.update(new Uint8Array(this.#numbers.buffer)).update(key, 'latin1').update(value)
    this.#hash.update(lease === undefined ? '-' : '+')
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}
