/**
 * Requests that take too long: they are answered, and what they began is told to stop.
 *
 * Every request has a deadline and hardly any reaches it, so a deadline has to cost next to nothing: requests with the same
 * time to live stand in one list, oldest first, with one timer for the first of them, which stays for the next to come from a socket.
 * A signal is made only when somebody asks.
 *
 * Invariants: a request that was answered has left its list and listens to nobody; there are no more timers than requests and usual times to live, and
 * without requests there is none after the server has stopped.
 */
import { DeadlineError, onAbort, LightAbortController } from '#base'
import type { Cancel, Clock } from '#base'
import type { WireHeaders, WirePeer, WireRequest } from '#wire'

/** A request whose signal also aborts when its time is over. Without a limit it is the request it was made from. */
export class TimedRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly peer?: WirePeer
  readonly borrowsChunks?: true | undefined
  readonly #given: WireRequest
  #isLimited = false
  #isExpired = false
  #controller: LightAbortController | undefined
  #stopListening: (() => void) | undefined

  constructor(given: WireRequest) {
    this.method = given.method
    this.target = given.target
    this.headers = given.headers
    if (given.body !== undefined) this.body = given.body
    if (given.peer !== undefined) this.peer = given.peer
    this.borrowsChunks = given.borrowsChunks
    this.#given = given
  }

  /** The request as it arrived: its signal knows only of the client. */
  get original(): WireRequest {
    return this.#given
  }

  get signal(): AbortSignal {
    if (!this.#isLimited) return this.#given.signal
    this.#controller ??= this.#listen()
    return this.#controller.signal
  }

  /** From now on the time counts, until it {@link end}. */
  limit(): void {
    this.#isLimited = true
  }

  /** The time is over. */
  expire(): void {
    this.#isExpired = true
    this.#controller?.abort(new DeadlineError('the time of the request is over'))
  }

  /** It was answered in time. */
  end(): void {
    this.#isLimited = false
    this.#stopListening?.()
  }

  #listen(): LightAbortController {
    const controller = new LightAbortController()
    if (this.#isExpired) controller.abort(new DeadlineError('the time of the request is over'))
    this.#stopListening = onAbort(this.#given.signal, (reason) => {
      controller.abort(reason)
    })
    return controller
  }
}

interface PendingDeadline {
  readonly dueMs: number
  readonly request: TimedRequest
  /** Tells who waits for the answer. */
  readonly timeOut: () => void
}

/** Those with the same time to live, oldest first. */
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

  /** @param usual times to live that most requests have */
  constructor({ clock, usual, stopping }: { clock: Clock; usual: readonly number[]; stopping: AbortSignal }) {
    this.#clock = clock
    this.#usual = new Set(usual)
    this.#stopping = stopping
    onAbort(stopping, () => {
      for (const line of this.#lines.values()) if (line.waiting.size === 0) this.#close(line)
    })
  }

  /** How many requests took too long. */
  get expired(): number {
    return this.#expired
  }

  /** The outcome of the work, or what `refusal` makes if that takes longer. The work is told by the request's signal, and goes on if it does not listen. */
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

  // In process no timer may stay behind: simulated time would move on for it.
  #keepsTimer({ limitMs }: DeadlineQueue, { peer }: TimedRequest): boolean {
    return peer !== undefined && this.#usual.has(limitMs) && !this.#stopping.aborted
  }

  // The timer was set for somebody who may have gone: it is set again for whoever is first now.
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

  // Clients choose times: a line for each must not stay.
  #close(line: DeadlineQueue): void {
    line.cancel?.()
    line.cancel = undefined
    if (this.#lines.get(line.limitMs) === line) this.#lines.delete(line.limitMs)
  }
}
