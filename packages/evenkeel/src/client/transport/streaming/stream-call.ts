/**
 * One request whose answer goes on, from a socket that is being connected to its last byte.
 *
 *   connecting ──connected──▶ asked ──head──▶ answering ──end of the answer──▶ over
 *       └──────────failed, aborted, left, too late──────────────────────────────┘
 *
 * Invariants: however it ends, the socket is destroyed and no timer or listener of ours is left; what came before the
 * connection broke is given before the error, but nothing is given after an abort.
 */
import type { Socket } from 'node:net'
import { deferred, onAbort } from '#base'
import type { Cancel, Clock } from '#base'
import type { WireResponse } from '#wire'
import { ResponseParser } from './answer-reader.ts'
import { ChunkBuffer } from './pieces.ts'

/** What takes the bytes of a socket. */
export interface SocketSink {
  /** Where to read the next bytes to; asked for at the beginning and after every `onBytes`. */
  readonly space: () => Buffer
  /** The beginning of the space is filled. */
  readonly onBytes: (bytes: Buffer) => void
}

interface StreamCallOptions {
  /** Begins to connect; bytes that arrive are handed on. */
  readonly open: (intake: SocketSink) => Socket
  /** Calls back when the request may go out. */
  readonly onConnected: (socket: Socket, callback: () => void) => void
  /** The head of the request, as it goes out. */
  readonly text: string
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Whether the reader is done with a piece when it asks for the next. */
  readonly isLent: boolean
  /** What a reader is told about an error of the socket. */
  readonly explain: (error: unknown) => unknown
}

export class StreamCall {
  readonly #options: StreamCallOptions
  readonly #answered = deferred<WireResponse>()
  readonly #socket: Socket
  readonly #pieces: ChunkBuffer
  readonly #reader: ResponseParser
  readonly #stopHearing: Cancel

  constructor(options: StreamCallOptions) {
    const { open, onConnected, text, signal, clock, isLent } = options
    this.#options = options
    const pieces = (this.#pieces = new ChunkBuffer({
      clock,
      onFull: () => {
        socket.pause()
      },
      onRoom: () => {
        socket.resume()
      },
      onLeft: () => {
        socket.destroy()
      },
    }))
    const socket = (this.#socket = open({
      space: () => pieces.space(),
      onBytes: (bytes) => {
        this.#read(bytes)
      },
    }))
    this.#reader = new ResponseParser({
      onHead: ({ status, headers }) => {
        // Who reads a refusal keeps all of it.
        if (status >= 300) pieces.keepAll()
        this.#answered.resolve({ status, headers, body: pieces })
      },
      onData: (bytes) => {
        pieces.push(bytes)
      },
    })
    if (!isLent) pieces.keepAll()
    this.#stopHearing = onAbort(signal, (reason) => {
      this.#abort(reason)
    })
    onConnected(socket, () => {
      socket.write(text, 'latin1')
    })
    socket.on('error', (error) => {
      this.#fail(error)
    })
    socket.on('end', () => {
      this.#attempt(() => {
        this.#reader.end()
      })
    })
    socket.on('close', () => {
      this.#onClose()
    })
  }

  /** The head of the answer, and its body as pieces that are lent. */
  get answered(): Promise<WireResponse> {
    return this.#answered.promise
  }

  #read(bytes: Buffer): void {
    this.#attempt(() => {
      this.#reader.feed(bytes)
    })
    if (this.#reader.isDone) this.#pieces.end()
  }

  #attempt(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(cause: unknown): void {
    const error = this.#options.explain(cause)
    this.#answered.reject(error)
    this.#pieces.end({ error })
    this.#socket.destroy()
  }

  #abort(reason: unknown): void {
    this.#answered.reject(reason)
    this.#pieces.fail(reason)
    this.#socket.destroy()
  }

  #onClose(): void {
    this.#stopHearing()
    if (this.#reader.isDone) this.#pieces.end()
    else this.#fail(new Error('the other side closed the connection'))
  }
}
