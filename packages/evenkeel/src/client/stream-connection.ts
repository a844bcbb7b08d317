/**
 * Streamed responses, each on its own connection: made for watches that deliver lists of a hundred thousand objects.
 *
 *   connecting ──connected──▶ requested ──head──▶ responding ──end of the response──▶ ended
 *       └──────────failed, aborted, closed, too late────────────────────────────────────┘
 *
 * A general HTTP library makes a buffer, a stream event and a promise of every 16 KiB, which takes longer than decrypting
 * them. Here a socket reads directly into the reader's buffer, and what arrives in one turn is one chunk. Connections are
 * not used again: a watch lasts minutes. Redirects are not followed, nothing is compressed.
 *
 * Invariants: no byte is sent before the certificate of the server was checked; however it ends, the socket is destroyed
 * and no timer or listener of ours is left; data that arrived before the connection broke is delivered before the error,
 * but nothing is delivered after an abort.
 */
import type { Socket } from 'node:net'
import { deferred, onAbort, SystemClock, type Cancel, type Clock } from '#base'
import type { WireResponse } from '#wire'
import { ChunkBuffer } from './chunk-buffer.ts'
import type { Dialer } from './dialer.ts'
import { formatRequestHead } from './request-head.ts'
import { ResponseParser } from './response-parser.ts'

interface StreamConnectionsOptions {
  readonly dialer: Dialer
  /** Turns an error of a socket into the error for the reader. */
  readonly explain: (error: unknown) => unknown
}

interface StreamRequest {
  readonly method: string
  readonly target: string
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly signal: AbortSignal
  /** Whether a chunk is valid only until the next is requested. */
  readonly isLent: boolean
}

export class StreamConnections {
  readonly #options: StreamConnectionsOptions
  readonly #clock = new SystemClock()

  constructor(options: StreamConnectionsOptions) {
    this.#options = options
  }

  /**
   * Sends the request and resolves with the head of the response; its body comes in chunks.
   *
   * @throws {RangeError} when a part of the request would break its line.
   */
  async request(request: StreamRequest): Promise<WireResponse> {
    const { dialer, explain } = this.#options
    const text = formatRequestHead(request, { host: dialer.host, connection: 'close' })
    const open = ({ space, onBytes }: SocketSink): Socket =>
      dialer.dial({
        onread: {
          buffer: space,
          callback(count, bytes) {
            onBytes((bytes as Buffer).subarray(0, count))
            return true
          },
        },
      })
    const onConnected = (socket: Socket, callback: () => void): void => {
      dialer.onConnected(socket, callback)
    }
    return await new StreamCall({
      open,
      onConnected,
      text,
      isLent: request.isLent,
      signal: request.signal,
      clock: this.#clock,
      explain,
    }).answered
  }

  /** Resolves when no response is active any more. */
  close(): Promise<void> {
    return this.#options.dialer.closed()
  }

  /** Cuts off active responses. */
  destroy(): void {
    this.#options.dialer.destroy()
  }
}

/** Takes the bytes of a socket. */
interface SocketSink {
  /** Where to read the next bytes to; called at the start and after every `onBytes`. */
  readonly space: () => Buffer
  /** The start of the space is filled. */
  readonly onBytes: (bytes: Buffer) => void
}

interface StreamCallOptions {
  /** Starts to connect; arriving bytes go to the reader. */
  readonly open: (intake: SocketSink) => Socket
  /** Calls back when the request may be sent. */
  readonly onConnected: (socket: Socket, callback: () => void) => void
  /** The head of the request. */
  readonly text: string
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Whether a chunk is valid only until the next is requested. */
  readonly isLent: boolean
  /** Turns an error of the socket into the error for the reader. */
  readonly explain: (error: unknown) => unknown
}

class StreamCall {
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
        // The reader of a refusal keeps all of it.
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

  /** The head of the response, and its body as chunks. */
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
    else this.#fail(new Error('the server closed the connection'))
  }
}
