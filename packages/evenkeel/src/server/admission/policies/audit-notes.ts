/**
 * What policies want noted about a write: several bindings may note different things under one key.
 */
import type { AdmissionAttributes } from '../admission.ts'

const valueBytesMax = 10 * 1024

export class AuditAnnotations {
  readonly #notes = new Map<string, Set<string>>()

  add(key: string, value: string): void {
    const values = this.#notes.get(key) ?? new Set()
    // Cut by bytes: half a character at the end becomes a mark that something is missing.
    values.add(
      Buffer.byteLength(value) > valueBytesMax ? Buffer.from(value).subarray(0, valueBytesMax).toString() : value,
    )
    this.#notes.set(key, values)
  }

  publish({ annotate }: Pick<AdmissionAttributes, 'annotate'>): void {
    for (const [key, values] of this.#notes) annotate(key, [...values].join(', '))
  }
}
