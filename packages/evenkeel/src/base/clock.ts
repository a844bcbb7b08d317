/**
 * The clock interface. No other code reads the time or sets a timer, so that a simulated clock can
 * replace all of it.
 *
 * Two times, never mixed: the wall clock is for timestamps and may jump forward or back; the
 * monotonic clock is for durations and deadlines and never goes back.
 */

/** Stops a timer; calling it again, or after the timer fired, does nothing. */
export type Cancel = () => void

export interface Clock {
  /** The wall clock in milliseconds since 1970. May jump. */
  now(): number
  /** Milliseconds since a fixed moment, with fractions. Never goes back. */
  monotonic(): number
  /** Calls back once after `delayMs`, which may exceed the 24.8 days of `setTimeout`. */
  after(delayMs: number, callback: () => void): Cancel
  /** Calls back in the next turn of the event loop, after pending I/O was polled. */
  soon(callback: () => void): void
}

/** The longest delay of `setTimeout`; a longer one fires at once. */
const longestTimeoutMs = 2 ** 31 - 1

/** The clock of this machine. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now()
  }

  monotonic(): number {
    return performance.now()
  }

  after(delayMs: number, callback: () => void): Cancel {
    checkDelay(delayMs)
    const due = performance.now() + delayMs
    let timer: NodeJS.Timeout
    const arm = (leftMs: number): void => {
      timer = setTimeout(
        () => {
          const stillMs = due - performance.now()
          if (leftMs > longestTimeoutMs && stillMs > 0) arm(stillMs)
          else callback()
        },
        Math.min(leftMs, longestTimeoutMs),
      )
    }
    arm(delayMs)
    return () => {
      clearTimeout(timer)
    }
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }
}

/** Refuses delays that `setTimeout` silently replaces by 1 ms. */
export function checkDelay(delayMs: number): void {
  if (!(delayMs >= 0 && delayMs < Infinity))
    throw new RangeError(`a delay must be 0 or more milliseconds, got ${delayMs}`)
}
