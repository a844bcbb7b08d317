/**
 * What happened in a schedule, in order, and a number for all of it: equal schedules have equal numbers.
 */
export interface TraceEntry {
  readonly step: number
  readonly atMs: number
  readonly actor: string
  readonly what: string
}

export class Trace {
  readonly entries: TraceEntry[] = []
  readonly #keeps: boolean
  #high = 0x811c9dc5
  #low = 0x01000193
  #steps = 0

  /** @param options `keeps`: entries are remembered, not only their number */
  constructor({ keeps = true }: { keeps?: boolean } = {}) {
    this.#keeps = keeps
  }

  get steps(): number {
    return this.#steps
  }

  add(actor: string, what: string, { atMs, isStep = true }: { atMs: number; isStep?: boolean }): TraceEntry {
    if (isStep) this.#steps++
    this.#mix(actor)
    this.#mix(what)
    const entry = { step: this.#steps, atMs, actor, what }
    if (this.#keeps) this.entries.push(entry)
    return entry
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return (this.#high >>> 0).toString(16).padStart(8, '0') + (this.#low >>> 0).toString(16).padStart(8, '0')
  }

  #mix(text: string): void {
    let [high, low] = [this.#high, this.#low]
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      high = Math.imul(high ^ code, 0x01000193)
      low = Math.imul(low ^ (code + (high >>> 15)), 0x85ebca6b)
    }
    this.#high = high ^ 0x2f
    this.#low = low
  }
}
