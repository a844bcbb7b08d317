/**
 * A lease on a server that can be slow, lose requests and lose answers, and clocks that can stand still.
 *
 * A call is: on its way, stored (or refused), its answer on its way. What a fault does is said per call, in order.
 */
import { alreadyExists, ApiError, notFound, staleVersion } from '#api'
import { onAbort, SeededRandom, SimulatedClock, sleep, type Cancel, type Clock } from '#base'
import { Candidate, type CampaignEnd, type CampaignEvent } from './candidate.ts'
import { checkTimes, leaseKind, type LeaseLock, type LeaseObject, type LeaseSpec } from './lease.ts'
import { LeaseDeadline } from './write-gate.ts'

const subject = { group: 'coordination.k8s.io', kind: 'leases', name: 'it' }

export interface Trip {
  /** Until the server looks at it. */
  readonly thereMs?: number
  /** Until the answer is back. */
  readonly backMs?: number
  /** The request never arrives, the answer never does, or the server is broken. */
  readonly fault?: 'request-lost' | 'answer-lost' | 'broken' | undefined
}

export class LeaseServer {
  readonly #clock: SimulatedClock
  readonly calls: string[] = []
  /** What happens to the next calls; afterwards they are quick and work. */
  trip: (call: string) => Trip = () => ({})
  onCommit: () => void = () => undefined
  lease: LeaseObject | undefined
  #version = 0

  constructor(clock: SimulatedClock) {
    this.#clock = clock
  }

  /** The lease as a client sees it; a client that is cut off gets no answers. */
  lock({ isCutOff = () => false }: { isCutOff?: () => boolean } = {}): LeaseLock {
    const call = <T>(name: string, act: () => T, signal: AbortSignal | undefined): Promise<T> =>
      this.#call(name, act, { signal, isCutOff })
    return {
      name: 'default/it',
      read: ({ signal }) => call('read', () => this.lease, signal),
      create: (spec, { signal }) =>
        call(
          'create',
          () => {
            if (this.lease) throw alreadyExists(subject)
            return this.put(spec)
          },
          signal,
        ),
      replace: (lease, { signal }) =>
        call(
          'replace',
          () => {
            if (!this.lease) throw notFound(subject)
            if (lease.metadata.resourceVersion !== this.lease.metadata.resourceVersion) throw staleVersion(subject)
            return this.put(lease.spec ?? {})
          },
          signal,
        ),
    }
  }

  /** Stores the record as somebody else would. */
  put(spec: LeaseSpec): LeaseObject {
    this.lease = {
      apiVersion: leaseKind.apiVersion,
      kind: 'Lease',
      metadata: { name: 'it', namespace: 'default', resourceVersion: String(++this.#version) },
      spec,
    }
    this.onCommit()
    return this.lease
  }

  async #call<T>(
    name: string,
    act: () => T,
    { signal, isCutOff }: { signal: AbortSignal | undefined; isCutOff: () => boolean },
  ): Promise<T> {
    this.calls.push(name)
    const { thereMs = 0, backMs = 0, fault } = isCutOff() ? { fault: 'request-lost' as const } : this.trip(name)
    // The server goes on with what has arrived, whether anybody waits for the answer or not.
    const done = this.#serve({ thereMs, backMs, fault }, act)
    done.catch(() => undefined)
    return new Promise<T>((resolve, reject) => {
      const stop = onAbort(signal, reject)
      done.then(resolve, reject).finally(stop)
    })
  }

  async #serve<T>({ thereMs = 0, backMs = 0, fault }: Trip, act: () => T): Promise<T> {
    if (thereMs > 0) await sleep(this.#clock, thereMs)
    if (fault === 'request-lost') return await new Promise<T>(() => undefined)
    if (fault === 'broken') throw new ApiError('InternalError', 'broken')
    const answer = act()
    if (fault === 'answer-lost') return await new Promise<T>(() => undefined)
    if (backMs > 0) await sleep(this.#clock, backMs)
    return answer
  }
}

/** One machine's clocks in a world that has its own: skewed, and able to stand still. */
export class MachineClock implements Clock {
  readonly #world: SimulatedClock
  readonly #skewMs: number
  #sleptMs = 0
  #asleep = { fromMs: 0, untilMs: 0 }
  #standsUntilMs = 0

  constructor(world: SimulatedClock, { skewMs = 0 }: { skewMs?: number } = {}) {
    this.#world = world
    this.#skewMs = skewMs
  }

  now(): number {
    return this.#world.now() + this.#skewMs
  }

  monotonic(): number {
    return this.#world.monotonic() - this.#sleptMs - this.#asleepMs()
  }

  /** Nothing runs for a while, but time goes on: a blocked event loop, a stopped process. */
  block(forMs: number): void {
    this.#standsUntilMs = this.#world.monotonic() + forMs
  }

  /** Nothing runs for a while, and the monotonic clock does not notice: a machine that sleeps. */
  sleep(forMs: number): void {
    this.#sleptMs += this.#asleepMs()
    const fromMs = this.#world.monotonic()
    this.#asleep = { fromMs, untilMs: fromMs + forMs }
    this.block(forMs)
  }

  after(delayMs: number, callback: () => void): Cancel {
    const dueMs = this.monotonic() + delayMs
    let cancel: Cancel
    const look = (): void => {
      const leftMs = Math.max(dueMs - this.monotonic(), this.#standsUntilMs - this.#world.monotonic())
      // Less than a nanosecond is a rounding error, and might never pass.
      if (leftMs > 1e-6) cancel = this.#world.after(leftMs, look)
      else callback()
    }
    cancel = this.#world.after(delayMs, look)
    return () => {
      cancel()
    }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  #asleepMs(): number {
    const { fromMs, untilMs } = this.#asleep
    return Math.min(this.#world.monotonic(), untilMs) - fromMs
  }
}

interface Stood {
  readonly deadline: LeaseDeadline
  readonly events: CampaignEvent[]
  readonly clock: MachineClock
  readonly end: () => CampaignEnd | undefined
  readonly isLeading: () => boolean
  readonly stop: () => void
}

/** Candidates for one lease, on one simulated clock. */
export function world(): {
  clock: SimulatedClock
  server: LeaseServer
  stand: (identity?: string, options?: { skewMs?: number; release?: boolean }) => Stood
} {
  const clock = new SimulatedClock()
  const server = new LeaseServer(clock)
  const stand = (
    identity = 'me',
    { skewMs = 0, release = true }: { skewMs?: number; release?: boolean } = {},
  ): Stood => {
    const own = new MachineClock(clock, { skewMs })
    const deadline = new LeaseDeadline({ clock: own })
    const events: CampaignEvent[] = []
    const stopping = new AbortController()
    let end: CampaignEnd | undefined
    const candidate = new Candidate({
      lock: server.lock(),
      identity,
      times: checkTimes(),
      deadline,
      clock: own,
      random: new SeededRandom(identity),
      release,
    })
    void candidate
      .run({
        signal: stopping.signal,
        onEvent: (event) => {
          events.push(event)
        },
      })
      .then((ended) => {
        end = ended
      })
    return {
      deadline,
      events,
      clock: own,
      end: () => end,
      isLeading: () => events.some(({ type }) => type === 'leading') && end === undefined,
      stop: () => {
        stopping.abort()
      },
    }
  }
  return { clock, server, stand }
}
