/**
 * Runs the controllers of a plane. Each has its own manager, because each has its own service account.
 *
 *   delay ──▶ become leader ──▶ load ──▶ run ──failure──▶ back-off ──▶ run ──▶ … ──stop──▶ all have ended
 *
 * Without an election the plane is the leader from the start, see `plane-election.ts`.
 *
 * Without a delay the code is loaded before anything runs. Then everything depends on the clock alone, and a simulated
 * plane is deterministic.
 *
 * Invariants: a failed controller is restarted and does not affect the others; nothing runs after `stop` has resolved.
 */
import { sleep, type Logger } from '#base'
import type { AbortOptions } from '#base'
import type { Manager } from '#manager'
import type { Transport } from '#wire'
import type { PlaneElection } from './plane-election.ts'
import type { PlaneController, PlaneEnvironment, PlanePart } from './plane-controllers.ts'

/** A controller with its name. */
export type NamedController = PlaneController & { readonly name: string }

interface PlaneRunOptions extends Omit<PlaneEnvironment, 'transport'> {
  readonly controllers: readonly NamedController[]
  /** The transport to the server, authenticated as a service account. */
  transportFor(account: string | undefined): Transport
  /** How long to wait before the controllers start. */
  readonly delayMs: number
  /** The election, if other planes serve the same store. */
  readonly election?: Pick<PlaneElection, 'gate' | 'isStandby' | 'run'> | undefined
}

const restartMsMin = 1000
const restartMsMax = 60_000

/** A small ledger: only hot-loop detection uses it here. */
const ledger = { runsMax: 100, versionsMax: 1000 }

/** How many milliseconds without work count as idle: a change needs a few turns of the event loop to reach its watchers. */
const idleMs = 10

export class PlaneRun {
  readonly #options: PlaneRunOptions
  readonly #stopping = new AbortController()
  readonly #running = new Map<NamedController, RunningController | undefined>()
  readonly #loaded = new Map<NamedController, LoadedController>()
  #requests = 0
  #done: Promise<unknown> | undefined

  private constructor(options: PlaneRunOptions) {
    this.#options = options
    for (const controller of options.controllers) this.#running.set(controller, undefined)
  }

  /** Starts the controllers, at once or after the delay. */
  static async start(options: PlaneRunOptions): Promise<PlaneRun> {
    const run = new PlaneRun(options)
    // A load error is ignored here: the load is repeated, and its error logged, when the controller runs.
    if (options.delayMs === 0)
      await Promise.all(
        options.controllers.map(async (one) =>
          run.#load(one).then(
            (loaded) => run.#loaded.set(one, loaded),
            () => undefined,
          ),
        ),
      )
    run.#done = run.#begin()
    return run
  }

  /**
   * Resolves when all controllers are synced and have nothing to do now; delayed requeues do not count. The controllers of
   * a standby have nothing to do.
   */
  async idle({ signal }: AbortOptions = {}): Promise<void> {
    for (let idleSinceMs = 0; idleSinceMs < idleMs;) {
      if (this.#stopping.signal.aborted) return
      await sleep(this.#options.clock, 1, { signal })
      idleSinceMs =
        this.#requests === 0 &&
        (this.#options.election?.isStandby || [...this.#running.values()].every(isControllerIdle))
          ? idleSinceMs + 1
          : 0
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the plane is stopping'))
    await this.#done
  }

  async #begin(): Promise<void> {
    const { clock, delayMs, election } = this.#options
    const { signal } = this.#stopping
    if (delayMs > 0) await sleep(clock, delayMs, { signal }).catch(() => undefined)
    if (election) await election.run(signal, (term) => this.#lead(term))
    else await this.#lead(signal)
  }

  /** Runs all controllers until the signal aborts. */
  async #lead(signal: AbortSignal): Promise<void> {
    for (const controller of this.#options.controllers) this.#running.set(controller, undefined)
    await Promise.all(this.#options.controllers.map((controller) => this.#keepRunning(controller, signal)))
  }

  async #keepRunning(controller: NamedController, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    for (let restartMs = restartMsMin; !signal.aborted; restartMs = Math.min(restartMs * 2, restartMsMax)) {
      try {
        await this.#run(controller, signal)
        return
      } catch (error) {
        if (signal.aborted) return
        log.error('controller of the plane failed: restarting it', {
          controller: controller.name,
          error,
          delayMs: restartMs,
        })
        await sleep(clock, restartMs, { signal }).catch(() => undefined)
      }
    }
  }

  async #run(controller: NamedController, signal: AbortSignal): Promise<void> {
    const { make, part } = this.#loaded.get(controller) ?? (await this.#load(controller))
    this.#loaded.delete(controller)
    if (!part) this.#running.delete(controller)
    if (!part || signal.aborted) return
    const { isIdle = () => true, ...parts } = part
    const manager = make(parts)
    this.#running.set(controller, { manager, isIdle })
    await manager.run(signal)
  }

  async #load(controller: NamedController): Promise<LoadedController> {
    const { clock, random, log, caPem, tokenForSecret, transportFor, election } = this.#options
    const { name, account } = controller
    const transport = transportFor(account)
    const environment = {
      transport: this.#counting(election?.gate(transport) ?? transport),
      clock,
      random,
      log: withoutProgress(log.child({ plane: name })),
      caPem,
      tokenForSecret,
    }
    const [{ Manager }, part] = await Promise.all([import('#manager'), controller.make(environment)])
    // The garbage collector watches every kind, deprecated versions included, so warnings are not logged.
    return {
      part,
      make: (parts) =>
        new Manager({
          name: account ?? name,
          ...environment,
          ...parts,
          ledger,
          client: { onWarning: () => undefined },
        }),
    }
  }

  /** Counts requests in flight, without watches. */
  #counting(transport: Transport): Transport {
    return async (request) => {
      if (/[?&]watch=/.test(request.target)) return transport(request)
      this.#requests++
      try {
        return await transport(request)
      } finally {
        this.#requests--
      }
    }
  }
}

/** The loaded code of a controller, and a function that creates its manager. */
interface LoadedController {
  readonly part: PlanePart | undefined
  make(parts: Omit<PlanePart, 'isIdle'>): Manager
}

interface RunningController extends Required<Pick<PlanePart, 'isIdle'>> {
  readonly manager: Manager
}

function isControllerIdle(running: RunningController | undefined): boolean {
  if (!running?.isIdle()) return false
  const { cache, controllers } = running.manager
  return (
    cache.hasSynced &&
    controllers.every(
      ({ health: { isReady, isWorking, queue } }) => isReady && isWorking && queue.ready === 0 && queue.working === 0,
    )
  )
}

/** What the controllers of a plane report of their own start and stop is of no interest to its users. */
function withoutProgress(log: Logger): Logger {
  return { ...log, info: log.debug, child: (fields) => withoutProgress(log.child(fields)) }
}
