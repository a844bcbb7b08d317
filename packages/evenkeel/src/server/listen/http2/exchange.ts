/**
 * One request on an HTTP/2 connection, and its response.
 *
 * Invariants: the client's leaving aborts the signal and leaves the loop over the response; a response that cannot be
 * finished is reset, never ended as if it were whole; a stream is never reset while something that could be sent is on its way, because then
 * Node 20 loops for ever and Node 26 aborts. What the client does not take for a while is not on its way.
 */
import { constants } from 'node:http2'
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { badRequest } from '#api'
import { deferred } from '#base'
import type { Deferred } from '#base'
import type { WireResponse } from '#wire'
import { BodyQueue } from '../body-queue.ts'
import type { ConnectionContext } from '../connection.ts'
import { HttpProtocolError } from '../http-refusal.ts'
import { OutputStream } from '../outlet.ts'
import { makeRequest, RequestLifetime } from '../request.ts'
import {
  bytesOf,
  describeRequest,
  failureResponse,
  fieldsToSend,
  isBodiless,
  isStreamed,
  piecesOf,
  release,
  textResponse,
} from '../response.ts'
import { convertHttp2Head } from './request-head.ts'

const never = Number.POSITIVE_INFINITY
const oneWriteBytesMax = 65_536
const nothing = Buffer.alloc(0)

export class Http2Exchange {
  readonly #stream: ServerHttp2Stream
  readonly #context: ConnectionContext
  readonly #outlet: OutputStream
  readonly #life = new RequestLifetime()
  #queue: BodyQueue | undefined
  #whole: Deferred<Uint8Array> | undefined
  #bodyDeadlineMs = never
  #resetAtMs = never
  #isAnswered = false

  constructor(stream: ServerHttp2Stream, context: ConnectionContext) {
    this.#stream = stream
    this.#context = context
    this.#outlet = new OutputStream(stream, context.clock)
    stream.on('error', () => undefined)
    stream.on('close', () => {
      this.#onClose()
    })
  }

  /** True when the whole response was handed over; before that a reset by the client is a cancelled request. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  expire(nowMs: number): void {
    const { limits } = this.#context
    if (nowMs >= this.#resetAtMs || this.#outlet.isStalledSince(nowMs - limits.writeStallMs))
      this.#stream.destroy(new Error('the client does not take its response'))
    if (nowMs < this.#bodyDeadlineMs) return
    this.#awaitBody()
    this.#whole?.reject(new HttpProtocolError(408, 'the request took too long to arrive'))
    if (this.#queue?.isWaitedFor === true) this.#queue.fail(badRequest('the body stopped arriving'))
  }

  async serve(raw: IncomingHttpHeaders, sent: readonly string[]): Promise<void> {
    const response = await this.#ask(raw, sent)
    if (this.#stream.destroyed || this.#stream.closed) {
      release(response.body)
      return
    }
    try {
      await this.#send(response, raw[':method'] ?? '')
      this.#finish()
    } catch (error) {
      this.#context.log.warn('a response was cut off', { path: raw[':path']?.split('?', 1)[0], error })
      release(response.body)
      this.#cut(error)
    }
  }

  async #ask(raw: IncomingHttpHeaders, sent: readonly string[]): Promise<WireResponse> {
    const { transport, peer, log } = this.#context
    try {
      const { method, target, headers, length } = convertHttp2Head(raw, sent)
      const body = this.#body(length)
      return await transport(
        makeRequest({ method, target, headers, body: body instanceof Promise ? await body : body, peer }, this.#life),
      )
    } catch (error) {
      if (error instanceof HttpProtocolError) return textResponse(error.status, error.message)
      log.error('a request failed', {
        ...describeRequest({ method: raw[':method'] ?? '', target: raw[':path'] ?? '' }),
        error,
      })
      return failureResponse(error)
    }
  }

  /** A small body in one piece, a longer one or one of unknown length in pieces. */
  #body(length: number | undefined): Promise<Uint8Array> | AsyncIterable<Uint8Array> | undefined {
    if (this.#stream.endAfterHeaders || length === 0) return undefined
    this.#awaitBody()
    return length !== undefined && length <= this.#context.limits.wholeBodyBytesMax ? this.#gather() : this.#openQueue()
  }

