/**
 * A watch as a stream of events that its reader pulls.
 *
 *   new ──open──▶ open ──end of answer──▶ ended
 *                   └──broken, aborted, left──▶ ended (the connection is let go)
 *
 * Nothing is read ahead: what waits here is one piece of the answer and the beginning of a line. A reader that is too
 * slow fills the socket, and the server ends the watch. Invariants: events come in the order of the server; a line that
 * cannot be read breaks the stream and is never skipped; a stream that ended is ended for good.
 */
import { abortable } from '#base'
import type { JsonObject, KubeObject } from '#api'
import { ConnectionError, isConnectionError } from '../request/connection-error.ts'
import type { ResponseStream } from '../request/exchange.ts'
import { readEvent } from './event.ts'
import type { WatchEvent } from './event.ts'
import { LineSplitter, textLines } from './lines.ts'

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
   * Asks the server, if that has not been done, and waits until it agrees. Reading does this by itself.
   *
   * @throws {ApiError} when the server refuses: `Expired`, when the version to begin at is too old.
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
   * that decide for themselves what to parse. The bytes are lent until the next call, and must not be changed.
   */
  nextLines(): Promise<readonly Buffer[] | undefined> {
    return this.#guarded((stream) => this.#read(stream))
  }

  /** Ends the watch: the connection is let go, and whoever waits for an event is told that there is none. */
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

  /** Reads, and lets go of the connection at the end and whenever something goes wrong. */
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
    // Nobody waits for the other side to agree; it has been told by the signal.
    Promise.resolve(stream.pieces.return?.()).catch(() => undefined)
  }
}

/** A stream that breaks off is a connection problem, whoever says so. */
function broken(error: unknown): ConnectionError {
  if (isConnectionError(error)) return error
  const why = error instanceof Error ? error.message : String(error)
  return new ConnectionError(`the watch was cut off: ${why}`, { problem: 'reset', cause: error })
}
