/**
 * The write gate: a transport through which nothing that changes anything passes unless the lease was verified.
 *
 * A process that stood still (a blocked event loop, a machine that slept, a stopped process) does not know it. So the
 * question is not "am I the leader?" but "until when?", asked at the moment of sending: when the write is made, and once
 * more when it is written to its socket. One that waits for a connection when the time runs out is taken back.
 *
 * It goes innermost, around the connection itself: retries then ask again each time. No server checks the lease, so a
 * write that is already on its way cannot be stopped: the time between `holdMs` and `leaseMs` is for those.
 */
import { onAbort, type Clock } from '#base'
import type { ClientOptions } from '#client'

type Transport = ClientOptions['transport']
type WireRequest = Parameters<Transport>[0]

interface WriteGateOptions {
  readonly clock: Clock
}

const brand = Symbol.for('evenkeel.LeaseNotVerifiedError')

/** A write that was refused because the lease may be somebody else's by now. It was not sent. */
export class LeaseNotVerifiedError extends Error {
  override readonly name = 'LeaseNotVerifiedError'

  constructor(
    { method, target }: Pick<WireRequest, 'method' | 'target'>,
    { mayHaveHappened = false }: { mayHaveHappened?: boolean } = {},
  ) {
    const what = mayHaveHappened ? 'was given up, and may or may not have happened' : 'was not sent'
    super(
      `lease not verified: ${method} ${target.split('?')[0] ?? ''} ${what}, because another replica may lead by now`,
    )
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is a {@link LeaseNotVerifiedError}, of this or another copy of the package. */
export function isLeaseNotVerified(error: unknown): error is LeaseNotVerifiedError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

/** Refuses a write once the deadline has passed. */
export function checkWriteGate(request: Pick<WireRequest, 'method' | 'target'>, deadline: LeaseDeadline): void {
  if (isWrite(request) && !deadline.isOpen) throw new LeaseNotVerifiedError(request)
}

/** The same transport, for reads at any time and for writes before the deadline. */
export function gateWrites(transport: Transport, deadline: LeaseDeadline, { clock }: WriteGateOptions): Transport {
  return async (request) => {
    if (!isWrite(request)) return transport(request)
    checkWriteGate(request, deadline)
    const limit = untilClosed(request, deadline, clock)
    try {
      const beforeSend = (): void => {
        checkWriteGate(request, deadline)
        request.beforeSend?.()
      }
      const response = await transport({ ...request, signal: limit.signal, beforeSend })
      if (response.body === undefined || !(Symbol.asyncIterator in response.body)) limit.done()
      else return { ...response, body: thenDone(response.body, limit.done) }
      return response
    } catch (error) {
      limit.done()
      throw error
    }
  }
}

/** An answer in pieces can be ended until its last one was read. */
async function* thenDone(pieces: AsyncIterable<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } finally {
    done()
  }
}

/** Aborts with the request's own signal, or when the deadline passes without having been moved. */
function untilClosed(
  request: WireRequest,
  deadline: LeaseDeadline,
  clock: Clock,
): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController()
  const stop = onAbort(request.signal, (reason) => {
    controller.abort(reason)
  })
  let cancel = (): void => undefined
  const arm = (): void => {
    const { leftMs } = deadline
    if (leftMs <= 0) controller.abort(new LeaseNotVerifiedError(request, { mayHaveHappened: true }))
    else cancel = clock.after(Math.ceil(leftMs), arm)
  }
  arm()
  return {
    signal: controller.signal,
    done() {
      cancel()
      stop()
    },
  }
}

/** Questions that are asked by POST change nothing. */
const reviews = /^\/apis\/(?:authentication|authorization)\.k8s\.io\//

function isWrite({ method, target }: Pick<WireRequest, 'method' | 'target'>): boolean {
  return method !== 'GET' && method !== 'HEAD' && !reviews.test(target)
}

/*
 * Until when writes may leave, in memory that two threads share.
 *
 * Two clocks are asked, and they must agree: the monotonic one stands still while some machines sleep, and the wall
 * clock may be set. When they disagree nobody knows how late it is: then the gate is closed until the next renewal. Only
 * a wall clock that is set back by just as long as the machine slept would hide the sleep from both.
 *
 * Invariants: only whoever renews the lease writes; each of the two moments is read and written as a whole, and a
 * reader that sees one old and one new is on the safe side; a deadline that was never set has passed.
 */

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
