/**
 * The pace at which a body has to arrive: a pause may last `bodyIdleMs`, and after a grace of `bodyGraceMs` the bytes
 * must have come at `bodyBytesPerSecondMin` on average. A client that sends a byte now and then is cut off, however
 * regularly it does.
 *
 *   grace 10 s, 4096 bytes a second      after 10 s it must have sent 1 byte, after 20 s 40 KiB, after 30 s 80 KiB
 *
 * The time in which the server does not read does not count.
 */
import type { ListenLimits } from './connection.ts'

export class BodyPace {
  readonly #limits: Pick<ListenLimits, 'bodyIdleMs' | 'bodyGraceMs' | 'bodyBytesPerSecondMin'>
  #startMs: number
  #lastMs: number
  #bytes = 0

  constructor(limits: ListenLimits, nowMs: number) {
    this.#limits = limits
    this.#startMs = this.#lastMs = nowMs
  }

  add(bytes: number, nowMs: number): void {
    this.#bytes += bytes
    this.#lastMs = nowMs
  }

  /** The server did not read until now. */
  restart(nowMs: number): void {
    this.#startMs = this.#lastMs = nowMs
    this.#bytes = 0
  }

  isLate(nowMs: number): boolean {
    const { bodyIdleMs, bodyGraceMs, bodyBytesPerSecondMin } = this.#limits
    if (nowMs - this.#lastMs >= bodyIdleMs) return true
    return nowMs - this.#startMs >= bodyGraceMs + (1000 * this.#bytes) / bodyBytesPerSecondMin
  }
}
