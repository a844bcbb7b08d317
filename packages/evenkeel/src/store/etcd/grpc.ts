/**
 * gRPC on HTTP/2: bidirectional streams, message framing, and errors.
 *
 * A message is one flag byte, a length of four bytes, and the payload. Example: the empty message is
 * `00 00000000`, and the field 1 = 3 is `00 00000002 08 03`.
 *
 * Invariants: a stream delivers messages in order, at the pace of its reader; HTTP/2 flow control
 * holds the sender back, not a queue of ours; the loop over a stream ends with the status of the
 * server, an {@link RpcError} or the reason of the signal, and leaving the loop ends the call;
 * however the bytes were split in transit, the same messages come out, each once, in order.
 *
 * An error says whether the server may have carried out the call, and whether to retry it. A call is
 * certain not to have happened only if the server refused it with a status that it returns before it
 * acts, or if nothing was sent. Every other failure is uncertain.
 */
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { onAbort, type AbortOptions } from '#base'
import { StoreError } from '../store.ts'
import { ProtobufError, type ProtobufWriter } from './protobuf.ts'

interface RpcStreamOptions extends AbortOptions {
  /** Called for every chunk of data. */
  onData: () => void
  /** The error of a stream that ends without a status. */
  lost: (error: unknown) => RpcError
}

export class RpcStream implements AsyncIterable<Uint8Array> {
  readonly #stream: ClientHttp2Stream
  readonly #signal: AbortSignal | undefined
  readonly #onData: () => void
  readonly #lost: (error: unknown) => RpcError
  #status: IncomingHttpHeaders | undefined
  #unsent = 0
  #isClosing = false

  constructor(stream: ClientHttp2Stream, { signal, onData, lost }: RpcStreamOptions) {
    this.#stream = stream
    this.#signal = signal
    this.#onData = onData
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

  /** Sends a message; drops it when the stream is closed. */
  send(message: ProtobufWriter): void {
    if (this.#isClosing || this.#stream.destroyed || this.#stream.writableEnded) return
    this.#unsent++
    this.#stream.write(message.frame(), () => {
      if (--this.#unsent === 0 && this.#isClosing) this.#reset()
    })
  }

  /**
   * Ends the call, after all pending messages are sent: when a stream with pending data is reset,
   * Node 20 loops until it runs out of memory, and Node 26 aborts.
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
        this.#onData()
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

const prefixBytes = 5

/** Far above any message of etcd; a larger length means that the bytes are not gRPC. */
const messageBytesMax = 2 ** 30

/** Splits a stream of bytes into messages; copies a message at most once. */
export class GrpcFrameReader {
  #chunks: Uint8Array[] = []
  #size = 0
  #needed = prefixBytes

  /** Adds a chunk and returns the messages that are complete now. */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return []

    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const messages: Uint8Array[] = []
    let at = 0
    for (let size = frameBytes(bytes, at); at + size <= bytes.length; size = frameBytes(bytes, at)) {
      messages.push(bytes.subarray(at + prefixBytes, at + size))
      at += size
    }
    this.#needed = frameBytes(bytes, at)
    this.#size = bytes.length - at
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(at)]
    return messages
  }
}

/** The length of the message at an offset, with its prefix; the length of the prefix while that is incomplete. */
function frameBytes(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < prefixBytes) return prefixBytes
  if (bytes[at] !== 0) throw new ProtobufError('received a compressed gRPC message, which was not requested')
  const size = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0)
  if (size > messageBytesMax)
    throw new ProtobufError(`received a gRPC message of ${size} bytes; the limit is ${messageBytesMax}`)
  return prefixBytes + size
}

/** The gRPC status codes, indexed by number. */
const codes = [
  'Ok',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

type RpcCode = (typeof codes)[number]

/** Status codes that the server returns before it acts on a request. */
const refusals: ReadonlySet<RpcCode> = new Set([
  'InvalidArgument',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'OutOfRange',
  'Unimplemented',
  'Unauthenticated',
])

/** Messages that etcd returns before it acts on a request, with a code that it also uses for later failures. */
const refusedTexts = ['etcdserver: no leader', 'etcdserver: not capable', 'not supported for learner']

interface RpcErrorOptions {
  readonly isUncertain: boolean
  readonly cause?: unknown
}

/** A failed gRPC call. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcCode
  /** The server may have carried out the call. */
  readonly isUncertain: boolean

  constructor(code: RpcCode, message: string, { isUncertain, cause }: RpcErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.isUncertain = isUncertain
  }

  /** True when a retry, perhaps on another server, may succeed. */
  get isPassing(): boolean {
    return (
      this.code === 'Unavailable' ||
      this.code === 'DeadlineExceeded' ||
      this.code === 'Cancelled' ||
      this.code === 'Internal' ||
      this.says('too many requests') ||
      this.isLoginOver
    )
  }

  /** True when the authentication token is no longer valid; log in again. */
  get isLoginOver(): boolean {
    return this.says('invalid auth token') || this.says('revision of auth store is old')
  }

  /** etcd identifies its errors by their messages. */
  says(text: string): boolean {
    return this.message.includes(text)
  }
}

/** The error in the trailers (or headers of a trailers-only response); undefined for the status OK. */
export function errorOf(headers: IncomingHttpHeaders): RpcError | undefined {
  const status = Number(headers['grpc-status'] ?? 2)
  if (status === 0) return undefined
  const code = codes[status] ?? 'Unknown'
  const message = decodeText(String(headers['grpc-message'] ?? `HTTP status ${headers[':status']}`))
  return new RpcError(code, message, {
    isUncertain: !refusals.has(code) && !refusedTexts.some((text) => message.includes(text)),
  })
}

/** The error of a call that never reached a server. */
export function notSent(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: false, cause })
}

/** The error of a call whose connection broke. */
export function broken(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: true, cause })
}

/**
 * The `StoreError` for a failed call; any error but an {@link RpcError} is returned unchanged.
 *
 * @param what the attempted operation, as it follows "etcd could not"
 */
export function toStoreError(error: unknown, what: string): unknown {
  if (!(error instanceof RpcError)) return error
  if (error.says('database space exceeded'))
    return new StoreError(
      'NoSpace',
      `etcd could not ${what}: its database is full; compact, defragment and disarm the NOSPACE alarm, or raise the quota`,
      { cause: error },
    )
  if (error.says('request is too large') || error.says('larger than max'))
    return new StoreError(
      'TooLarge',
      `etcd could not ${what}: the request is too large; write fewer or smaller values, or raise --max-request-bytes of etcd`,
      { cause: error },
    )
  if (error.code === 'PermissionDenied' || error.code === 'Unauthenticated')
    return new StoreError(
      'Failed',
      `etcd denied permission to ${what}: ${error.message}; check user, password and role`,
      {
        cause: error,
      },
    )
  return new StoreError('Failed', `etcd could not ${what}: ${error.message}`, { cause: error })
}

/** Decodes the percent-encoding of `grpc-message`. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
