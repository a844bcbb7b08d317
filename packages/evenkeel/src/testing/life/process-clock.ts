/**
 * The clock of one simulated process: the world's, a little off.
 *
 * A process may be ahead of or behind the server, it may be paused (its timers fire late, all at once), and when it
 * has died nothing of it ever fires again.
 */
import type { Cancel, Clock } from '#base'

interface ProcessClockOptions {
  /** How far its wall clock is ahead of the world's. @default 0 */
  readonly offsetMs?: number
  /** How much faster its time passes. @default 1 */
  readonly rate?: number
}

export class ProcessClock implements Clock {
  readonly #world: Clock
  readonly #offsetMs: number
  readonly #rate: number
  readonly #startMs: number
  readonly #late: (() => void)[] = []
  #state: 'running' | 'paused' | 'dead' = 'running'

  constructor(world: Clock, { offsetMs = 0, rate = 1 }: ProcessClockOptions = {}) {
    this.#world = world
    this.#rate = rate
    this.#startMs = world.monotonic()
    this.#offsetMs = offsetMs
  }

  now(): number {
    return this.#world.now() + this.#offsetMs + Math.round((this.#world.monotonic() - this.#startMs) * (this.#rate - 1))
  }

  monotonic(): number {
    const ms = this.#world.monotonic()
    return this.#rate === 1 ? ms : this.#startMs + (ms - this.#startMs) * this.#rate
  }

  after(delayMs: number, callback: () => void): Cancel {
    let isCancelled = false
    const fire = (): void => {
      if (isCancelled || this.#state === 'dead') return
      if (this.#state === 'paused') this.#late.push(fire)
      else callback()
    }
    const cancel = this.#world.after(this.#rate === 1 ? delayMs : delayMs / this.#rate, fire)
    return () => {
      isCancelled = true
      cancel()
    }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
  }

  /** What fell due meanwhile happens now. */
  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    for (const fire of this.#late.splice(0)) fire()
  }

  kill(): void {
    this.#state = 'dead'
    this.#late.length = 0
  }
}
