/**
 * Counts the events of a watch by their newlines, and on some watches reads the object name of each.
 */
import type { ResponseSink } from './response-reader.ts'

export interface EventCounterOptions {
  /** The watch has started. */
  opened(): void
  /** Called with the number of new events. */
  counted(events: number): void
  /** The prefix of the object names; the rest is their number. Absent: names are not read. */
  readonly namePrefix?: string
  seen?(number: number): void
}

const newline = 0x0a
const numberDigits = 10
/** The position of the type in the line of an event, and the start of the only expected type. */
const typeOffset = '{"type":"'.length
const added = 'A'.charCodeAt(0)

export class EventCounter implements ResponseSink {
  readonly #options: EventCounterOptions
  readonly #mark: Buffer | undefined
  #isLineStart = true
  #events = 0

  constructor(options: EventCounterOptions) {
    this.#options = options
    this.#mark = options.namePrefix === undefined ? undefined : Buffer.from(`"name":"${options.namePrefix}`)
  }

  head(status: number): void {
    if (status !== 200) throw new Error(`a watch returned status ${status}`)
    this.#options.opened()
  }

  body(bytes: Buffer, start: number, end: number): void {
    if (this.#mark) this.#look(bytes.subarray(start, end), this.#mark)
    let events = 0
    let line = start
    if (this.#isLineStart) expectAdded(bytes, line, end)
    for (let at = bytes.indexOf(newline, start); at >= 0 && at < end; at = bytes.indexOf(newline, at + 1)) {
      events++
      line = at + 1
      expectAdded(bytes, line, end)
    }
    this.#isLineStart = line === end
    this.#events += events
    if (events > 0) this.#options.counted(events)
  }

  end(): void {
    throw new Error(`the server ended a watch after ${this.#events} events`)
  }

  /** Misses a name that is split between two chunks, which is acceptable for a sample. */
  #look(piece: Buffer, mark: Buffer): void {
    for (let at = piece.indexOf(mark); at >= 0; at = piece.indexOf(mark, at + mark.length)) {
      const digits = piece.toString('latin1', at + mark.length, at + mark.length + numberDigits)
      if (digits.length === numberDigits) this.#options.seen?.(Number(digits))
    }
  }
}

/** An error or a bookmark is a line as well, but not an event. */
function expectAdded(bytes: Buffer, line: number, end: number): void {
  if (line + typeOffset < end && bytes[line + typeOffset] !== added)
    throw new Error(`not a new object: ${bytes.toString('utf8', line, Math.min(end, line + 300))}`)
}
