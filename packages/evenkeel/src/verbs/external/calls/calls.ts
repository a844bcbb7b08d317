/**
 * The one way out: every call of a driver goes through here, with a budget, a deadline and a breaker of its system.
 *
 * Shared by everybody in this process who uses the same driver. Invariants: no call without its turn in the budget; a
 * driver that hangs does not hold up whoever called it; a system that is down is not called by everybody in turn.
 */
import { abortable, deadline } from '#base'
import type { Clock, Random } from '#base'
import type { Driver, DriverCall } from '../driver/driver.ts'
import { failureOf, retryAfterOf } from '../driver/failure.ts'
import { CircuitBreaker } from './breaker.ts'
import { RateLimiter } from './budget.ts'

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
