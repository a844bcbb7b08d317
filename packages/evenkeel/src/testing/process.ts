/**
 * A simulated process: the program from its start to its end, which may be a crash.
 *
 * A process has its own client, cache, queue, clock and random source; all of its memory is lost when it ends. A crash
 * aborts nothing and notifies nothing, as a real one: the promises of the program never settle.
 *
 * The clock of a process follows simulated time. It may have an offset or another rate, and it may be paused: its timers
 * then fire late, all at once. After a crash no timer fires.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createLogger,
  LightAbortController,
  Metrics,
  SeededRandom,
  type Cancel,
  type Clock,
  type LogRecord,
} from '#base'
import { Client } from '#client'
import { silentTracing, type ControllerDeclaration } from '#controller'
import { Manager } from '#manager'
import { externalServicesOf } from './external-services.ts'
import type { FarTimers } from './far-timers.ts'
import { NetworkLink, type NetworkHost } from './network.ts'
import { trackRuns } from './observed-state.ts'
import type { Scenario } from './scenario.ts'

/** The process whose code is running. */
const processStorage = new AsyncLocalStorage<SimulatedProcess>()

/** Ends the tracking of `currentProcess`, which costs time. */
export function stopTrackingProcesses(): void {
  processStorage.disable()
}

/** The process whose code is running, if it is tracked. */
export function currentProcess(): SimulatedProcess | undefined {
  return processStorage.getStore()
}

interface SimulatedProcessOptions {
  /** `A`; after its first crash `A2`. */
  readonly name: string
  readonly scenario: Scenario
  readonly host: NetworkHost
  readonly clock: Clock
  readonly farTimers: Pick<FarTimers, 'clockFor'>
  readonly seed: string
  readonly skew: { readonly offsetMs: number; readonly rate?: number }
  /** Every controller has one worker, whatever its declaration says. */
  readonly isSerial: boolean
  /** How many revisions behind the first lists are. @default 0 */
  readonly back?: number
  /** Only the first list of this resource is stale. @default all are */
  readonly staleKind?: string | undefined
  /** Track which process runs, through every await: this costs time. */
  readonly isTracked: boolean
  /** The server refuses streaming lists. */
  readonly oldLists: boolean
  /** The external services themselves. */
  readonly services: object
  onLog(proc: SimulatedProcess, record: LogRecord): void
  /** The program returned or threw. */
  onEnd(proc: SimulatedProcess, error: unknown): void
}

export class SimulatedProcess {
  readonly name: string
  readonly network: NetworkLink
  readonly clock: ProcessClock
  readonly #options: SimulatedProcessOptions
  #manager: Manager | undefined
  #isDead = false

  constructor(options: SimulatedProcessOptions) {
    this.name = options.name
    this.#options = options
    this.clock = new ProcessClock(options.clock, options.skew)
    this.network = new NetworkLink(options.host, this, {
      oldLists: options.oldLists,
      back: options.back ?? 0,
      staleKind: options.staleKind,
    })
  }

  get isDead(): boolean {
    return this.#isDead
  }

  get manager(): Manager | undefined {
    return this.#manager
  }

  /** Runs the program. An error of its factory counts as its end. */
  start(): void {
    const { scenario, seed, services, farTimers, host, onEnd } = this.#options
    const { clock, name } = this
    const random = new SeededRandom(`${seed} ${name}`)
    const log = createLogger({
      clock,
      level: 'debug',
      sink: (record) => {
        if (!this.#isDead) this.#options.onLog(this, record)
      },
    })
    const begin = (): void => {
      try {
        const client = new Client({
          transport: this.network.transport,
          clock,
          random: new SeededRandom(`${seed} ${name} client`),
          namespace: 'default',
          fieldManager: scenario.name,
        })
        const external = externalServicesOf(services, { host, process: this, scenario })
        const given = {
          external,
          clock: farTimers.clockFor(clock, { isAlive: () => !this.#isDead }),
          random,
          log,
          client,
        }
        const runnables = scenario.runnables?.(given) ?? []
        this.#manager = new Manager({
          name: scenario.name,
          transport: this.network.transport,
          clock,
          random,
          log,
          controllers: this.#controllersOf(scenario.controllers(given)),
          runnables,
          tracing: silentTracing,
          metrics: silentMetrics,
          watchdog: false,
          leaderElection: scenario.leaderElection ? { identity: name, ...scenario.leaderElection } : false,
        })
        this.#manager.run(new LightAbortController().signal).then(
          () => {
            onEnd(this, undefined)
          },
          (error: unknown) => {
            onEnd(this, error)
          },
        )
      } catch (error) {
        onEnd(this, error)
      }
    }
    if (this.#options.isTracked) processStorage.run(this, begin)
    else begin()
  }

  #controllersOf(declarations: readonly ControllerDeclaration[]): readonly ControllerDeclaration[] {
    const { host, isSerial } = this.#options
    return declarations.map((one) =>
      trackRuns(isSerial ? { ...one, concurrency: 1 } : one, {
        observed: this.network.observed,
        onRun: () => {
          host.passMoment()
        },
      }),
    )
  }

  /** Stops all timers until `resume`. */
  pause(): void {
    this.clock.pause()
  }

  resume(): void {
    this.clock.resume()
  }

  /** Crashes: no timer fires and no event is delivered any more. */
  kill(): void {
    this.#isDead = true
    this.clock.kill()
    this.network.kill()
  }
}

interface ProcessClockOptions {
  /** How far its wall clock is ahead of simulated time. @default 0 */
  readonly offsetMs?: number
  /** How much faster its time passes. @default 1 */
  readonly rate?: number
}

class ProcessClock implements Clock {
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

  /** Timers that were due during the pause fire now. */
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

/* Metrics without a reader: each process would otherwise register all of them again. */

const silentMetric = {
  add: (): void => undefined,
  set: (): void => undefined,
  observe: (): void => undefined,
  follow: () => (): void => undefined,
}
const silentMetricFamily = { with: () => silentMetric, delete: (): void => undefined }

class SilentMetrics extends Metrics {
  override counter(): ReturnType<Metrics['counter']> {
    return silentMetricFamily
  }

  override gauge(): ReturnType<Metrics['gauge']> {
    return silentMetricFamily
  }

  override histogram(): ReturnType<Metrics['histogram']> {
    return silentMetricFamily
  }

  override labelled(): Metrics {
    return this
  }
}

const silentMetrics: Metrics = new SilentMetrics()
