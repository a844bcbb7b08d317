/**
 * Far timers: what a program or a service does later than the time after which a world counts as quiet.
 *
 * A certificate is renewed in 60 days, a backup is due at three o'clock. When the world is quiet, time leaps to the next
 * far timer, and its work is done. Far timers are the requeues that reconciles asked for (`afterMs`), and timers that the
 * program or a service has set on the clock it was given.
 *
 * A leap moves the wall clock, and the monotonic clock of programs and services. It does not move the monotonic clock of
 * the framework. So lease renewals, watch timeouts, resyncs and retries do not count, and do not even notice it.
 *
 *     step 1: create Certificate web     reconcile: issues it, returns { afterMs: 60 days }
 *     the world is quiet                 a leap of 60 days; reconcile: renews it, returns { afterMs: 60 days }
 *     the world is quiet                 this timer was waited for in this step: the user takes step 2
 *
 * Invariant: in each step of the user a requeue of the same generation of an object is waited for once, and a step has at
 * most `leapsMax` leaps. So periodic work does not keep a schedule from ending.
 */
import { parseKey, type UnstructuredObject } from '#api'
import type { Cancel, Clock, SimulatedClock } from '#base'
import type { History } from './history.ts'
import type { SimulatedProcess } from './process.ts'
import { describeObject } from './snapshot.ts'

/** How often time leaps in one step: of the default waiting, and of a step that waits. */
const [leapsMax, waitLeapsMax] = [20, 50]

interface FarTimer {
  /** The same timer in a later quiet state of the same step has the same name. */
  readonly name: string
  /** What it is for. */
  readonly about: string
  readonly inMs: number
  fire(): void
}

/** What a reconcile asked for. */
interface Requeue extends FarTimer {
  readonly object: UnstructuredObject
}

/** Where far timers come from. */
interface TimedWorld {
  readonly processes: readonly SimulatedProcess[]
  readonly history: Pick<History, 'objects' | 'events'>
}

interface FarTimersOptions {
  readonly clock: SimulatedClock
  /** Timers up to this delay are waited for without a leap. */
  readonly nearMs: number
  /** How often each timer is waited for in a step; 0: only steps that wait let time pass. */
  readonly times: number
}

interface ClockTimer {
  readonly sequence: number
  readonly dueMs: number
  readonly owner: object
  isAlive(): boolean
  fire(): void
}

export class FarTimers {
  readonly #options: FarTimersOptions
  readonly #timers = new Set<ClockTimer>()
  #sequence = 0
  #leapedMs = 0
  /** How long all steps have waited. */
  #waitedMs = 0
  /** Of the current step: how often each timer was waited for, and how often time has leapt. */
  #step = { waited: new Map<string, number>(), leaps: 0, lastTimer: Infinity, waitLeftMs: 0, waitLeaps: 0 }
  #requeues: { readonly at: string; readonly abouts: readonly string[] } | undefined
  /** How often time has leapt in the whole schedule. */
  leaps = 0

  constructor(options: FarTimersOptions) {
    this.#options = options
  }

  /** How far all leaps went together. */
  get leapedMs(): number {
    return this.#leapedMs
  }

  /** Whether time has leapt in this step. */
  get hasLeapt(): boolean {
    return this.#step.leaps + this.#step.waitLeaps > 0
  }

  /** The user takes a step; one that waits lets this much time pass. */
  beginStep({ waitMs = 0 }: { waitMs?: number } = {}): void {
    this.#waitedMs += waitMs
    const waitLeftMs = this.#step.waitLeftMs + waitMs
    this.#step = { waited: new Map(), leaps: 0, lastTimer: Infinity, waitLeftMs, waitLeaps: 0 }
  }

  /** An object begins its life again: what it needs the time of earlier steps for needs it once more. */
  waitAgain(): void {
    this.#step.waitLeftMs += this.#waitedMs
  }

  /**
   * The world is quiet: leaps to the next far timer.
   *
   * @param options `untilMs`: what is due by then is waited for any number of times
   * @returns what time leapt to; undefined: there is nothing to wait for
   */
  leap(world: TimedWorld, { untilMs = 0 }: { untilMs?: number } = {}): string | undefined {
    return this.#step.waitLeftMs > 0 ? this.#leapWithin(this.#step.waitLeftMs, world) : this.#leapOnce(world, untilMs)
  }

