/**
 * Records beside the objects, one for each thing: as ExternalRef objects, or in a checkpoint of the author's.
 *
 * A record is found by the uid of its owner, and outlives it.
 */
import type { CacheKey } from '#cache'
import type { RecordStore, RecordOwner, ResourceRecord } from './memory.ts'

export interface OwnedRecord {
  readonly owner: RecordOwner
  readonly remembered: ResourceRecord
  /** Somebody deletes the record by hand: the thing is let go as soon as that is safe. */
  readonly isLetGo: boolean
}

export interface RecordBackend {
  find(uid: string, options?: { readonly live?: boolean }): Promise<OwnedRecord | undefined>
  /** Resolves when it is durable. `isSure`: whoever made the thing knows best, whatever was written in between. @throws {ApiError} otherwise, when somebody did. */
  save(owner: RecordOwner, remembered: ResourceRecord, options?: { readonly isSure?: boolean }): Promise<void>
  remove(uid: string): Promise<void>
  /** Records of objects that have, or had, this name. */
  ofKey(key: CacheKey): Promise<readonly OwnedRecord[]>
}

/** Remembering in a record. */
export class BackendRecordStore implements RecordStore {
  readonly isSeparate = true
  readonly #records: RecordBackend
  readonly #owner: RecordOwner
  /** What the status says; it is no record, but it says that there was one. */
  readonly #hearsay: ResourceRecord
  #last: ResourceRecord = {}

  constructor(records: RecordBackend, owner: RecordOwner, hearsay: ResourceRecord) {
    this.#records = records
    this.#owner = owner
    this.#hearsay = hearsay
  }

  async read({ live = false }: { live?: boolean } = {}): Promise<ResourceRecord> {
    const record = await this.#records.find(this.#owner.uid, { live })
    this.#last = record?.remembered ?? {}
    return record || this.#hearsay.id === undefined ? this.#last : { ...this.#hearsay, isLost: true }
  }

  async write(next: ResourceRecord): Promise<void> {
    await this.#records.save(this.#owner, next)
    this.#last = next
  }

  async note(next: ResourceRecord): Promise<void> {
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
