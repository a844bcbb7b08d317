/**
 * A watch as a stream of events that its reader pulls, and the decoding of its lines.
 *
 *   new ──open──▶ open ──end of response──▶ ended
 *                   └──broken, aborted, closed──▶ ended (the connection is released)
 *
 * Nothing is read ahead: the stream holds one chunk of the response and the start of a line. A reader that is too slow
 * fills the socket, and the server ends the watch.
 *
 * A chunk may end anywhere, also inside a character. So only whole lines are decoded; the rest stays bytes until its end
 * arrives. Worked example: the chunks `{"a":1}\n{"b` and `":2}\n` give the lines `{"a":1}` and `{"b":2}`.
 *
 * Invariants: events come in the order of the server; a line that cannot be decoded breaks the stream and is never
 * skipped; a stream that ended stays ended; an incomplete line is never longer than `lineBytesMax`.
 */
import { isUtf8 } from 'node:buffer'
import { fromStatus, isJsonObject, type ApiError, type JsonObject, type KubeObject, parseJson } from '#api'
import { abortable } from '#base'
import { ConnectionError, isConnectionError } from './connection-error.ts'
import type { ResponseStream } from './rest-client.ts'

interface WatchStreamOptions<T extends KubeObject> {
  readonly begin: () => Promise<ResponseStream>
  readonly finish: (object: JsonObject) => T
  readonly lineBytesMax: number
}

export class WatchStream<T extends KubeObject> implements AsyncIterableIterator<WatchEvent<T>> {
  readonly #options: WatchStreamOptions<T>
  readonly #lines: LineSplitter
  #stream: Promise<ResponseStream> | undefined
  #batch: readonly WatchEvent<T>[] = []
  #next = 0
  #ended = false

  constructor(options: WatchStreamOptions<T>) {
    this.#options = options
    this.#lines = new LineSplitter(options.lineBytesMax)
  }

  /**
   * Sends the request, if that has not been done, and waits until the server accepts it. Reading does this by itself.
   *
   * @throws {ApiError} when the server refuses: `Expired`, when the start version is too old.
   */
  async open(): Promise<void> {
    await this.#opened()
  }

  /** The next event. */
  async next(): Promise<IteratorResult<WatchEvent<T>, undefined>> {
    while (this.#next >= this.#batch.length) {
      const batch = await this.nextBatch()
      if (batch === undefined) return { done: true, value: undefined }
      this.#batch = batch
      this.#next = 0
    }
    return { done: false, value: this.#batch[this.#next++] as WatchEvent<T> }
  }

  /**
   * All events that have arrived together, at least one; undefined at the end. For readers with many events at a time:
   * use either this, or {@link nextLines}, or the iterator.
   */
  async nextBatch(): Promise<readonly WatchEvent<T>[] | undefined> {
    for (;;) {
      const batch = await this.#guarded(async (stream) => {
        const runs = await this.#read(stream)
        return runs?.flatMap(textLines).map((line) => readEvent(line, this.#options.finish))
      })
      if (batch === undefined || batch.length > 0) return batch
    }
  }

  /**
   * The lines that have arrived together: runs of lines with a newline between them; undefined at the end. For readers
   * that decide for themselves what to parse. The bytes are valid until the next call, and must not be changed.
   */
  nextLines(): Promise<readonly Buffer[] | undefined> {
    return this.#guarded((stream) => this.#read(stream))
  }

  /** Ends the watch: releases the connection and ends a pending read. */
  async return(): Promise<IteratorResult<WatchEvent<T>, undefined>> {
    this.#ended = true
    this.#batch = []
    this.#next = 0
    if (this.#stream) {
      const stream = await this.#stream.catch(() => undefined)
      if (stream) this.#leave(stream)
    }
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Reads, and releases the connection at the end and after every error. */
  async #guarded<R>(read: (stream: ResponseStream) => Promise<R | undefined>): Promise<R | undefined> {
    if (this.#ended) return undefined
    const stream = await this.#opened()
    try {
      const result = await read(stream)
      if (result === undefined) this.#leave(stream)
      return result
    } catch (error) {
      const [hasLeft, isAborted] = [this.#ended, stream.signal.aborted]
      this.#leave(stream)
      if (hasLeft) return undefined
      throw isAborted ? stream.signal.reason : broken(error)
    }
  }

  /** The lines that complete next; undefined at the end. */
  async #read(stream: ResponseStream): Promise<readonly Buffer[] | undefined> {
    for (;;) {
      const { done, value } = await abortable(stream.pieces.next(), { signal: stream.signal })
      if (done && this.#lines.partial)
        throw new ConnectionError('the watch was cut off in the middle of a line', { problem: 'reset' })
      if (done) return undefined
      const runs = this.#lines.push(value)
      if (runs.length > 0) return runs
    }
  }

  #opened(): Promise<ResponseStream> {
    this.#stream ??= this.#options.begin()
    return this.#stream
  }

  #leave(stream: ResponseStream): void {
    this.#ended = true
    stream.close()
    // Do not wait for the server; the signal has aborted the request.
    Promise.resolve(stream.pieces.return?.()).catch(() => undefined)
  }
}

/** A stream that breaks is a connection problem, whatever the error says. */
function broken(error: unknown): ConnectionError {
  if (isConnectionError(error)) return error
  const why = error instanceof Error ? error.message : String(error)
  return new ConnectionError(`the watch was cut off: ${why}`, { problem: 'reset', cause: error })
}

/** A change of one object, or of the watch itself. */
export type WatchEvent<T extends KubeObject> = ChangeEvent<T> | BookmarkEvent | ErrorEvent

interface ChangeEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The object after the change; for `DELETED` its last state. */
  readonly object: T
}

