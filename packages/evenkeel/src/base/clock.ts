/**
 * Time, as everybody above this layer sees it. Nothing else in the library reads a clock or
 * sets a timer, so that a simulated twin can stand in for all of it.
 *
 * Two times, never mixed: the wall clock is for stamps that people read and may jump either
 * way; the monotonic clock is for durations and deadlines and never goes back.
 */

/** Stops a timer; calling it again, or after the timer fired, does nothing. */
export type Cancel = () => void

export interface Clock {
  /** Milliseconds since 1970, as the wall says. May jump. */
  now(): number
  /** Milliseconds since some fixed moment, with fractions. Never goes back. */
  monotonic(): number
  /** Calls back once, `delayMs` from now; any length, also beyond the 24.8 days of `setTimeout`. */
  after(delayMs: number, callback: () => void): Cancel
  /** Calls back when the work of this turn is done and waiting input was looked at. */
  soon(callback: () => void): void
}

/** The longest delay that `setTimeout` takes; a longer one would fire at once. */
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

/** Refuses what `setTimeout` would silently take for 1 ms. */
export function checkDelay(delayMs: number): void {
  if (!(delayMs >= 0 && delayMs < Infinity))
    throw new RangeError(`a delay must be 0 or more milliseconds, got ${delayMs}`)
}
