/**
 * The write gate: a transport that refuses writes unless the lease is verified.
 *
 * A process that was suspended (a blocked event loop, a sleeping machine, SIGSTOP) does not notice it. So the question is
 * not "am I the leader?" but "until when?". It is asked when a request is made and again when it is written to the
 * socket. A request that waits for a connection when the deadline passes is aborted.
 *
 *   deadline 12.0   write at 11.9 ──▶ waits for a connection ──▶ 12.1: not sent, LeaseNotVerifiedError
 *                   write at 11.9 ──▶ sent at 11.95 ──▶ no answer by 12.0 ──▶ aborted: it may or may not have happened
 *                   write at 11.0 ──▶ renewal moves the deadline to 14.0 ──▶ answer at 12.5 ──▶ fine
 *
 * The gate wraps the connection itself, so every retry is checked again. No server checks the lease, so a write in flight
 * cannot be stopped: the time between `holdMs` and `leaseMs` is for those.
 *
 * The deadline is in memory that two threads share, by two clocks that must agree: the monotonic clock stops while some
 * machines sleep, and the wall clock may be set. If they disagree, the gate is closed until the next renewal. Only a wall
 * clock that is set back by exactly the time of a sleep would hide that sleep.
 *
 * Invariants of the deadline: only the renewing thread writes it; each of the two times is read and written atomically,
 * and a reader that sees one old and one new time is on the safe side; a deadline that was never set has passed.
 */
import { onAbort, type Clock } from '#base'
import type { ClientOptions } from '#client'

type Transport = ClientOptions['transport']
type WireRequest = Parameters<Transport>[0]

interface WriteGateOptions {
  readonly clock: Clock
}

const brand = Symbol.for('evenkeel.LeaseNotVerifiedError')

/** A write was refused, because another replica may hold the lease. The message says whether it was sent. */
export class LeaseNotVerifiedError extends Error {
  override readonly name = 'LeaseNotVerifiedError'

  constructor(
    { method, target }: Pick<WireRequest, 'method' | 'target'>,
    { mayHaveHappened = false }: { mayHaveHappened?: boolean } = {},
  ) {
    const what = mayHaveHappened ? 'was aborted and may or may not have happened' : 'was not sent'
    super(
      `lease not verified: ${method} ${target.split('?')[0] ?? ''} ${what}, because another replica may be the leader`,
    )
  }

  get [brand](): true {
    return true
  }
}

/** Whether an error is a {@link LeaseNotVerifiedError}, of this or another copy of the package. */
export function isLeaseNotVerified(error: unknown): error is LeaseNotVerifiedError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

/** @throws {LeaseNotVerifiedError} for a write after the deadline. */
export function checkWriteGate(request: Pick<WireRequest, 'method' | 'target'>, deadline: LeaseDeadline): void {
  if (isWrite(request) && !deadline.isOpen) throw new LeaseNotVerifiedError(request)
}

/** The same transport, with reads at any time and writes only before the deadline. */
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

/** A streamed response can be aborted until its last chunk was read. */
async function* thenDone(chunks: AsyncIterable<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } finally {
    done()
  }
}

/** Aborts with the signal of the request, or when the deadline passes. Follows a deadline that moves. */
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

/** Access and token reviews are POST requests without effects. */
const reviews = /^\/apis\/(?:authentication|authorization)\.k8s\.io\//

function isWrite({ method, target }: Pick<WireRequest, 'method' | 'target'>): boolean {
  return method !== 'GET' && method !== 'HEAD' && !reviews.test(target)
}

interface LeaseDeadlineOptions {
  /** The clock of the reading thread. */
  readonly clock: Clock
  /**
   * The memory of a deadline in another thread.
   *
   * @default new memory
   */
  readonly memory?: SharedArrayBuffer
}

/** A time by both clocks. */
export interface ClockReading {
  readonly monotonicMs: number
  readonly wallMs: number
}

const [monotonicCell, wallCell] = [0, 1]

/** Until when writes may be sent. See the file header. */
export class LeaseDeadline {
  readonly memory: SharedArrayBuffer
  readonly #cells: BigInt64Array
  readonly #clock: Clock

  constructor({ clock, memory = new SharedArrayBuffer(16) }: LeaseDeadlineOptions) {
    if (memory.byteLength !== 16)
      throw new RangeError(`the memory of a deadline must have 16 bytes, got ${memory.byteLength}`)
    this.memory = memory
    this.#cells = new BigInt64Array(memory)
    this.#clock = clock
  }

  /** Whether the lease is verified now. */
  get isOpen(): boolean {
    return this.leftMs > 0
  }

  /** How long the lease stays verified without a renewal; 0 or less if it is not. */
  get leftMs(): number {
    const [byMonotonicMs, byWallMs] = [
      this.#read(monotonicCell) - this.#clock.monotonic(),
      this.#read(wallCell) - this.#clock.now(),
    ]
    return Math.min(byMonotonicMs, byWallMs, Math.abs(byMonotonicMs - byWallMs) > disagreementMaxMs ? 0 : Infinity)
  }

  /** The lease is verified until then. */
  open({ monotonicMs, wallMs }: ClockReading): void {
    this.#write(wallCell, wallMs)
    this.#write(monotonicCell, monotonicMs)
  }

  /** No write may be sent from now on. */
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

/** Larger than the drift of clocks during a correction, and shorter than a relevant sleep. */
const disagreementMaxMs = 500

/** Before any time of any clock. */
const neverMicros = -(2n ** 62n)