/** Nothing changed up to this version: a watch may continue from here. */
interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  readonly resourceVersion: string
  /** All initial objects were sent (`sendInitialEvents`). */
  readonly initialEventsEnd: boolean
}

/** The server ends this watch; with reason `Expired` a new list is needed. */
interface ErrorEvent {
  readonly type: 'ERROR'
  readonly error: ApiError
}

/**
 * Reads one line.
 *
 * @throws {ConnectionError} `garbled`, when the line is no event: then the rest of the watch cannot be trusted.
 */
function readEvent<T extends KubeObject>(line: string, finish: (object: JsonObject) => T): WatchEvent<T> {
  const { type, object } = parseWatchLine(line)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isJsonObject(object['metadata'])) throw invalidWatchLine(line)
      return { type, object: finish(object) }
    case 'BOOKMARK':
      return readBookmark(object, line)
    case 'ERROR':
      return { type, error: fromStatus(object) }
    default:
      throw invalidWatchLine(line)
  }
}

function readBookmark({ metadata }: JsonObject, line: string): BookmarkEvent {
  if (!isJsonObject(metadata) || typeof metadata['resourceVersion'] !== 'string') throw invalidWatchLine(line)
  const { annotations } = metadata
  const initialEventsEnd = isJsonObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true'
  return { type: 'BOOKMARK', resourceVersion: metadata['resourceVersion'], initialEventsEnd }
}

/** The two parts of a line of a watch. @throws {ConnectionError} for a line that is no event. */
export function parseWatchLine(line: string): { readonly type: unknown; readonly object: JsonObject } {
  let value: unknown
  try {
    value = parseJson(line)
  } catch (cause) {
    throw invalidWatchLine(line, cause)
  }
  if (!isJsonObject(value) || !isJsonObject(value['object'])) throw invalidWatchLine(line)
  return { type: value['type'], object: value['object'] }
}

/** The error for a line that is no event. */
export function invalidWatchLine(line: string, cause?: unknown): ConnectionError {
  return new ConnectionError(`the watch has a line that is no event: ${JSON.stringify(line.slice(0, 80))}`, {
    problem: 'garbled',
    cause,
  })
}

const newline = 0x0a

export class LineSplitter {
  readonly #lineBytesMax: number
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  constructor(lineBytesMax: number) {
    if (!(lineBytesMax > 0)) throw new RangeError(`lineBytesMax must be above 0, got ${lineBytesMax}`)
    this.#lineBytesMax = lineBytesMax
  }

  /** Whether an incomplete line is held. */
  get partial(): boolean {
    return this.#waitingBytes > 0
  }

  /**
   * Adds a chunk and returns the lines that are complete now: runs of lines with a newline between them, none when no line
   * is complete. They may be parts of the chunk itself: they are valid as long as the chunk is, and must not be changed.
   *
   * @throws {ConnectionError} `garbled`, when a line is too long or not UTF-8.
   */
  push(piece: Uint8Array): readonly Buffer[] {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const end = bytes.lastIndexOf(newline)
    if (end < 0) {
      this.#wait(bytes)
      return []
    }
    const runs: Buffer[] = []
    let start = 0
    if (this.partial) {
      start = bytes.indexOf(newline) + 1
      runs.push(Buffer.concat([...this.#waiting, bytes.subarray(0, start - 1)]))
      this.#waiting = []
      this.#waitingBytes = 0
    }
    if (start < end) runs.push(bytes.subarray(start, end))
    if (end + 1 < bytes.length) this.#wait(bytes.subarray(end + 1))
    if (!runs.every((run) => isUtf8(run)))
      throw new ConnectionError('the watch has a line that is not UTF-8: it cannot be trusted any more', {
        problem: 'garbled',
      })
    return runs
  }

  #wait(piece: Uint8Array): void {
    this.#waitingBytes += piece.byteLength
    if (this.#waitingBytes > this.#lineBytesMax) {
      throw new ConnectionError(
        `the watch has a line of more than ${this.#lineBytesMax} bytes: no object is that large`,
        { problem: 'garbled' },
      )
    }
    // A copy (`slice` of a Buffer is none): the memory of the chunk may be used again.
    this.#waiting.push(new Uint8Array(piece))
  }
}

/** The lines of some bytes, without empty ones. */
export function textLines(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
}
