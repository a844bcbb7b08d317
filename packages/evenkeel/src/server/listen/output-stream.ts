/**
 * The output of a connection or an HTTP/2 stream, with backpressure.
 *
 * Invariants: a writer waits while the client does not read, and continues when there is buffer space or the stream has
 * closed. There is one listener each for `drain` and `close`, however much is written.
 */
import type { Writable } from 'node:stream'
import { deferred } from '#base'
import type { Clock, Deferred } from '#base'

/** How much of a body is written before a check of the backpressure. */
const burstBytes = 262_144

export class OutputStream {
  readonly #stream: Writable
  readonly #clock: Clock
  #isClosed = false
  #waiting: Deferred<boolean> | undefined
  #stalledAtMs = Number.POSITIVE_INFINITY
  #onClose: (() => void) | undefined

  constructor(stream: Writable, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    stream.on('drain', () => {
      this.#settle(true)
    })
    stream.on('close', () => {
      this.#isClosed = true
      this.#settle(false)
      this.#onClose?.()
    })
  }

  get isOpen(): boolean {
    return !this.#isClosed && !this.#stream.destroyed && !this.#stream.writableEnded
  }

  /** True when a writer has waited for buffer space since before the given time. */
  isStalledSince(atMs: number): boolean {
    return this.#stalledAtMs <= atMs
  }

  /** Resolves false when the stream has closed. */
  waitForRoom(): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false)
    if (!this.#stream.writableNeedDrain) return Promise.resolve(true)
    this.#stalledAtMs = this.#clock.monotonic()
    this.#waiting ??= deferred<boolean>()
    return this.#waiting.promise
  }

  /** Sends complete pieces; resolves false when the client disconnected. */
  async sendAll(pieces: readonly Uint8Array[]): Promise<boolean> {
    let bytes = 0
    this.#stream.cork()
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += burstBytes) {
        const part = piece.subarray(at, at + burstBytes)
        this.#stream.write(part)
        bytes += part.length
        if (bytes < burstBytes) continue
        if (!(await this.#flush())) return false
        bytes = 0
        this.#stream.cork()
      }
    }
    return this.#flush()
  }

  #flush(): Promise<boolean> {
    this.#stream.uncork()
    return this.waitForRoom()
  }

  /**
   * Sends each piece of a stream as it arrives; resolves false when the client disconnected, and then ends the loop
   * over the body.
   *
   * @throws the errors of the body.
   */
  async sendStream(body: AsyncIterable<Uint8Array>, frame: (piece: Uint8Array) => Uint8Array): Promise<boolean> {
    const iterator = body[Symbol.asyncIterator]()
    const leave = (): void => {
      iterator.return?.().catch(() => undefined)
    }
    this.#onClose = leave
    if (this.#isClosed) leave()
    try {
      for (;;) {
        const next = await iterator.next()
        if (next.done === true) return this.isOpen
        if (!this.isOpen) return false
        // An empty chunk would mean the end.
        if (next.value.length === 0) continue
        if (!this.#stream.write(frame(next.value)) && !(await this.waitForRoom())) return false
      }
    } finally {
      this.#onClose = undefined
      // A stream is destroyed or ended some turns before it is closed: the timers of a watch must not outlive it.
      leave()
    }
  }

  #settle(hasRoom: boolean): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#stalledAtMs = Number.POSITIVE_INFINITY
    waiting?.resolve(hasRoom)
  }
}
