/**
 * Records beside the objects, one for each thing: as ExternalRef objects, or in a checkpoint of the author's.
 *
 * A record is found by the uid of its owner, and outlives it.
 */
import type { CacheKey } from '#cache'
import type { Memory, Owner, Remembered } from './memory.ts'

export interface ThingRecord {
  readonly owner: Owner
  readonly remembered: Remembered
  /** Somebody deletes the record by hand: the thing is let go as soon as that is safe. */
  readonly isLetGo: boolean
}

export interface Records {
  find(uid: string, options?: { readonly live?: boolean }): Promise<ThingRecord | undefined>
  /** Resolves when it is durable. `isSure`: whoever made the thing knows best, whatever was written in between. @throws {ApiError} otherwise, when somebody did. */
  save(owner: Owner, remembered: Remembered, options?: { readonly isSure?: boolean }): Promise<void>
  remove(uid: string): Promise<void>
  /** Records of objects that have, or had, this name. */
  ofKey(key: CacheKey): Promise<readonly ThingRecord[]>
}

/** Remembering in a record. */
export class RecordMemory implements Memory {
  readonly isSeparate = true
  readonly #records: Records
  readonly #owner: Owner
  /** What the status says; it is no record, but it says that there was one. */
  readonly #hearsay: Remembered
  #last: Remembered = {}

  constructor(records: Records, owner: Owner, hearsay: Remembered) {
    this.#records = records
    this.#owner = owner
    this.#hearsay = hearsay
  }

  async read({ live = false }: { live?: boolean } = {}): Promise<Remembered> {
    const record = await this.#records.find(this.#owner.uid, { live })
    this.#last = record?.remembered ?? {}
    return record || this.#hearsay.id === undefined ? this.#last : { ...this.#hearsay, isLost: true }
  }

  async write(next: Remembered): Promise<void> {
    await this.#records.save(this.#owner, next)
    this.#last = next
  }

  async note(next: Remembered): Promise<void> {
    const { id, attempt, observedGeneration, isDeleting = false } = this.#last
    if (
      next.id === id &&
      next.observedGeneration === observedGeneration &&
      (next.isDeleting ?? false) === isDeleting &&
      next.attempt?.key === attempt?.key &&
      next.attempt?.outcome === attempt?.outcome
    )
      return
    await this.#records.save(this.#owner, next, { isSure: true })
    this.#last = next
  }

  async forget(): Promise<void> {
    await this.#records.remove(this.#owner.uid)
    this.#last = {}
  }
}
