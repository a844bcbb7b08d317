/**
 * One HTTP/1.1 connection: requests in sequence, responses in the same order.
 *
 *   idle ──▶ head ──▶ gathering ──▶ serving ──▶ draining ──▶ idle
 *                                      └────────────▶ closing ──▶ closed
 *
 * Invariants: one request is served at a time; later ones wait in a bounded buffer and then in the client's. A small
 * response is one write. After a malformed request, or one whose body was not read, the connection closes, because the
 * start of the next request is unknown. When the socket closes, the request's signal aborts and the loop over its
 * response ends.
 *
 * `Upgrade` is ignored, as the RFC allows: the request is answered as if it had no such header. WebSockets would branch
 * off in `#serve`.
 */
import type { Socket } from 'node:net'
import { badRequest } from '#api'
import type { WireResponse } from '#wire'
import { BodyQueue } from './body-queue.ts'
import { lingerBytesMax, lingerMs, type ConnectionContext, type ServerConnection } from './connection.ts'
import {
  bytesOf,
  describeRequest,
  failureResponse,
  HttpProtocolError,
  isBodiless,
  isStreamed,
  makeRequest,
  piecesOf,
  release,
  RequestLifetime,
  textResponse,
  type FixedBody,
} from './http-message.ts'
import { BodyReader, chunkOf, lastChunk } from './http1-body.ts'
import {
  checkUnfinished,
  formatResponseHead,
  headEnd,
  parseHead,
  skipEmptyLines,
  type BodyEnd,
  type RequestHead,
} from './http1-head.ts'
import { OutputStream } from './output-stream.ts'

type ConnectionPhase = 'idle' | 'head' | 'gathering' | 'serving' | 'draining' | 'closing' | 'closed'

/** The buffer for pipelined requests. */
const pipelinedBytesMax = 65_536
/** The size of an unread body that is still drained to keep the connection open. */
const drainBytesMax = 65_536
/** Head and body up to this size are sent in one write. */
const oneWriteBytesMax = 65_536
const never = Number.POSITIVE_INFINITY
const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n'

