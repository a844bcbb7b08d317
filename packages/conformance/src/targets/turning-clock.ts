/**
 * Simulated time with real turns: timers wait until time is moved, but `turn` waits for a real turn of the event
 * loop, so that an engine with real files makes progress.
 */
import { SimulatedClock, SystemClock } from 'evenkeel/unstable/base'

export class TurningClock extends SimulatedClock {
  readonly #system = new SystemClock()

  override soon(callback: () => void): void {
    this.#system.soon(callback)
  }
}
