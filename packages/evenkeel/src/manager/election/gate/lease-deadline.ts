/**
 * Until when writes may leave, in memory that two threads share.
 *
 * Two clocks are asked, and they must agree: the monotonic one stands still while some machines sleep, and the wall
 * clock may be set. When they disagree nobody knows how late it is: then the gate is closed until the next renewal. Only
 * a wall clock that is set back by just as long as the machine slept would hide the sleep from both.
 *
 * Invariants: only whoever renews the lease writes; each of the two moments is read and written as a whole, and a
 * reader that sees one old and one new is on the safe side; a deadline that was never set has passed.
 */
import type { Clock } from '#base'

interface LeaseDeadlineOptions {
  /** The clock of whoever asks. */
  readonly clock: Clock
  /**
   * Memory of another thread's deadline.
   *
   * @default new memory
   */
  readonly memory?: SharedArrayBuffer
}

/** A moment by both clocks. */
export interface ClockReading {
  readonly monotonicMs: number
  readonly wallMs: number
}

const [monotonicCell, wallCell] = [0, 1]

export class LeaseDeadline {
  readonly memory: SharedArrayBuffer
  readonly #cells: BigInt64Array
  readonly #clock: Clock

  constructor({ clock, memory = new SharedArrayBuffer(16) }: LeaseDeadlineOptions) {
    if (memory.byteLength !== 16)
      throw new RangeError(`the memory of a deadline has 16 bytes, got ${memory.byteLength}`)
    this.memory = memory
    this.#cells = new BigInt64Array(memory)
    this.#clock = clock
  }

  /** Whether the lease is known to be ours at this very moment. */
  get isOpen(): boolean {
    return this.leftMs > 0
  }

  /** How long it will still be ours if nobody renews it; 0 or less when it is not. */
  get leftMs(): number {
    const [byMonotonicMs, byWallMs] = [
      this.#read(monotonicCell) - this.#clock.monotonic(),
      this.#read(wallCell) - this.#clock.now(),
    ]
    return Math.min(byMonotonicMs, byWallMs, Math.abs(byMonotonicMs - byWallMs) > disagreementMaxMs ? 0 : Infinity)
  }

  /** The lease was verified to be good until then. */
  open({ monotonicMs, wallMs }: ClockReading): void {
    this.#write(wallCell, wallMs)
    this.#write(monotonicCell, monotonicMs)
  }

  /** Nothing may leave from now on. */
  close(): void {
    Atomics.store(this.#cells, monotonicCell, neverMicros)
    Atomics.store(this.#cells, wallCell, neverMicros)
  }

  #read(cell: number): number {
    return Number(Atomics.load(this.#cells, cell)) / 1000
  }

  #write(cell: number, momentMs: number): void {
    Atomics.store(this.#cells, cell, BigInt(Math.floor(momentMs * 1000)))
  }
}

/** More than clocks drift apart while they are being corrected, and less than a sleep that matters. */
const disagreementMaxMs = 500

/** Before any moment of any clock. */
const neverMicros = -(2n ** 62n)
