/**
 * Simulated time with real turns: timers wait until time is moved, but "when waiting input was
 * looked at" is meant literally, so an engine that works with real files gets on by itself.
 */
import { SimulatedClock, SystemClock } from 'evenkeel/unstable/base'

export class TurningClock extends SimulatedClock {
  readonly #system = new SystemClock()

  override soon(callback: () => void): void {
    this.#system.soon(callback)
  }
}
