/**
 * The way out of a connection or an HTTP/2 stream, with back-pressure.
 *
 * Invariants: nobody writes on while the other side does not read; whoever waits for room learns when there is some, or that
 * there will be none; one listener each for `drain` and `close`, however much is written.
 */
import type { Writable } from 'node:stream'
import { deferred } from '#base'
import type { Clock, Deferred } from '#base'

/** How much of a body goes out before we look whether the other side reads. */
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

  /** True when somebody has waited for room since before the given moment. */
  isStalledSince(atMs: number): boolean {
    return this.#stalledAtMs <= atMs
  }

  /** Resolves false when there will never be room again. */
  waitForRoom(): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false)
    if (!this.#stream.writableNeedDrain) return Promise.resolve(true)
    this.#stalledAtMs = this.#clock.monotonic()
    this.#waiting ??= deferred<boolean>()
    return this.#waiting.promise
  }

  /** Sends pieces that are all there; resolves false when the other side went. */
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
   * Sends what comes, each piece as it comes; resolves false when the other side went, and then leaves the loop over the body.
   *
   * @throws whatever the body throws.
   */
  async sendStream(body: AsyncIterable<Uint8Array>, frame: (piece: Uint8Array) => Uint8Array): Promise<boolean> {
    const iterator = body[Symbol.asyncIterator]()
    this.#onClose = () => {
      iterator.return?.().catch(() => undefined)
    }
    if (this.#isClosed) this.#onClose()
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
    }
  }

  #settle(hasRoom: boolean): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#stalledAtMs = Number.POSITIVE_INFINITY
    waiting?.resolve(hasRoom)
  }
}
