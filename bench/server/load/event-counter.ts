/**
 * Counts the events of a watch by their newlines, and on some watches looks at which object each is about.
 */
import type { ResponseSink } from './response-reader.ts'

export interface EventCounterOptions {
  /** The watch has begun. */
  opened(): void
  /** So many more events have been read. */
  counted(events: number): void
  /** What the names of the objects begin with; the rest is their number. Absent: names are not looked at. */
  readonly namePrefix?: string
  seen?(number: number): void
}

const newline = 0x0a
const numberDigits = 10
/** Where the type of an event stands in its line, and how the only one that is expected begins. */
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
    if (status !== 200) throw new Error(`a watch was answered with status ${status}`)
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

  /** A name that two pieces share is missed, which a sample can bear. */
  #look(piece: Buffer, mark: Buffer): void {
    for (let at = piece.indexOf(mark); at >= 0; at = piece.indexOf(mark, at + mark.length)) {
      const digits = piece.toString('latin1', at + mark.length, at + mark.length + numberDigits)
      if (digits.length === numberDigits) this.#options.seen?.(Number(digits))
    }
  }
}

/** An error or a bookmark would be a line as well, but no event. */
function expectAdded(bytes: Buffer, line: number, end: number): void {
  if (line + typeOffset < end && bytes[line + typeOffset] !== added)
    throw new Error(`not a new object: ${bytes.toString('utf8', line, Math.min(end, line + 300))}`)
}
