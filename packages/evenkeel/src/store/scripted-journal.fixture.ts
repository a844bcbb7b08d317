/**
 * A journal that answers when the test says so, and as the test says.
 */
import type { StoreError, StoreFailure } from './store.ts'
import type { Journal, JournalRecord, JournalSink } from './writer.ts'

export class ScriptedJournal implements Journal {
  readonly records: JournalRecord[] = []
  /** What puts are refused with before they are tried. */
  full: StoreError | undefined
  broken: StoreError | undefined
  #sink: JournalSink | undefined
  #answered = 0

  bind(sink: JournalSink): void {
    this.#sink = sink
  }

  append(record: JournalRecord): void {
    this.records.push(record)
  }

  refusal(kind: 'put' | 'delete'): StoreError | undefined {
    return this.broken ?? (kind === 'put' ? this.full : undefined)
  }

  failure(): StoreFailure | undefined {
    return this.broken && { state: 'failed', message: this.broken.message }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** How many records wait for an answer. */
  get waiting(): number {
    return this.records.length - this.#answered
  }

  durable(count = this.waiting): void {
    this.#answered += count
    this.#sink?.durable(count)
  }

  refuse(error: StoreError): void {
    this.#answered = this.records.length
    this.#sink?.refused(error)
  }

  fail(error: StoreError): void {
    this.broken = error
    this.#answered = this.records.length
    this.#sink?.failed(error)
  }
}
