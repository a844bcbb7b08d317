/**
 * Driver calls: every call goes through the rate limiter, a timeout and the circuit breaker of its system.
 *
 * All users of a driver in this process share one instance. Invariants: no call bypasses the rate limiter; a driver that
 * hangs does not block its caller; a system that is down is not called by every object in turn.
 *
 *   circuit breaker: closed ──consecutive failures──▶ open ──after a delay──▶ one trial call ──succeeds──▶ closed
 *                                                      ▲                            └──fails──▶ open, twice as long
 *   rate limiter: calls run in the order of their requests; a 429 answer pauses all of them
 */
import { abortable, deadline, randomFraction, sleep, type Clock, type Random } from '#base'
import { failureOf, ProviderUnavailable, retryAfterOf, type Driver, type DriverCall } from './driver.ts'

/** The context of a call. */
interface CallContext {
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly timeoutMs: number
  readonly connection: unknown
}

/** The pause after a 429 answer without `retryAfterMs`. */
const throttledMs = 1000

export class DriverCalls {
  readonly #name: string
  readonly #limiter: RateLimiter
  readonly #breaker = new CircuitBreaker()

  constructor({ name, capabilities: { quota } }: Pick<Driver, 'name' | 'capabilities'>) {
    this.#name = name
    this.#limiter = quota ? new RateLimiter(quota) : new RateLimiter()
  }

  /** Makes a call. @throws {ProviderUnavailable} if it is not made; otherwise what the driver throws. */
  async make<R>(context: CallContext, call: (driverCall: DriverCall) => Promise<R>): Promise<R> {
    const { signal, clock, random, timeoutMs, connection } = context
    signal.throwIfAborted()
    this.#breaker.enter(clock, this.#name)
    try {
      await this.#limiter.take({ clock, signal })
      const result = await this.#within(timeoutMs, { signal, clock }, (limit) =>
        call({ signal: limit, clock, connection }),
      )
      this.#breaker.succeeded()
      return result
    } catch (error) {
      if (signal.aborted) this.#breaker.aborted()
      else this.#learn(error, { clock, random })
      throw error
    }
  }

  /** Runs a call with a timeout; the wait for the rate limiter does not count. */
  async #within<R>(
    timeoutMs: number,
    { signal, clock }: { signal: AbortSignal; clock: Clock },
    call: (limit: AbortSignal) => Promise<R>,
  ): Promise<R> {
    const limit = deadline(clock, timeoutMs, { signal })
    try {
      return await abortable(call(limit.signal), { signal: limit.signal })
    } finally {
      limit.done()
    }
  }

  /** Reads all pages of a stream; each page is a call of its own. */
  async collect<R>(
    context: CallContext,
    { open, itemsMax }: { open: (call: DriverCall) => AsyncIterable<readonly R[]>; itemsMax: number },
  ): Promise<R[]> {
    const items: R[] = []
    let iterator: AsyncIterator<readonly R[]> | undefined
    try {
      for (;;) {
        const page = await this.make(
          context,
          async (call) => await (iterator ??= open(call)[Symbol.asyncIterator]()).next(),
        )
        if (page.done === true) return items
        items.push(...page.value)
        if (items.length > itemsMax)
          throw new RangeError(`${this.#name}: list returned more than ${itemsMax} resources`)
      }
    } finally {
      // Not awaited: a stream that hangs must not block the caller.
      Promise.resolve(iterator?.return?.()).catch(() => undefined)
    }
  }

  /** Updates limiter and breaker by the kind of failure. */
  #learn(error: unknown, { clock, random }: { clock: Clock; random: Random }): void {
    const failure = failureOf(error)
    if (failure === 'throttled') this.#limiter.pause(retryAfterOf(error) ?? throttledMs, clock)
    if (failure === 'unknown') this.#breaker.failed(error, { clock, random })
    else this.#breaker.succeeded()
  }
}

const byDriver = new WeakMap<object, DriverCalls>()

/** The shared calls of a driver. */
export function callsOf(driver: Driver): DriverCalls {
  const known = byDriver.get(driver)
  if (known) return known
  const calls = new DriverCalls(driver)
  byDriver.set(driver, calls)
  return calls
}

interface CircuitBreakerOptions {
  /** How many consecutive failures open it. @default 5 */
  readonly failuresMax?: number
  /** How long it stays open at first; doubles with each failed trial. @default 1000 */
  readonly openMs?: number
  /** @default 20_000 */
  readonly openMaxMs?: number
}

/** Stops calls to a system that does not answer. */
export class CircuitBreaker {
  readonly #failuresMax: number
  readonly #openMs: number
  readonly #openMaxMs: number
  #failures = 0
  #untilMs = -Infinity
  #isTrying = false
  #cause: unknown

  constructor({ failuresMax = 5, openMs = 1000, openMaxMs = 20_000 }: CircuitBreakerOptions = {}) {
    this.#failuresMax = failuresMax
    this.#openMs = openMs
    this.#openMaxMs = openMaxMs
  }

  get isOpen(): boolean {
    return this.#failures >= this.#failuresMax
  }

  /** @throws {ProviderUnavailable} while the breaker is open */
  enter(clock: Clock, name: string): void {
    if (!this.isOpen) return
    const waitMs = this.#untilMs - clock.monotonic()
    if (waitMs <= 0 && !this.#isTrying) {
      this.#isTrying = true
      return
    }
    throw new ProviderUnavailable(`${name} does not answer: the circuit breaker is open`, {
      retryAfterMs: Math.max(waitMs, this.#openMs),
      cause: this.#cause,
    })
  }

  succeeded(): void {
    this.#failures = 0
    this.#isTrying = false
    this.#cause = undefined
  }

  failed(error: unknown, { clock, random }: { readonly clock: Clock; readonly random: Random }): void {
    this.#failures++
    this.#isTrying = false
    this.#cause = error
    if (!this.isOpen) return
    const doubled = this.#openMs * 2 ** Math.min(this.#failures - this.#failuresMax, 20)
    this.#untilMs = clock.monotonic() + Math.min(this.#openMaxMs, doubled) * (1 + 0.2 * randomFraction(random))
  }

  /** The trial call was aborted by its caller, so its result says nothing. */
  aborted(): void {
    this.#isTrying = false
  }
}

interface RateLimiterOptions {
  readonly callsPerSecond: number
  readonly burst?: number
}

/** Limits the calls of all controllers of this process to one system. */
export class RateLimiter {
  readonly #spacingMs: number
  readonly #burst: number
  /** When the next call is due. */
  #dueMs = -Infinity
  #pausedUntilMs = -Infinity

  constructor(
    { callsPerSecond, burst = Math.max(1, callsPerSecond) }: RateLimiterOptions = {
      callsPerSecond: Infinity,
      burst: 1,
    },
  ) {
    if (!(callsPerSecond > 0 && burst >= 1))
      throw new RangeError(`callsPerSecond must be above 0 and burst at least 1, got ${callsPerSecond} and ${burst}`)
    this.#spacingMs = 1000 / callsPerSecond
    this.#burst = burst
  }

  /** Resolves when the call may be made. */
  async take({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
    const nowMs = clock.monotonic()
    const startMs = Math.max(this.#dueMs, nowMs - (this.#burst - 1) * this.#spacingMs, this.#pausedUntilMs)
    this.#dueMs = startMs + this.#spacingMs
    if (startMs > nowMs) await sleep(clock, startMs - nowMs, { signal })
  }

  /** Pauses all calls. */
  pause(forMs: number, clock: Clock): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, clock.monotonic() + forMs)
    this.#dueMs = Math.max(this.#dueMs, this.#pausedUntilMs)
  }
}
