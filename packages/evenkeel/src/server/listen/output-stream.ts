/**
 * The output of a connection or an HTTP/2 stream, with backpressure.
 *
 * Invariants: a writer waits while the client does not read, and continues when there is buffer space or the stream has
 * closed. A long piece is written in bursts, because TLS encrypts all of a write at once: a thousand watchers of one
 * large event hold a thousand bursts and not a thousand events. There is one listener each for `drain` and `close`, however much is written.
 */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { deferred } from '#base'
import type { Clock, Deferred } from '#base'
import type { OutputPace } from './turn-budget.ts'
import type { PendingOutput, StalledOutput } from './pending-output.ts'

interface OutputStreamOptions {
  readonly clock: Clock
  /** Counts what waits for slow clients, of all streams. */
  readonly pending?: PendingOutput | undefined
  /** Spreads the writes of all streams over turns. */
  readonly pace?: OutputPace | undefined
}

/** How much of a body is written before a check of the backpressure. */
const burstBytes = 262_144
/** The same for a stream, of which there may be thousands. */
const streamBurstBytes = 65_536

export class OutputStream {
  readonly #stream: Writable
  readonly #clock: Clock
  #isClosed = false
  readonly #pending: PendingOutput | undefined
  readonly #pace: OutputPace | undefined
  #waiting: Deferred<boolean> | undefined
  #stalled: StalledOutput | undefined
  #onClose: (() => void) | undefined

  constructor(stream: Writable, { clock, pending, pace }: OutputStreamOptions) {
    this.#stream = stream
    this.#clock = clock
    this.#pending = pending
    this.#pace = pace
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
    return this.#stalled !== undefined && this.#stalled.stalledAtMs <= atMs
  }

  /** Resolves false when the stream has closed. */
  waitForRoom(): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false)
    if (!this.#stream.writableNeedDrain) return Promise.resolve(true)
    this.#waiting ??= deferred<boolean>()
    this.#stall()
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
        await this.#pace?.take(bytes)
        if (!this.isOpen) return false
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
        const sending = this.#sendPiece(frame(next.value))
        if (!(sending === true || (await sending))) return false
      }
    } finally {
      this.#onClose = undefined
      // A stream is destroyed or ended some turns before it is closed: the timers of a watch must not outlive it.
      leave()
    }
  }

  #sendPiece(piece: Uint8Array): true | Promise<boolean> {
    if (piece.length > streamBurstBytes) return this.#sendLong(piece)
    const turn = this.#pace?.take(piece.length)
    return turn ? this.#sendLater(turn, piece) : this.#stream.write(piece) || this.waitForRoom()
  }

  async #sendLater(turn: Promise<void>, piece: Uint8Array): Promise<boolean> {
    await turn
    return this.isOpen && (this.#stream.write(piece) || this.waitForRoom())
  }

  /** Resolves when all of it has left: its memory may be used again for the next piece. */
  async #sendLong(piece: Uint8Array): Promise<boolean> {
    const last = Math.floor((piece.length - 1) / streamBurstBytes) * streamBurstBytes
    for (let at = 0; at < last; at += streamBurstBytes) {
      await this.#pace?.take(streamBurstBytes)
      if (!this.isOpen) return false
      const hasRoom = this.#stream.write(piece.subarray(at, at + streamBurstBytes))
      if (!hasRoom && !(await this.waitForRoom())) return false
    }
    await this.#pace?.take(piece.length - last)
    if (!this.isOpen) return false
    return new Promise((resolve) => {
      this.#stream.write(piece.subarray(last), () => {
        this.#settle(true)
        resolve(this.isOpen)
      })
      this.#stall()
    })
  }

  /** From now on the client is waited for. */
  #stall(): void {
    if (this.#stalled) return
    this.#stalled = {
      stalledAtMs: this.#clock.monotonic(),
      bytes: this.#stream.writableLength,
      disconnect: () => {
        this.#stream.destroy(new Error('the client does not read, and all such clients hold too much'))
      },
    }
    this.#pending?.add(this.#stalled)
  }

  #settle(hasRoom: boolean): void {
    const waiting = this.#waiting
    const stalled = this.#stalled
    this.#waiting = this.#stalled = undefined
    if (stalled) this.#pending?.remove(stalled)
    waiting?.resolve(hasRoom)
  }
}

/** Reads no more from a socket until the other end of its tunnel has room. */
export function pauseUntil(ready: Promise<unknown>, socket: Socket): void {
  socket.pause()
  void ready.then(() => socket.resume())
}
