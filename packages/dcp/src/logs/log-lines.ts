/**
 * The lines of a stored log, as a query wants them.
 *
 * A stored line begins with its number and its time. Containers are logged by their runtime, without a number: it is
 * counted here. A line that has neither is shown as it is.
 *
 *   stored   `12 2030-01-31T12:00:00.000Z ready\n`
 *   shown    `ready\n`, with timestamps `2030-01-31T12:00:00.000Z ready\n`, with line numbers `12 ready\n`
 *
 * Memory is bounded: a line longer than {@link lineBytesMax} is passed on in parts, and a tail keeps its lines only.
 */
import type { LogQuery } from './log-query.ts'

/** What a source yields when it has given everything that was there when it was opened. */
export const caughtUp = Symbol('caught up')

/** The bytes of a stored log, and the moment when the reader has seen what was there. */
export type LogBytes = AsyncGenerator<Uint8Array | typeof caughtUp, void>

export const lineBytesMax = 1024 * 1024
const newline = 10

/** The lines that the query selects, in its form, many of them in one piece. */
export async function* selectLines(stored: LogBytes, query: LogQuery): AsyncGenerator<Uint8Array, void> {
  const reader = new LineReader()
  const selection = new LineSelection(query)
  for await (const piece of stored) {
    const lines = piece === caughtUp ? reader.rest() : reader.read(piece)
    yield* joined(lines.flatMap((line) => selection.take(line)))
    if (piece === caughtUp) yield* joined(selection.endTail())
    if (selection.isFull) return
  }
  yield* joined(reader.rest().flatMap((line) => selection.take(line)))
  yield* joined(selection.endTail())
}

/** A piece for each line would cost more than its bytes. */
const pieceBytes = 65_536

function* joined(lines: readonly Uint8Array[]): Generator<Uint8Array, void> {
  let [start, size] = [0, 0]
  for (const [index, line] of lines.entries()) {
    size += line.length
    if (size < pieceBytes && index < lines.length - 1) continue
    yield Buffer.concat(lines.slice(start, index + 1), size)
    start = index + 1
    size = 0
  }
}

/** Counts lines: which are skipped, which of the others are the last ones, and when enough of those are shown. */
class LineSelection {
  readonly #query: LogQuery
  /** The last lines so far; undefined when lines are passed on at once. */
  #tail: StoredLine[] | undefined
  #seen = 0
  #shown = 0

  constructor(query: LogQuery) {
    this.#query = query
    if (query.tail !== undefined) this.#tail = []
  }

  get isFull(): boolean {
    return this.#shown >= (this.#query.limit ?? Number.POSITIVE_INFINITY)
  }

  /** What is to be shown now. */
  take(line: StoredLine): readonly Uint8Array[] {
    if (line.isStart) this.#seen++
    if (this.#seen <= this.#query.skip) return []
    const { isStart, isEnd } = line
    const shaped = { bytes: shapeLine(line, this.#seen, this.#query), isStart, isEnd }
    if (!this.#tail) return this.#show(shaped)
    this.#keep(this.#tail, shaped)
    return []
  }

  /** The last lines; later ones are passed on at once. */
  endTail(): readonly Uint8Array[] {
    const last = this.#tail?.slice(-(this.#query.tail ?? 0)) ?? []
    this.#tail = undefined
    return last.flatMap((line) => this.#show(line))
  }

  #show({ bytes, isEnd }: StoredLine): readonly Uint8Array[] {
    if (this.isFull) return []
    if (isEnd) this.#shown++
    return [bytes]
  }

  #keep(tail: StoredLine[], line: StoredLine): void {
    const count = this.#query.tail ?? 0
    const before = line.isStart ? undefined : tail.pop()
    tail.push(before ? { ...line, bytes: Buffer.concat([before.bytes, line.bytes]) } : line)
    // Twice as many are kept before they are cut: moving the rest for every line would cost the square of the tail.
    if (tail.length >= count * 2) tail.splice(0, tail.length - count)
  }
}

interface StoredLine {
  readonly bytes: Uint8Array
  /** It begins a line, and is not the rest of one. */
  readonly isStart: boolean
  readonly isEnd: boolean
}

/** Pieces of any size in, lines out. */
class LineReader {
  #parts: Uint8Array[] = []
  #size = 0
  #isStart = true

  read(piece: Uint8Array): StoredLine[] {
    const lines: StoredLine[] = []
    for (let at = 0; at < piece.length;) {
      const end = piece.indexOf(newline, at)
      const next = end < 0 ? piece.length : end + 1
      this.#parts.push(piece.subarray(at, next))
      this.#size += next - at
      at = next
      if (end >= 0 || this.#size >= lineBytesMax) lines.push(this.#take({ isEnd: end >= 0 }))
    }
    return lines
  }

  /** What has no line break yet. */
  rest(): StoredLine[] {
    return this.#size > 0 ? [this.#take({ isEnd: false })] : []
  }

  #take({ isEnd }: { isEnd: boolean }): StoredLine {
    const [only = new Uint8Array(), ...more] = this.#parts
    const line = { bytes: more.length === 0 ? only : Buffer.concat(this.#parts), isStart: this.#isStart, isEnd }
    this.#parts = []
    this.#size = 0
    this.#isStart = isEnd
    return line
  }
}

const prefix = /^(?:(\d{1,10})\s)?(?:(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))\s)?/

/** The longest prefix: ten digits, a time with nanoseconds and a zone, two blanks. */
const prefixMax = 64

function shapeLine({ bytes, isStart }: StoredLine, count: number, query: LogQuery): Uint8Array {
  if (!isStart) return bytes
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, prefixMax)).toString('latin1')
  const [whole = '', number, time] = prefix.exec(head) ?? []
  // A number without a time may be part of what the program wrote.
  if (time === undefined) return bytes
  const rest = bytes.subarray(whole.length)
  const kept = `${query.lineNumbers ? `${number ?? count} ` : ''}${query.timestamps ? `${time} ` : ''}`
  return kept === '' ? rest : Buffer.concat([Buffer.from(kept), rest])
}