  /** HTTP/2 itself sees to it that no more comes than was said. */
  #gather(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    const whole = (this.#whole = deferred<Uint8Array>())
    this.#stream.on('data', (piece: Buffer) => {
      this.#awaitBody()
      pieces.push(piece)
    })
    this.#stream.on('end', () => {
      this.#bodyDeadlineMs = never
      const [first] = pieces
      whole.resolve(first && pieces.length === 1 ? first : Buffer.concat(pieces))
    })
    return whole.promise
  }

  #openQueue(): BodyQueue {
    const stream = this.#stream
    const queue = (this.#queue = new BodyQueue({
      bytesMax: this.#context.limits.wholeBodyBytesMax,
      onRoom: () => {
        stream.resume()
      },
    }))
    stream.on('data', (piece: Buffer) => {
      this.#awaitBody()
      if (!queue.push(piece)) stream.pause()
    })
    stream.on('end', () => {
      this.#bodyDeadlineMs = never
      queue.end()
    })
    return queue
  }

  #awaitBody(): void {
    this.#bodyDeadlineMs = this.#context.clock.monotonic() + this.#context.limits.bodyIdleMs
  }

  async #send(response: WireResponse, method: string): Promise<void> {
    const stream = this.#stream
    const { body, status } = response
    const pieces = isStreamed(body) ? undefined : piecesOf(body)
    const isWithout = isBodiless(method, status)
    const isLengthTold = pieces !== undefined && (!isWithout || (method === 'HEAD' && body !== undefined))
    const endStream = isWithout || pieces?.length === 0
    stream.respond(this.#fields(response, isLengthTold ? bytesOf(pieces) : undefined), { endStream })
    if (endStream) release(body)
    else if (isStreamed(body)) (await this.#outlet.sendStream(body, (piece) => piece)) && stream.end()
    else if (pieces?.length === 1 && (pieces[0]?.length ?? 0) <= oneWriteBytesMax) stream.end(pieces[0])
    else (await this.#outlet.sendAll(pieces ?? [])) && stream.end()
  }

  #fields(response: WireResponse, bytes: number | undefined): OutgoingHttpHeaders {
    const fields: OutgoingHttpHeaders = { ':status': response.status }
    for (const [name, value] of fieldsToSend(response)) fields[name] = value
    fields['date'] ??= this.#context.date()
    if (bytes !== undefined) fields['content-length'] = bytes
    return fields
  }

  /** The response is handed over; a client that is still sending its body is told to stop. */
  #finish(): void {
    const stream = this.#stream
    this.#isAnswered = true
    this.#bodyDeadlineMs = never
    this.#queue?.discard()
    this.#resetAtMs = this.#context.clock.monotonic() + this.#context.limits.writeStallMs
    if (stream.readableEnded || stream.endAfterHeaders) return
    stream.resume()
    const stop = (): void => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
    }
    if (stream.writableFinished) stop()
    else stream.once('finish', stop)
  }

  /**
   * Ends the response in a way that nobody takes for its end, once all before it is on its way: `destroy` with an error resets
   * the stream, while `close` with an error code first sends an end as if the response were whole.
   */
  #cut(error: unknown): void {
    const stream = this.#stream
    this.#resetAtMs = this.#context.clock.monotonic() + this.#context.limits.writeStallMs
    const reset = (): void => {
      stream.destroy(new Error('the response was cut off', { cause: error }))
    }
    if (!stream.headersSent) reset()
    else if (!stream.destroyed && !stream.writableEnded) stream.write(nothing, reset)
  }

  #onClose(): void {
    if (!this.#isAnswered) this.#life.end()
    this.#whole?.reject(new HttpProtocolError(400, 'the client went away'))
    this.#queue?.fail(badRequest('the client went away'))
  }
}
