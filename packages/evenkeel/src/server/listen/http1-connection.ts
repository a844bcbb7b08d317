/**
 * One HTTP/1.1 connection: requests in sequence, responses in the same order.
 *
 *   idle ──▶ head ──▶ serving ──▶ draining ──▶ idle
 *                        ├────────────▶ closing ──▶ closed
 *                        └──▶ upgraded ────▲
 *
 * Invariants: one request is served at a time; later ones wait in a bounded buffer and then in the client's. A small
 * response is one write. A body that came with its head is passed on as it is. Otherwise the handler runs first and the
 * socket is read when the handler asks for the body: nobody makes the server hold a body before showing credentials. After a malformed request, or one whose body was not read, the connection closes, because the
 * start of the next request is unknown. When the socket closes, the request's signal aborts and the loop over its
 * response ends.
 *
 * A response with status 101 upgrades the connection: from then on it speaks the protocol of the response, and no HTTP.
 * The handler decides that; an `Upgrade` header that it does not know is ignored, as the RFC allows.
 */
import type { Socket } from 'node:net'
import { badRequest } from '#api'
import { ByteBuffer } from '#base'
import type { WireResponse, WireUpgrade } from '#wire'
import { BodyPace } from './body-pace.ts'
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
import { OutputStream, pauseUntil } from './output-stream.ts'