export class Http1Connection implements ServerConnection {
  readonly #socket: Socket
  readonly #context: ConnectionContext
  readonly #outlet: OutputStream
  #phase: ConnectionPhase = 'idle'
  #deadlineMs: number
  #input: Buffer | undefined
  #scanned = 0
  #head: RequestHead | undefined
  #intake: BodyReader | undefined
  #life: RequestLifetime | undefined
  #isAnswering = false
  #isLast = false
  #isRetired = false
  #dropped = 0

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket
    this.#context = context
    this.#outlet = new OutputStream(socket, context.clock)
    this.#deadlineMs = this.#inMs(context.limits.headMs)
    socket.on('data', (chunk: Buffer) => {
      this.#onData(chunk)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#onClose()
    })
  }

  retire(): void {
    this.#isRetired = true
    if (this.#phase === 'idle') this.#close()
  }

  expire(nowMs: number): void {
    const { limits } = this.#context
    if (this.#outlet.isStalledSince(nowMs - limits.writeStallMs)) this.#socket.destroy()
    if (nowMs < this.#deadlineMs) return
    this.#deadlineMs = never
    if (this.#phase === 'idle') this.#close()
    else if (this.#phase === 'head' || this.#phase === 'gathering')
      this.#refuse(new HttpProtocolError(408, 'the request took too long to arrive'))
    else if (this.#phase !== 'serving') this.#socket.destroy()
    else if (this.#intake?.queue.isWaitedFor === true) this.#intake.fail(badRequest('the body stopped arriving'))
    else this.#deadlineMs = this.#inMs(limits.bodyIdleMs)
  }

  #onData(chunk: Buffer): void {
    if (this.#phase === 'closing') {
      this.#dropped += chunk.length
      if (this.#dropped > lingerBytesMax) this.#socket.destroy()
      return
    }
    const rest = this.#intake ? this.#feed(this.#intake, chunk) : chunk
    if (rest.length > 0) this.#input = this.#input ? Buffer.concat([this.#input, rest]) : rest
    this.#advance()
  }

  /** Processes the received data as far as possible. */
  #advance(): void {
    try {
      if (this.#phase === 'idle' || this.#phase === 'head') this.#readHead()
      else if (this.#phase === 'gathering' && this.#head) this.#gather(this.#head)
      else if (this.#phase === 'draining' && this.#intake?.isDone === true) this.#next()
      else if (this.#phase === 'draining' && this.#intake?.isBroken === true) this.#close()
      else if ((this.#input?.length ?? 0) > pipelinedBytesMax) this.#socket.pause()
    } catch (error) {
      this.#refuse(error)
    }
  }

  #readHead(): void {
    const input = this.#input && skipEmptyLines(this.#input)
    this.#input = input
    if (!input || input.length === 0) return
    const { limits } = this.#context
    const end = input.indexOf(headEnd, Math.max(0, this.#scanned - headEnd.length))
    if (end < 0 || end > limits.headBytesMax) {
      checkUnfinished(input, limits)
      if (this.#phase === 'idle') this.#deadlineMs = this.#inMs(limits.headMs)
      this.#phase = 'head'
      this.#scanned = input.length
      return
    }
    const head = parseHead(input.toString('latin1', 0, end), limits)
    this.#scanned = 0
    this.#input = restOf(input, end + headEnd.length)
    this.#deadlineMs = never
    this.#startBody(head)
  }

  #startBody(head: RequestHead): void {
    const { length } = head
    const { wholeBodyBytesMax } = this.#context.limits
    if (length === 0) this.#serve(head, undefined)
    else if (
      length !== 'chunked' &&
      length <= wholeBodyBytesMax &&
      (!head.expectsContinue || (this.#input?.length ?? 0) >= length)
    )
      this.#gather(head)
    else this.#serve(head, this.#openIntake(head))
  }

  /** Waits for a small body, so that the handler gets it as one buffer. */
  #gather(head: RequestHead): void {
    const length = head.length as number
    const input = this.#input
    if (!input || input.length < length) {
      this.#phase = 'gathering'
      this.#head = head
      this.#deadlineMs = this.#inMs(this.#context.limits.bodyIdleMs)
      return
    }
    this.#deadlineMs = never
    this.#input = restOf(input, length)
    this.#serve(head, input.subarray(0, length))
  }

  #openIntake(head: RequestHead): BodyQueue {
    const queue = new BodyQueue({
      bytesMax: this.#context.limits.wholeBodyBytesMax,
      onRoom: () => {
        this.#socket.resume()
      },
      onWanted: () => {
        if (head.expectsContinue && this.#intake?.isBegun === false && !this.#isAnswering && this.#outlet.isOpen)
          this.#socket.write(continueResponse)
      },
    })
    const input = this.#input
    this.#input = undefined
    this.#intake = new BodyReader(head.length, queue)
    this.#deadlineMs = this.#inMs(this.#context.limits.bodyIdleMs)
    if (input) {
      const rest = this.#feed(this.#intake, input)
      if (rest.length > 0) this.#input = rest
    }
    return queue
  }

  #feed(intake: BodyReader, chunk: Buffer): Buffer {
    const rest = intake.feed(chunk)
    this.#deadlineMs = intake.isDone ? never : this.#inMs(this.#context.limits.bodyIdleMs)
    if (intake.queue.isFull && !intake.isDone) this.#socket.pause()
    return rest
  }

  #serve(head: RequestHead, body: Uint8Array | BodyQueue | undefined): void {
    this.#phase = 'serving'
    this.#head = head
    this.#isAnswering = false
    void this.#answer(head, body)
  }

  async #answer(head: RequestHead, body: Uint8Array | BodyQueue | undefined): Promise<void> {
    const { method, target, headers } = head
    const { transport, peer, log } = this.#context
    const life = (this.#life = new RequestLifetime())
    let response: WireResponse
    try {
      response = await transport(makeRequest({ method, target, headers, body, peer, borrowsChunks: true }, life))
    } catch (error) {
      log.error('a request failed', { ...describeRequest(head), error })
      response = failureResponse(error)
    }
    if (!this.#outlet.isOpen) {
      release(response.body)
      return
    }
    try {
      if (await this.#send(head, response)) this.#finish()
    } catch (error) {
      log.warn('a response was cut off', { ...describeRequest(head), error })
      release(response.body)
      this.#socket.destroy()
    }
  }

  /** Resolves false when the client disconnected. */
  async #send(head: RequestHead, response: WireResponse): Promise<boolean> {
    this.#isAnswering = true
    this.#isLast = !head.isKeepAlive || this.#isRetired || !this.#canDrain(head)
    const { body, status } = response
    if (!isStreamed(body)) return this.#sendFixed(head, response, body)
    if (isBodiless(head.method, status)) {
      release(body)
      this.#socket.write(this.#formatHead(head, response, 'none'), 'latin1')
      return this.#outlet.waitForRoom()
    }
    if (head.isHttp10) this.#isLast = true
    this.#socket.write(this.#formatHead(head, response, head.isHttp10 ? 'close' : 'chunked'), 'latin1')
    if (!(await this.#outlet.sendStream(body, head.isHttp10 ? (piece) => piece : chunkOf))) return false
    if (!head.isHttp10) this.#socket.write(lastChunk)
    return true
  }

  #sendFixed(head: RequestHead, response: WireResponse, body: FixedBody | undefined): boolean | Promise<boolean> {
    const isWithout = isBodiless(head.method, response.status)
    const pieces = piecesOf(body)
    const bytes = bytesOf(pieces)
    const hasLength = !isWithout || (head.method === 'HEAD' && body !== undefined)
    const text = this.#formatHead(head, response, hasLength ? { bytes } : 'none')
    if (isWithout || bytes > oneWriteBytesMax) {
      const parts = isWithout ? [] : pieces
      return this.#outlet.sendAll([Buffer.from(text, 'latin1'), ...parts])
    }
    const whole = Buffer.allocUnsafe(text.length + bytes)
    let at = whole.write(text, 0, 'latin1')
    for (const piece of pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return this.#socket.write(whole) || this.#outlet.waitForRoom()
  }

  #formatHead(head: RequestHead, response: WireResponse, end: BodyEnd): string {
    const connection = this.#isLast ? 'close' : head.isHttp10 ? 'keep-alive' : undefined
    return formatResponseHead(response, { end, connection, date: this.#context.date() })
  }

  /** Whether the rest of the body can be drained, so that the connection can be reused. */
  #canDrain({ expectsContinue: isAsking }: RequestHead): boolean {
    const intake = this.#intake
    if (!intake || intake.isDone) return true
    return !intake.isBroken && intake.left <= drainBytesMax && (!isAsking || intake.isBegun)
  }

  #finish(): void {
    this.#life = undefined
    if (this.#isLast || this.#isRetired) {
      this.#close()
      return
    }
    this.#intake?.queue.discard()
    if (this.#intake?.isDone === false) {
      this.#phase = 'draining'
      this.#deadlineMs = this.#inMs(this.#context.limits.bodyIdleMs)
    } else {
      this.#next()
    }
  }

  #next(): void {
    this.#phase = 'idle'
    this.#head = undefined
    this.#intake = undefined
    this.#deadlineMs = this.#inMs(this.#context.limits.keepAliveMs)
    if (this.#socket.isPaused()) this.#socket.resume()
    if (this.#input) this.#advance()
  }

  #refuse(error: unknown): void {
    const { date, log } = this.#context
    const isOurs = !(error instanceof HttpProtocolError)
    if (isOurs) log.error('a connection failed', { error })
    const response = isOurs ? failureResponse(error) : textResponse(error.status, error.message)
    const [body = Buffer.alloc(0)] = piecesOf(response.body as FixedBody)
    const text = formatResponseHead(response, { end: { bytes: body.length }, connection: 'close', date: date() })
    if (this.#outlet.isOpen) this.#socket.write(Buffer.concat([Buffer.from(text, 'latin1'), body]))
    this.#close()
  }

  /**
   * Ends the sending side and drains the receiving side for a moment; otherwise the client might not get the last
   * response.
   */
  #close(): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    this.#phase = 'closing'
    this.#input = undefined
    this.#intake?.queue.discard()
    this.#deadlineMs = this.#inMs(this.#context.limits.writeStallMs)
    this.#socket.end(() => {
      this.#deadlineMs = this.#inMs(lingerMs)
    })
    this.#socket.resume()
  }

  #onClose(): void {
    this.#phase = 'closed'
    this.#input = undefined
    this.#life?.end()
    this.#intake?.fail(badRequest('the client went away'))
  }

  #inMs(delayMs: number): number {
    return this.#context.clock.monotonic() + delayMs
  }
}

function restOf(bytes: Buffer, from: number): Buffer | undefined {
  return bytes.length > from ? bytes.subarray(from) : undefined
}
