/**
 * Request deadlines: a request that takes too long gets a timeout response, and its signal aborts.
 *
 * Every request has a deadline and very few reach it, so a deadline must be cheap. Requests with the same timeout are
 * in one queue, oldest first, with one timer for the first of them; the timer stays for later requests. A signal is
 * created on first use.
 *
 * Invariants: an answered request has left its queue and has no listeners. There are no more timers than requests and
 * common timeouts, and none after the server has stopped and all requests have ended.
 */
import { DeadlineError, onAbort, LightAbortController } from '#base'
import type { Cancel, Clock } from '#base'
import type { WireHeaders, WirePeer, WireRequest } from '#wire'
import type { BodyAccount } from './body-budget.ts'

/** A request whose signal also aborts at its deadline. Without a deadline it is the original request. */
export class TimedRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly peer?: WirePeer
  readonly borrowsChunks?: true | undefined
  readonly #given: WireRequest
  #isLimited = false
  #isExpired = false
  #controller: LightAbortController | undefined
  #stopListening: (() => void) | undefined
  #yieldTurn: (() => Promise<void>) | undefined
  #bodyBytes = 0

  constructor(given: WireRequest) {
    this.method = given.method
    this.target = given.target
    this.headers = given.headers
    if (given.body !== undefined) this.body = given.body
    if (given.peer !== undefined) this.peer = given.peer
    this.borrowsChunks = given.borrowsChunks
    this.#given = given
  }

  /** The request as it arrived: its signal aborts only when the client disconnects. */
  get original(): WireRequest {
    return this.#given
  }

  get signal(): AbortSignal {
    if (!this.#isLimited) return this.#given.signal
    this.#controller ??= this.#listen()
    return this.#controller.signal
  }

  /**
   * Counts the bytes of the body, now or while they are read. Between the steps of a large one, {@link pause} calls
   * `yieldTurn`.
   *
   * @throws {ApiError} `TooManyRequests`, also while reading
   */
  countBody(account: BodyAccount, yieldTurn: () => Promise<void>): void {
    const { body } = this
    this.#yieldTurn = yieldTurn
    const add = (bytes: number): void => {
      account.add(bytes)
      this.#bodyBytes += bytes
    }
    if (body instanceof Uint8Array) add(body.byteLength)
    else if (body) this.body = counted(body, add)
  }

  /** Lets other requests go first, if the document of this one is large. Call it between the steps of its work. */
  pause(): Promise<void> | undefined {
    return this.#bodyBytes > largeBytes ? this.#yieldTurn?.() : undefined
  }

  /** Starts the deadline, until {@link end}. */
  limit(): void {
    this.#isLimited = true
  }

  /** The deadline has passed. */
  expire(): void {
    this.#isExpired = true
    this.#controller?.abort(new DeadlineError('the request timed out'))
  }

  /** The request was answered in time. */
  end(): void {
    this.#isLimited = false
    this.#stopListening?.()
  }

  #listen(): LightAbortController {
    const controller = new LightAbortController()
    if (this.#isExpired) controller.abort(new DeadlineError('the request timed out'))
    this.#stopListening = onAbort(this.#given.signal, (reason) => {
      controller.abort(reason)
    })
    return controller
  }
}

/** A step of a smaller document takes a millisecond or two. */
const largeBytes = 16_384

async function* counted(body: AsyncIterable<Uint8Array>, add: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    add(piece.byteLength)
    yield piece
  }
}

interface PendingDeadline {
  readonly dueMs: number
  readonly request: TimedRequest
  /** Sends the timeout response. */
  readonly timeOut: () => void
}

/** Requests with the same timeout, oldest first. */
interface DeadlineQueue {
  readonly limitMs: number
  readonly waiting: Set<PendingDeadline>
  cancel: Cancel | undefined
}

export class Deadlines {
  readonly #clock: Clock
  readonly #usual: ReadonlySet<number>
  readonly #stopping: AbortSignal
  readonly #lines = new Map<number, DeadlineQueue>()
  #expired = 0

  /** @param usual timeouts that most requests have */
  constructor({ clock, usual, stopping }: { clock: Clock; usual: readonly number[]; stopping: AbortSignal }) {
    this.#clock = clock
    this.#usual = new Set(usual)
    this.#stopping = stopping
    onAbort(stopping, () => {
      for (const line of this.#lines.values()) if (line.waiting.size === 0) this.#close(line)
    })
  }

  /** The number of requests that exceeded their deadline. */
  get expired(): number {
    return this.#expired
  }

  /**
   * The outcome of the work, or that of `refusal` after the deadline. The request's signal then aborts; work that
   * ignores it continues.
   */
  within<T>(
    limitMs: number,
    request: TimedRequest,
    { work, refusal }: { work: () => Promise<T>; refusal: () => Error },
  ): Promise<T> {
    request.limit()
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(limitMs) ?? this.#newLine(limitMs)
      const waiting: PendingDeadline = {
        dueMs: this.#clock.monotonic() + limitMs,
        request,
        timeOut: () => {
          reject(refusal())
        },
      }
      line.waiting.add(waiting)
      line.cancel ??= this.#clock.after(limitMs, () => {
        this.#look(line)
      })
      work().then(
        (value) => {
          this.#end(line, waiting)
          resolve(value)
        },
        (error: unknown) => {
          this.#end(line, waiting)
          reject(error)
        },
      )
    })
  }

  #newLine(limitMs: number): DeadlineQueue {
    const line: DeadlineQueue = { limitMs, waiting: new Set(), cancel: undefined }
    this.#lines.set(limitMs, line)
    return line
  }

  #end(line: DeadlineQueue, waiting: PendingDeadline): void {
    waiting.request.end()
    line.waiting.delete(waiting)
    if (line.waiting.size === 0 && !this.#keepsTimer(line, waiting.request)) this.#close(line)
  }

  // In process no timer may remain: simulated time would advance to it.
  #keepsTimer({ limitMs }: DeadlineQueue, { peer }: TimedRequest): boolean {
    return peer !== undefined && this.#usual.has(limitMs) && !this.#stopping.aborted
  }

  // The request of the timer may have ended: set the timer for the one that is first now.
  #look(line: DeadlineQueue): void {
    line.cancel = undefined
    const now = this.#clock.monotonic()
    for (const waiting of line.waiting) {
      if (waiting.dueMs > now) {
        line.cancel = this.#clock.after(waiting.dueMs - now, () => {
          this.#look(line)
        })
        return
      }
      line.waiting.delete(waiting)
      this.#expired++
      waiting.timeOut()
      waiting.request.expire()
    }
    this.#close(line)
  }

  // Clients choose timeouts: a queue for each must not remain.
  #close(line: DeadlineQueue): void {
    line.cancel?.()
    line.cancel = undefined
    if (this.#lines.get(line.limitMs) === line) this.#lines.delete(line.limitMs)
  }
}
