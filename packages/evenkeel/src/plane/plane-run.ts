/**
 * Runs the controllers of the plane, each with a manager of its own, because each acts as a user of its own.
 *
 *   delay ──▶ lead ──▶ load ──▶ run ──fails──▶ wait, longer each time ──▶ run ──▶ … ──stop──▶ all have ended
 *
 * Who has no election leads at once and to the end; see `plane-election`.
 *
 * Without a delay their code is loaded before anything runs: what follows then depends on the clock alone, and a
 * simulated plane does the same each time.
 *
 * Invariants: one that fails is started again and takes nobody with it; when `stop` has resolved nothing goes on.
 */
import { sleep } from '#base'
import type { AbortOptions } from '#base'
import type { Manager } from '#manager'
import type { Transport } from '#wire'
import type { PlaneElection } from './plane-election.ts'
import type { PlaneController, PlaneEnvironment, PlanePart } from './plane-controllers.ts'

/** A controller under its name. */
export type NamedController = PlaneController & { readonly name: string }

interface PlaneRunOptions extends Omit<PlaneEnvironment, 'transport'> {
  readonly controllers: readonly NamedController[]
  /** The server, as a controller sees it. */
  transportFor(account: string | undefined): Transport
  /** How long the server has for itself before they start. */
  readonly delayMs: number
  /** Decides when they run, if other planes serve the same store. */
  readonly election?: Pick<PlaneElection, 'gate' | 'isStandby' | 'run'> | undefined
}

const restartMsMin = 1000
const restartMsMax = 60_000

/** Each of them is a manager, and nobody asks these what caused what but their own watch over hot loops. */
const remembered = { runsMax: 100, versionsMax: 1000 }

/** For how long nothing may be under way, looked at each millisecond: a change takes a few turns to whoever waits for it. */
const quietMs = 10

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

  /** They run, or will after the delay. */
  static async start(options: PlaneRunOptions): Promise<PlaneRun> {
    const run = new PlaneRun(options)
    // What cannot be loaded now is tried again, and complained about, when it is to run.
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
   * Resolves when all of them have heard of everything and have nothing to do now; what waits for a time is left to it. Those of a plane that stands by have
   * nothing to do.
   */
  async idle({ signal }: AbortOptions = {}): Promise<void> {
    for (let quiet = 0; quiet < quietMs;) {
      if (this.#stopping.signal.aborted) return
      await sleep(this.#options.clock, 1, { signal })
      quiet =
        this.#requests === 0 && (this.#options.election?.isStandby || [...this.#running.values()].every(isQuiet))
          ? quiet + 1
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

  /** Runs all of them until the signal aborts. */
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
        log.error('a controller of the plane failed and is started again', {
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
    const facts = {
      transport: this.#counting(election?.gate(transport) ?? transport),
      clock,
      random,
      log: log.child({ plane: name }),
      caPem,
      tokenForSecret,
    }
    const [{ Manager }, part] = await Promise.all([import('#manager'), controller.make(facts)])
    // Whoever follows every kind follows deprecated ones too; that is nothing to warn people of.
    return {
      part,
      make: (parts) =>
        new Manager({
          name: account ?? name,
          ...facts,
          ...parts,
          ledger: remembered,
          client: { onWarning: () => undefined },
        }),
    }
  }

  /** Knows how many questions wait for an answer; watches never have one. */
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

/** What a controller is made of, and the manager that runs it: nothing is left to wait for. */
interface LoadedController {
  readonly part: PlanePart | undefined
  make(parts: Omit<PlanePart, 'isIdle'>): Manager
}

interface RunningController extends Required<Pick<PlanePart, 'isIdle'>> {
  readonly manager: Manager
}

function isQuiet(running: RunningController | undefined): boolean {
  if (!running?.isIdle()) return false
  const { cache, controllers } = running.manager
  return (
    cache.hasSynced &&
    controllers.every(
      ({ health: { isReady, isWorking, queue } }) => isReady && isWorking && queue.ready === 0 && queue.working === 0,
    )
  )
}
