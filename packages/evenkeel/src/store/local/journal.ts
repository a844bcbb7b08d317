/**
 * The seam between the versions in memory and whatever makes them durable.
 *
 * A journal takes records in order and later tells, in the same order, how they fared. Memory
 * answers at once; the file engine answers after one sync for all records of a turn.
 */
import type { StoreError } from '../store-error.ts'
import type { StoreFailure } from '../store.ts'
import type { LeaseState } from './leases.ts'
import type { Version } from './version.ts'

/** What a store wants to remember. */
export type JournalRecord =
  | { readonly type: 'commit'; readonly revision: number; readonly versions: readonly Version[] }
  | { readonly type: 'grant'; readonly lease: string; readonly ttlMs: number }
  | {
      readonly type: 'revoke'
      readonly lease: string
      readonly revision: number
      readonly versions: readonly Version[]
    }
  | { readonly type: 'compact'; readonly revision: number }

/** How the store hears of the fate of its records; always called in the order of appending. */
export interface JournalSink {
  /** The oldest `count` records that were not answered yet are durable. */
  durable(count: number): void
  /** None of the records that were not answered yet was or will be written; others may be. */
  refused(error: StoreError): void
  /** Nothing can be written any more; records without an answer may or may not have been stored. */
  failed(error: StoreError): void
  /** The leases and what they have left, for whoever writes a snapshot or stops. */
  leases(): readonly LeaseState[]
}

export interface Journal {
  /** Says who hears of the fate of records, once, before the first append. */
  bind(sink: JournalSink): void
  append(record: JournalRecord): void
  /** A reason not to append such a record, known before trying. */
  refusal(kind: 'put' | 'delete'): StoreError | undefined
  failure(): StoreFailure | undefined
  /** Waits for the answers of everything appended, then lets go of everything. */
  close(): Promise<void>
}

/** What memory remembers with: nothing more than it has. */
export class NoJournal implements Journal {
  #sink: JournalSink | undefined

  bind(sink: JournalSink): void {
    this.#sink = sink
  }

  append(): void {
    this.#sink?.durable(1)
  }

  refusal(): undefined {
    return undefined
  }

  failure(): undefined {
    return undefined
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