  /** The objects with a far requeue: `App default/a`. */
  requeues({ processes, history }: TimedWorld): readonly string[] {
    // Every reconcile takes a moment and every change is an event: at the same time and event the answer is the same.
    const at = `${this.#options.clock.monotonic()} ${this.#leapedMs} ${history.events.length} ${processes.filter(({ isDead }) => !isDead).length}`
    if (this.#requeues?.at !== at)
      this.#requeues = {
        at,
        abouts: processes
          .filter(({ isDead }) => !isDead)
          .flatMap((proc) => this.#requeuesOf(proc, history).map(({ object }) => describeObject(object))),
      }
    return this.#requeues.abouts
  }

  /** Moves the wall clock, unless a far timer is due by then. @returns a function that moves it back */
  passUnnoticed(byMs: number, world: TimedWorld): () => void {
    if (this.#pending(world).some(({ inMs }) => inMs <= byMs)) return () => undefined
    const { clock } = this.#options
    clock.jumpWall(byMs)
    return () => {
      clock.jumpWall(-byMs)
    }
  }

  /** All that a step still has to wait passes now: no process is there yet. */
  passAtOnce(): void {
    if (this.#step.waitLeftMs > 0) this.#move(this.#step.waitLeftMs)
    this.#step.waitLeftMs = 0
  }

  /** The clock of a service, or of the program of a process. */
  clockFor(clock: Clock, { isAlive = () => true }: { isAlive?: () => boolean } = {}): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + this.#leapedMs,
      soon: (callback) => {
        clock.soon(callback)
      },
      after: (delayMs, callback) =>
        delayMs > this.#options.nearMs
          ? this.#addTimer({ clock, isAlive }, delayMs, callback)
          : clock.after(delayMs, callback),
    }
  }

  #addTimer(
    { clock, isAlive }: { readonly clock: Clock; isAlive(): boolean },
    delayMs: number,
    callback: () => void,
  ): Cancel {
    const fire = (): void => {
      end()
      callback()
    }
    let cancel = clock.after(delayMs, fire)
    const timer: ClockTimer = {
      sequence: this.#sequence++,
      dueMs: this.#options.clock.monotonic() + this.#leapedMs + delayMs,
      owner: clock,
      isAlive,
      fire: () => {
        end()
        cancel = clock.after(0, callback)
      },
    }
    const end = (): void => {
      this.#timers.delete(timer)
      cancel()
    }
    this.#timers.add(timer)
    return end
  }

  #leapOnce(world: TimedWorld, untilMs: number): string | undefined {
    const { times } = this.#options
    const step = this.#step
    if (times === 0 || step.leaps >= leapsMax) return undefined
    if (step.leaps === 0) step.lastTimer = this.#sequence
    const leftMs = untilMs - this.#options.clock.monotonic() - this.#leapedMs
    const next = soonest(
      this.#pending(world).filter(({ name, inMs }) => inMs <= leftMs || (step.waited.get(name) ?? 0) < times),
    )
    if (!next) return undefined
    step.leaps++
    step.waited.set(next.name, (step.waited.get(next.name) ?? 0) + 1)
    return this.#fire(next)
  }

  /** Time passes as the user wants it: from timer to timer, and the rest at once. */
  #leapWithin(waitMs: number, world: TimedWorld): string {
    const step = this.#step
    const next = soonest(this.#pending(world))
    if (next && next.inMs <= waitMs && step.waitLeaps++ < waitLeapsMax) {
      step.waitLeftMs -= Math.max(0, next.inMs)
      return this.#fire(next)
    }
    step.waitLeftMs = 0
    this.#move(waitMs)
    for (const overdue of this.#pending(world)) if (overdue.inMs <= 0) overdue.fire()
    return 'the end of the wait'
  }

  #fire({ inMs, about, fire }: FarTimer): string {
    this.#move(Math.max(0, inMs))
    fire()
    return about
  }

  #move(byMs: number): void {
    this.leaps++
    this.#leapedMs += byMs
    this.#options.clock.jumpWall(byMs)
  }

  #pending({ processes, history }: TimedWorld): FarTimer[] {
    const nowMs = this.#options.clock.monotonic() + this.#leapedMs
    const found: FarTimer[] = processes
      .filter(({ isDead }) => !isDead)
      .flatMap((proc) => this.#requeuesOf(proc, history))
    for (const { sequence, dueMs, isAlive, fire, owner } of this.#timers) {
      // What a service has begun ends, also if it begins in a leap; a program may set its next timer each time.
      const isOfService = owner === this.#options.clock
      if (!isAlive() || (!isOfService && sequence >= this.#step.lastTimer)) continue
      found.push({
        name: `timer ${sequence}`,
        about: isOfService ? 'a timer of a service' : 'a timer of the program',
        inMs: dueMs - nowMs,
        fire,
      })
    }
    return found
  }

  /** The far requeues that the last runs have asked for, of objects that exist. */
  #requeuesOf({ manager, clock }: SimulatedProcess, history: TimedWorld['history']): Requeue[] {
    const seen = new Set<string>()
    return (manager?.ledger.entries() ?? []).flatMap(({ controller: name, key, startedMs, end }): Requeue[] => {
      const run = `${name} ${key}`
      if (seen.has(run)) return []
      seen.add(run)
      if (end?.result !== 'requeue_after' || (end.afterMs ?? 0) <= this.#options.nearMs) return []
      const controller = manager?.controllers.find((one) => one.name === name)
      const { namespace, name: objectName, kind } = parseKey(key)
      const object = controller && objectOf(key, controller.declaration.for.plural, history)
      if (!object) return []
      const { uid = '', generation = 0 } = object.metadata
      return [
        {
          object,
          name: `${name} ${uid} ${generation}`,
          about: `the requeue of ${kind} ${objectName}`,
          inMs: startedMs + end.durationMs + (end.afterMs ?? 0) - clock.now(),
          fire: () => {
            controller.enqueue(
              { name: objectName, ...(namespace !== undefined && { namespace }) },
              { note: 'its time has come' },
            )
          },
        },
      ]
    })
  }
}

function objectOf(key: string, plural: string, { objects }: TimedWorld['history']): UnstructuredObject | undefined {
  const { group, namespace, name } = parseKey(key)
  const place = namespace === undefined ? [name] : [namespace, name]
  return objects.get(['', 'default', group === '' ? 'core' : group, plural, ...place].join('/'))
}

function soonest(timers: readonly FarTimer[]): FarTimer | undefined {
  return timers.reduce<FarTimer | undefined>((first, one) => (first && first.inMs <= one.inMs ? first : one), undefined)
}