type ConnectionPhase = 'idle' | 'head' | 'serving' | 'upgraded' | 'draining' | 'closing' | 'closed'

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
  /** Received and not parsed: a head, or requests after the one that is served. */
  readonly #input = new ByteBuffer()
  /** The part of it that is counted as held. */
  #counted = 0
  #scanned = 0
  #intake: BodyReader | undefined
  #pace: BodyPace | undefined
  #upgrade: WireUpgrade | undefined
  #life: RequestLifetime | undefined
  #isAnswering = false
  #isLast = false
  #isRetired = false
  #dropped = 0

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket
    this.#context = context
    this.#outlet = new OutputStream(socket, context)
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
    this.#checkPace(nowMs)
    if (nowMs < this.#deadlineMs) return
    this.#deadlineMs = never
    if (this.#phase === 'idle') this.#close()
    else if (this.#phase === 'head') this.#refuse(new HttpProtocolError(408, 'the request took too long to arrive'))
    else this.#socket.destroy()
  }

  /** A handler waits for a body that comes too slowly. */
  #checkPace(nowMs: number): void {
    const intake = this.#intake
    if (this.#phase !== 'serving' || !intake || intake.isDone) return
    if (!intake.queue.isWaitedFor) this.#pace?.restart(nowMs)
    else if (this.#pace?.isLate(nowMs) === true) intake.fail(badRequest('the body stopped arriving'))
  }

  #onData(chunk: Buffer): void {
    if (this.#phase === 'closing') {
      this.#dropped += chunk.length
      if (this.#dropped > lingerBytesMax) this.#socket.destroy()
      return
    }
    if (this.#upgrade) {
      this.#receive(this.#upgrade, chunk)
      return
    }
    this.#input.append(this.#intake ? this.#feed(this.#intake, chunk) : chunk)
    this.#advance()
    this.#count()
  }

  /** Counts the unparsed bytes; a connection whose bytes are too many is closed. */
  #count(): void {
    const { held } = this.#context
    const more = this.#input.size - this.#counted
    if (more === 0) return
    if (more < 0) held.remove(-more)
    else if (!held.add(more)) {
      this.#refuse(new HttpProtocolError(503, 'the server holds too many unread bytes'))
      return
    }
    this.#counted += more
  }

  /** Processes the received data as far as possible. */
  #advance(): void {
    try {
      if (this.#phase === 'idle' || this.#phase === 'head') this.#readHead()
      else if (this.#phase === 'draining' && this.#intake?.isDone === true) this.#next()
      else if (this.#phase === 'draining' && this.#intake?.isBroken === true) this.#close()
      else if (this.#input.size > pipelinedBytesMax) this.#socket.pause()
    } catch (error) {
      this.#refuse(error)
    }
  }

  #readHead(): void {
    const received = this.#input.bytes
    const input = skipEmptyLines(received)
    this.#input.drop(received.length - input.length)
    if (input.length === 0) return
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
    this.#input.drop(end + headEnd.length)
    this.#deadlineMs = never
    this.#startBody(head)
  }

  #startBody(head: RequestHead): void {
    const { length } = head
    if (length === 0) this.#serve(head, undefined)
    else if (length !== 'chunked' && length <= this.#input.size) {
      const body = this.#input.bytes.subarray(0, length)
      this.#input.drop(length)
      this.#serve(head, body)
    } else this.#serve(head, this.#openIntake(head))
  }

  #openIntake(head: RequestHead): BodyQueue {
    const { limits, clock, held } = this.#context
    const queue = new BodyQueue({
      bytesMax: limits.unreadBodyBytesMax,
      held,
      onRoom: () => {
        this.#socket.resume()
      },
      onWanted: () => {
        if (head.expectsContinue && this.#intake?.isBegun === false && !this.#isAnswering && this.#outlet.isOpen)
          this.#socket.write(continueResponse)
        this.#pace?.restart(clock.monotonic())
        this.#socket.resume()
      },
    })
    const intake = (this.#intake = new BodyReader(head.length, queue))
    this.#pace = new BodyPace(limits, clock.monotonic())
    const came = this.#input.take()
    if (came.length > 0) this.#input.append(this.#feed(intake, came))
    if (!intake.isDone) this.#socket.pause()
    return queue
  }

  #feed(intake: BodyReader, chunk: Buffer): Buffer {
    const rest = intake.feed(chunk)
    this.#pace?.add(chunk.length - rest.length, this.#context.clock.monotonic())
    if (intake.queue.isFull && !intake.isDone) this.#socket.pause()
    return rest
  }

  #serve(head: RequestHead, body: Uint8Array | BodyQueue | undefined): void {
    this.#phase = 'serving'
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
      log.error('request failed', { ...describeRequest(head), error })
      response = failureResponse(error)
    }
    if (!this.#outlet.isOpen) {
      release(response.body)
      return
    }
    try {
      if (await this.#send(head, response)) this.#finish()
    } catch (error) {
      log.warn('response cut off', { ...describeRequest(head), error })
      release(response.body)
      this.#socket.destroy()
    }
  }

  /** Resolves false when the client disconnected. */
  async #send(head: RequestHead, response: WireResponse): Promise<boolean> {
    this.#isAnswering = true
    this.#isLast = !head.isKeepAlive || this.#isRetired || !this.#canDrain(head)
    const { body, status, upgrade } = response
    if (!isStreamed(body)) return this.#sendFixed(head, response, body)
    if (upgrade) return this.#sendUpgraded(response, body, upgrade)
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

  /** Speaks another protocol until the body ends or the client closes the connection. */
  async #sendUpgraded(response: WireResponse, body: AsyncIterable<Uint8Array>, upgrade: WireUpgrade): Promise<boolean> {
    this.#isLast = true
    this.#phase = 'upgraded'
    const head = { end: 'none', connection: 'Upgrade', date: this.#context.date() } as const
    this.#socket.write(formatResponseHead(response, head), 'latin1')
    this.#upgrade = upgrade
    const early = this.#input.take()
    this.#count()
    if (early.length > 0) this.#receive(upgrade, early)
    if (this.#socket.isPaused()) this.#socket.resume()
    if (!(await this.#outlet.sendStream(body, (piece) => upgrade.encode(piece)))) return false
    this.#socket.write(upgrade.closing)
    return true
  }

  #receive(upgrade: WireUpgrade, chunk: Uint8Array): void {
    const { reply, isOver = false, ready } = upgrade.receive(chunk)
    if (ready) pauseUntil(ready, this.#socket)
    // Whoever sends pings and does not read the answers is not answered.
    if (reply && this.#socket.writableLength < pipelinedBytesMax) this.#socket.write(reply)
    if (!isOver) return
    this.#socket.write(upgrade.closing)
    this.#life?.end()
    this.#close()
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
      this.#deadlineMs = this.#inMs(this.#context.limits.bodyGraceMs)
      this.#socket.resume()
    } else {
      this.#next()
    }
  }

  #next(): void {
    this.#phase = 'idle'
    this.#intake = undefined
    this.#pace = undefined
    this.#deadlineMs = this.#inMs(this.#context.limits.keepAliveMs)
    if (this.#socket.isPaused()) this.#socket.resume()
    if (this.#input.size > 0) {
      this.#advance()
      this.#count()
    }
  }

  #refuse(error: unknown): void {
    const { date, log } = this.#context
    const isOurs = !(error instanceof HttpProtocolError)
    if (isOurs) log.error('connection failed', { error })
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
    this.#upgrade = undefined
    this.#forgetInput()
    this.#intake?.queue.discard()
    this.#deadlineMs = this.#inMs(this.#context.limits.writeStallMs)
    this.#socket.end(() => {
      this.#deadlineMs = this.#inMs(lingerMs)
    })
    this.#socket.resume()
  }

  #onClose(): void {
    this.#phase = 'closed'
    this.#forgetInput()
    this.#life?.end()
    this.#intake?.fail(badRequest('the client went away'))
    this.#intake?.queue.discard()
  }

  #forgetInput(): void {
    this.#context.held.remove(this.#counted)
    this.#counted = 0
    this.#input.clear()
  }

  #inMs(delayMs: number): number {
    return this.#context.clock.monotonic() + delayMs
  }
}
