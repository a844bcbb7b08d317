/**
 * One life of a process: the user's program from its start to its end, which may be a crash.
 *
 * Whatever it keeps in memory dies with it: a life has a client, a cache, a queue, a clock and a source of chance of
 * its own. When it is killed nothing is aborted and nobody is told, as with a real crash: its promises never settle.
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
import { silentTracing } from '#controller'
import { Manager } from '#manager'
import { externalServicesOf } from './external-services.ts'
import { NetworkLink, type NetworkHost } from './network.ts'
import { trackRuns } from './observed-state.ts'
import type { Scenario } from './scenario.ts'

/** Whose code is running at this moment. */
const processStorage = new AsyncLocalStorage<SimulatedProcess>()

/** Nobody is followed any more, and nothing is paid for it. */
export function stopTrackingProcesses(): void {
  processStorage.disable()
}

/** The life whose code is running, if any. */
export function currentProcess(): SimulatedProcess | undefined {
  return processStorage.getStore()
}

interface SimulatedProcessOptions {
  /** `A`, and `A2` after its first crash. */
  readonly name: string
  readonly scenario: Scenario
  readonly host: NetworkHost
  readonly clock: Clock
  readonly seed: string
  readonly skew: { readonly offsetMs: number; readonly rate?: number }
  /** One object at a time, whatever the program says. */
  readonly isSerial: boolean
  /** Lists of a cache may show the past: how many versions back this one's first lists are. */
  readonly back?: number
  /** Only those of this kind. @default all */
  readonly staleKind?: string | undefined
  /** Follow whose code is running, everywhere: this costs. */
  readonly isFollowed: boolean
  /** The server has no streaming lists. */
  readonly oldLists: boolean
  /** The services outside, as they are. */
  readonly services: object
  onLog(life: SimulatedProcess, record: LogRecord): void
  /** The program ended by itself. */
  onEnd(life: SimulatedProcess, error: unknown): void
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

  /** Runs the program. What its factory throws is told as its end. */
  start(): void {
    const { scenario, seed, services, host, isSerial, onEnd } = this.#options
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
        const outside = externalServicesOf(services, { host, process: this, scenario })
        const declared = scenario.controllers({ outside, clock, random, log, client })
        const controllers = declared.map((one) =>
          trackRuns(isSerial ? { ...one, concurrency: 1 } : one, this.network.observed),
        )
        const runnables = scenario.runnables?.({ outside, clock, random, log, client }) ?? []
        this.#manager = new Manager({
          name: scenario.name,
          transport: this.network.transport,
          clock,
          random,
          log,
          controllers,
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
    if (this.#options.isFollowed) processStorage.run(this, begin)
    else begin()
  }

  /** Nothing of it goes on until it is resumed. */
  pause(): void {
    this.clock.pause()
  }

  resume(): void {
    this.clock.resume()
  }

  /** It is gone at once; nothing of it happens any more. */
  kill(): void {
    this.#isDead = true
    this.clock.kill()
    this.network.kill()
  }
}

/*
 * The clock of one simulated process: the world's, a little off.
 *
 * A process may be ahead of or behind the server, it may be paused (its timers fire late, all at once), and when it
 * has died nothing of it ever fires again.
 */

interface ProcessClockOptions {
  /** How far its wall clock is ahead of the world's. @default 0 */
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

/*
 * Counts nothing: in a simulation nobody reads what a process counts, and each of its lives would make it all anew.
 */

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
