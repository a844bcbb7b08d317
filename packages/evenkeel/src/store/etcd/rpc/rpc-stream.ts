/**
 * A gRPC call with messages both ways, read at the pace of its reader.
 *
 * Invariants: messages come in order; while nobody reads, the sender is held back by HTTP/2's
 * flow control and not by a queue of ours; the loop ends with what the server said, with an
 * `RpcError`, or with the signal's reason; leaving the loop ends the call.
 */
import { constants } from 'node:http2'
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { onAbort } from '#base'
import type { AbortOptions } from '#base'
import { GrpcFrameReader } from './frames.ts'
import type { ProtobufWriter } from './protobuf.ts'
import { errorOf } from './rpc-error.ts'
import type { RpcError } from './rpc-error.ts'

interface RpcStreamOptions extends AbortOptions {
  /** Called for everything that arrives. */
  onHeard: () => void
  /** What to throw when the stream ends without a word from the server. */
  lost: (error: unknown) => RpcError
}

export class RpcStream implements AsyncIterable<Uint8Array> {
  readonly #stream: ClientHttp2Stream
  readonly #signal: AbortSignal | undefined
  readonly #onHeard: () => void
  readonly #lost: (error: unknown) => RpcError
  #status: IncomingHttpHeaders | undefined
  #unsent = 0
  #isClosing = false

  constructor(stream: ClientHttp2Stream, { signal, onHeard, lost }: RpcStreamOptions) {
    this.#stream = stream
    this.#signal = signal
    this.#onHeard = onHeard
    this.#lost = lost
    const stop = onAbort(signal, () => {
      this.close()
    })
    stream.on('response', (headers) => {
      if ('grpc-status' in headers || headers[':status'] !== 200) this.#status = headers
    })
    stream.on('trailers', (headers) => {
      this.#status ??= headers
    })
    stream.on('error', () => undefined)
    stream.on('close', stop)
  }

  /** Sends a message; one that comes too late is dropped. */
  send(message: ProtobufWriter): void {
    if (this.#isClosing || this.#stream.destroyed || this.#stream.writableEnded) return
    this.#unsent++
    this.#stream.write(message.frame(), () => {
      if (--this.#unsent === 0 && this.#isClosing) this.#reset()
    })
  }

  /**
   * Ends the call, once what was sent is on its way: when a stream is reset that still has something
   * to send, Node 20 loops for ever and eats all memory, and Node 26 aborts.
   */
  close(): void {
    this.#isClosing = true
    if (this.#unsent === 0) this.#reset()
  }

  #reset(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
    this.#stream.destroy()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = new GrpcFrameReader()
    try {
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        this.#onHeard()
        yield* reader.push(chunk)
      }
    } catch (error) {
      this.#signal?.throwIfAborted()
      throw (this.#status && errorOf(this.#status)) ?? this.#lost(error)
    } finally {
      this.close()
    }
    this.#signal?.throwIfAborted()
    const error = this.#status ? errorOf(this.#status) : this.#lost(undefined)
    if (error) throw error
  }
}
