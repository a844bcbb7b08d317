/**
 * A gRPC call with messages both ways, read at the pace of its reader.
 *
 * Invariants: messages come in order; while nobody reads, the sender is held back by HTTP/2's
 * flow control and not by a queue of ours; the loop ends with what the server said, with an
 * `RpcError`, or with the signal's reason; leaving the loop ends the call.
 */
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { onAbort, type AbortOptions } from '#base'
import { StoreError } from '../store.ts'
import { ProtobufError, type ProtobufWriter } from './protobuf.ts'

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

/*
 * How gRPC cuts a stream of bytes into messages: a flag, four bytes of length, the message.
 *
 * Invariant: however the bytes were cut on their way, the same messages come out, each once,
 * in order; a message is copied at most once.
 */

const prefixBytes = 5

/** Nothing that etcd sends comes near; what claims to be longer is not gRPC. */
const messageBytesMax = 2 ** 30

export class GrpcFrameReader {
  #held: Uint8Array[] = []
  #size = 0
  #needed = prefixBytes

  /** Takes what arrived and gives the messages that are now whole. */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#held.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return []

    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    const messages: Uint8Array[] = []
    let at = 0
    for (let size = frameBytes(bytes, at); at + size <= bytes.length; size = frameBytes(bytes, at)) {
      messages.push(bytes.subarray(at + prefixBytes, at + size))
      at += size
    }
    this.#needed = frameBytes(bytes, at)
    this.#size = bytes.length - at
    this.#held = this.#size === 0 ? [] : [bytes.subarray(at)]
    return messages
  }
}

/** How many bytes the frame at this place has with its prefix, or at least has as far as can be seen. */
function frameBytes(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < prefixBytes) return prefixBytes
  if (bytes[at] !== 0) throw new ProtobufError('a compressed message, which was not asked for')
  const size = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0)
  if (size > messageBytesMax) throw new ProtobufError(`a message of ${size} bytes`)
  return prefixBytes + size
}

/*
 * A call that did not work, and what that means for the call: whether the server may have
 * carried it out all the same, and whether to try it again.
 *
 * Invariant: a call is certain not to have happened only if the server said so in an answer that
 * it gives before it acts, or if nothing was sent. Everything else is uncertain.
 */

/** The codes of gRPC, each at the place of its number. */
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

/** An answer with one of these was given before the request was acted upon. */
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

/** What etcd says before it looks at a request, under a code that also stands for what goes wrong later. */
const refusedTexts = ['etcdserver: no leader', 'etcdserver: not capable', 'not supported for learner']

interface RpcErrorOptions {
  readonly isUncertain: boolean
  readonly cause?: unknown
}

export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcCode
  /** The server may have done what it was asked. */
  readonly isUncertain: boolean

  constructor(code: RpcCode, message: string, { isUncertain, cause }: RpcErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.isUncertain = isUncertain
  }

  /** Another try, perhaps at another server, may go better. */
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

  /** The token is too old; log in again. */
  get isLoginOver(): boolean {
    return this.says('invalid auth token') || this.says('revision of auth store is old')
  }

  /** etcd tells its errors apart by their texts. */
  says(text: string): boolean {
    return this.message.includes(text)
  }
}

/** The error that trailers (or headers, when there is nothing else) speak of; nothing when all went well. */
export function errorOf(headers: IncomingHttpHeaders): RpcError | undefined {
  const status = Number(headers['grpc-status'] ?? 2)
  if (status === 0) return undefined
  const code = codes[status] ?? 'Unknown'
  const message = decodeText(String(headers['grpc-message'] ?? `HTTP status ${headers[':status']}`))
  return new RpcError(code, message, {
    isUncertain: !refusals.has(code) && !refusedTexts.some((text) => message.includes(text)),
  })
}

/** Nothing was sent, or it went nowhere. */
export function notSent(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: false, cause })
}

/** The connection died under a call. */
export function broken(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: true, cause })
}

/**
 * What the caller of the store is told about a failed call; anything but an {@link RpcError} stays as it is.
 *
 * @param what what was tried, to follow "etcd could not"
 */
export function toStoreError(error: unknown, what: string): unknown {
  if (!(error instanceof RpcError)) return error
  if (error.says('database space exceeded'))
    return new StoreError(
      'NoSpace',
      `etcd is full and could not ${what}; compact, defragment and clear its NOSPACE alarm, or raise its quota`,
      { cause: error },
    )
  if (error.says('request is too large') || error.says('larger than max'))
    return new StoreError(
      'TooLarge',
      `etcd takes no request this big and could not ${what}; write less at once, or raise its --max-request-bytes`,
      { cause: error },
    )
  if (error.code === 'PermissionDenied' || error.code === 'Unauthenticated')
    return new StoreError('Failed', `etcd did not let us ${what}: ${error.message}; check user, password and role`, {
      cause: error,
    })
  return new StoreError('Failed', `etcd could not ${what}: ${error.message}`, { cause: error })
}

/** gRPC writes what is not plain ASCII as %XX. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
