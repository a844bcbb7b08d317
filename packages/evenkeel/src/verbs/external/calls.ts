/**
 * The one way out: every call of a driver goes through here, with a budget, a deadline and a breaker of its system.
 *
 * Shared by everybody in this process who uses the same driver. Invariants: no call without its turn in the budget; a
 * driver that hangs does not hold up whoever called it; a system that is down is not called by everybody in turn.
 */
import { abortable, deadline, randomFraction, sleep, type Clock, type Random } from '#base'
import { failureOf, ProviderUnavailable, retryAfterOf, type Driver, type DriverCall } from './driver.ts'

/** For whom a call is made. */
interface Caller {
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly timeoutMs: number
  readonly connection: unknown
}

/** What a system asks for when it says "too much" without saying how long. */
const throttledMs = 1000

export class DriverCalls {
  readonly #name: string
  readonly #budget: RateLimiter
  readonly #breaker = new CircuitBreaker()

  constructor({ name, capabilities: { quota } }: Pick<Driver, 'name' | 'capabilities'>) {
    this.#name = name
    this.#budget = quota ? new RateLimiter(quota) : new RateLimiter()
  }

  /** What the call gives. @throws {ProviderUnavailable} when it is not made; what the driver throws otherwise. */
  async make<R>(caller: Caller, call: (given: DriverCall) => Promise<R>): Promise<R> {
    const { signal, clock, random, timeoutMs, connection } = caller
    signal.throwIfAborted()
    this.#breaker.enter(clock, this.#name)
    try {
      await this.#budget.take({ clock, signal })
      const result = await this.#within(timeoutMs, { signal, clock }, (limit) =>
        call({ signal: limit, clock, connection }),
      )
      this.#breaker.succeeded()
      return result
    } catch (error) {
      if (signal.aborted) this.#breaker.left()
      else this.#learn(error, { clock, random })
      throw error
    }
  }

  /** Waiting for one's turn does not count. */
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

  /** All that a stream gives, each page in its own turn. */
  async collect<R>(
    caller: Caller,
    { open, itemsMax }: { open: (given: DriverCall) => AsyncIterable<readonly R[]>; itemsMax: number },
  ): Promise<R[]> {
    const items: R[] = []
    let iterator: AsyncIterator<readonly R[]> | undefined
    try {
      for (;;) {
        const page = await this.make(caller, async (given) => (iterator ??= open(given)[Symbol.asyncIterator]()).next())
        if (page.done === true) return items
        items.push(...page.value)
        if (items.length > itemsMax) throw new RangeError(`${this.#name} lists more than ${itemsMax} things`)
      }
    } finally {
      // A stream that hangs must not hold us up.
      Promise.resolve(iterator?.return?.()).catch(() => undefined)
    }
  }

  #learn(error: unknown, { clock, random }: { clock: Clock; random: Random }): void {
    const failure = failureOf(error)
    if (failure === 'throttled') this.#budget.pause(retryAfterOf(error) ?? throttledMs, clock)
    if (failure === 'unknown') this.#breaker.failed(error, { clock, random })
    else this.#breaker.succeeded()
  }
}

const byDriver = new WeakMap<object, DriverCalls>()

/** The calls of a driver: one budget for everybody who uses it. */
export function callsOf(driver: Driver): DriverCalls {
  const known = byDriver.get(driver)
  if (known) return known
  const calls = new DriverCalls(driver)
  byDriver.set(driver, calls)
  return calls
}

/*
 * A system that does not answer is left alone for a while: nobody waits for a dead one, and it can come back in peace.
 *
 *   closed ──failures in a row──▶ open ──a while──▶ one call tries ──it works──▶ closed
 *                                  ▲                     └──fails──▶ open, for longer
 */

interface CircuitBreakerOptions {
  /** How many failures in a row open it. @default 5 */
  readonly failuresMax?: number
  /** How long it is open at first; twice as long each time. @default 1000 */
  readonly openMs?: number
  /** @default 20_000 */
  readonly openMaxMs?: number
}

export class CircuitBreaker {
  readonly #failuresMax: number
  readonly #openMs: number
  readonly #openMaxMs: number
  #failures = 0
  #untilMs = -Infinity
  #isTrying = false
  #why: unknown

  constructor({ failuresMax = 5, openMs = 1000, openMaxMs = 20_000 }: CircuitBreakerOptions = {}) {
    this.#failuresMax = failuresMax
    this.#openMs = openMs
    this.#openMaxMs = openMaxMs
  }

  get isOpen(): boolean {
    return this.#failures >= this.#failuresMax
  }

  /** @throws {ProviderUnavailable} when no call is to be made now */
  enter(clock: Clock, name: string): void {
    if (!this.isOpen) return
    const waitMs = this.#untilMs - clock.monotonic()
    if (waitMs <= 0 && !this.#isTrying) {
      this.#isTrying = true
      return
    }
    throw new ProviderUnavailable(`${name} does not answer, and is left alone for a while`, {
      retryAfterMs: Math.max(waitMs, this.#openMs),
      cause: this.#why,
    })
  }

  succeeded(): void {
    this.#failures = 0
    this.#isTrying = false
    this.#why = undefined
  }

  failed(error: unknown, { clock, random }: { readonly clock: Clock; readonly random: Random }): void {
    this.#failures++
    this.#isTrying = false
    this.#why = error
    if (!this.isOpen) return
    const doubled = this.#openMs * 2 ** Math.min(this.#failures - this.#failuresMax, 20)
    this.#untilMs = clock.monotonic() + Math.min(this.#openMaxMs, doubled) * (1 + 0.2 * randomFraction(random))
  }

  /** Whoever tried was told to stop: nothing was learned. */
  left(): void {
    this.#isTrying = false
  }
}

/*
 * How many calls one system gets, from all controllers of this process together.
 *
 * Calls wait for their turn in the order in which they came. What the system itself asks for (429) holds for everybody:
 * the next one would be told the same.
 */

interface RateLimiterOptions {
  readonly callsPerSecond: number
  readonly burst?: number
}

export class RateLimiter {
  readonly #spacingMs: number
  readonly #burst: number
  /** When the next call would be due if there had been no pause. */
  #dueMs = -Infinity
  #closedUntilMs = -Infinity

  constructor(
    { callsPerSecond, burst = Math.max(1, callsPerSecond) }: RateLimiterOptions = {
      callsPerSecond: Infinity,
      burst: 1,
    },
  ) {
    if (!(callsPerSecond > 0 && burst >= 1))
      throw new RangeError(
        `a budget needs more than 0 calls a second and a burst of 1 or more, got ${callsPerSecond} and ${burst}`,
      )
    this.#spacingMs = 1000 / callsPerSecond
    this.#burst = burst
  }

  /** Resolves when it is this call's turn. */
  async take({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
    const nowMs = clock.monotonic()
    const startMs = Math.max(this.#dueMs, nowMs - (this.#burst - 1) * this.#spacingMs, this.#closedUntilMs)
    this.#dueMs = startMs + this.#spacingMs
    if (startMs > nowMs) await sleep(clock, startMs - nowMs, { signal })
  }

  /** Nobody calls before so much time has passed. */
  pause(forMs: number, clock: Clock): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, clock.monotonic() + forMs)
    this.#dueMs = Math.max(this.#dueMs, this.#closedUntilMs)
  }
}
