/**
 * A program of controllers: one cluster, one cache, one life.
 *
 * @example
 * const manager = new Manager({ name: 'websites', config: await loadConfig() })
 * manager.addController({ for: Website, owns: [Deployment], reconcile })
 * await manager.run(signal)
 *
 * It is made without asking anybody; `run` resolves when everything has stopped, and a manager runs once.
 */
import type { AbortOptions, Metrics } from '#base'
import type { Kind } from '#api'
import type { ObjectCache } from '#cache'
import type { Client, ClientOptions } from '#client'
import type { Controller, ControllerDeclaration, Ledger } from '#controller'
import { childrenPlugin } from '#verbs'
import { preflight } from './access/preflight.ts'
import type { Preflight } from './access/preflight.ts'
import { rbacOf } from './access/roles.ts'
import type { Rbac } from './access/roles.ts'
import { leaseOf } from './leading.ts'
import type { ManagerOptions } from './options.ts'
import { EventRecorder } from './recorder/event-recorder.ts'
import type { ManagedContext } from './managed-context.ts'
import { eventPlugin } from './recorder-context.ts'
import { checksOf, describeManager } from './reporting.ts'
import type { HealthChecks } from './reporting.ts'
import type { RunnableOptions, RunFunction, Runnable } from './runnable.ts'
import { ManagerRun } from './running/manager-run.ts'
import type { RunnableEntry } from './running/manager-run.ts'
import { makeCluster } from './shared.ts'
import type { Cluster } from './shared.ts'

export class Manager {
  readonly name: string
  readonly #options: ManagerOptions
  readonly #shared: Cluster
  readonly #runnables: RunnableEntry[] = []
  readonly #recorders = new Map<string, EventRecorder>()
  #run: ManagerRun | undefined
  #isOver = false

  /** @throws {RangeError} for options that cannot be meant. */
  constructor(options: ManagerOptions) {
    const { name, controllers = [], runnables = [], gracePeriodMs = 30_000, cacheSyncMs = 120_000 } = options
    if (!(gracePeriodMs >= 0)) throw new RangeError(`gracePeriodMs must be 0 or more, got ${gracePeriodMs}`)
    if (!(cacheSyncMs > 0)) throw new RangeError(`cacheSyncMs must be above 0, got ${cacheSyncMs}`)
    this.name = name
    this.#options = options
    this.#shared = makeCluster(options, {
      plugins: [eventPlugin((controller) => this.recorder(controller)), childrenPlugin(options.children)],
      rbac: () => this.rbac(),
    })
    for (const declaration of controllers) this.addController(declaration)
    for (const { needsLeader = true, ...runnable } of runnables) this.add(runnable, { needsLeader })
  }

  /** Writes on every replica, at any time. */
  get client(): Client {
    return this.#shared.client
  }

  /** Refuses writes from the moment on at which another replica may lead. Reconciles of the leader write through it. */
  get leaderClient(): Client {
    return this.#shared.leaderClient
  }

  /** The connection it has, for whoever wants to share it: another manager, a client of its own. */
  get transport(): ClientOptions['transport'] {
    return this.#shared.connection.transport
  }

  get cache(): ObjectCache {
    return this.#shared.cache
  }

  get metrics(): Metrics {
    return this.#shared.metrics
  }

  /** Which reconcile wrote what, and why it ran. */
  get ledger(): Ledger {
    return this.#shared.ledger
  }

  get controllers(): readonly Controller[] {
    const { replicaControllers: everywhere, leaderControllers: leading } = this.#shared
    return [...everywhere, ...leading]
  }

  /** Whether this process may do the leader's work at this very moment; always, while it runs, without an election. */
  get isLeading(): boolean {
    return this.#shared.election === false
      ? this.#run !== undefined && !this.#isOver
      : (this.#run?.election?.isLeading ?? false)
  }

  /** One more controller; while the manager runs it is started at once. @throws {RangeError} for a name that is taken. */
  addController<K extends Kind, Extra extends object = ManagedContext>(
    declaration: ControllerDeclaration<K, Extra>,
  ): Controller {
    this.#refuseLate()
    const { needsLeader = true } = declaration
    const { replicaControllers: everywhere, leaderControllers: leading } = this.#shared
    const [own, other] = needsLeader ? [leading, everywhere] : [everywhere, leading]
    const name = declaration.name ?? declaration.for.kind.toLowerCase()
    if (other.get(name)) throw new RangeError(`two controllers are called ${name}: give one of them another name`)
    const controller = own.add(declaration)
    for (const kind of kindsOf(controller.declaration))
      for (const client of [this.client, this.leaderClient]) void client.resourceOf(kind)
    this.#run?.addController(controller, { needsLeader })
    return controller
  }

  /** One more thing to run; while the manager runs it is started at once. */
  add(runnable: Runnable | RunFunction, { needsLeader = true, name }: RunnableOptions = {}): void {
    this.#refuseLate()
    const given =
      typeof runnable === 'function'
        ? { name: runnable.name || undefined, run: runnable }
        : { name: runnable.name, run: runnable.run.bind(runnable) }
    const entry: RunnableEntry = {
      name: name ?? given.name ?? `runnable ${this.#runnables.length + 1}`,
      needsLeader,
      run: given.run,
    }
    this.#runnables.push(entry)
    this.#run?.addRunnable(entry)
  }

  /** Tells people what happens to objects, in the name of a controller. Always the same one for the same name. */
  recorder(name: string = this.name): EventRecorder {
    const known = this.#recorders.get(name)
    if (known) return known
    const { client, clock, random, log, metrics } = this.#shared
    const recorder = new EventRecorder({ client, controller: name, clock, random, log, metrics })
    this.#recorders.set(name, recorder)
    this.#run?.addRecorder(name, recorder)
    return recorder
  }

  /** What this manager must be allowed to do, as rules and as roles to apply. */
  rbac(): Rbac {
    const {
      election,
      connection: { namespace },
    } = this.#shared
    const lease = election === false ? undefined : leaseOf(election, { name: this.name, namespace })
    return rbacOf({ name: this.name, declarations: this.controllers.map(({ declaration }) => declaration), lease })
  }

  /** Asks the server what of that is missing, and which kinds. @throws {ConnectionError} when it cannot be reached. */
  preflight(options: AbortOptions = {}): Promise<Preflight> {
    const kinds = new Map(
      this.controllers.map(({ declaration: { for: kind } }) => [`${kind.apiVersion} ${kind.kind}`, kind]),
    )
    return preflight({ client: this.#shared.client, scopes: this.rbac().scopes, kinds: [...kinds.values()] }, options)
  }

  /** What a process with this manager in it should be asked. */
  get checks(): HealthChecks {
    return checksOf(this.controllers, this.#run?.election)
  }

  /** What it is doing and has been doing, as plain JSON. */
  describe(): object {
    const { ledger, cache } = this.#shared
    return describeManager({ controllers: this.controllers, ledger, cache, election: this.#run?.election })
  }

  /**
   * Runs until the signal aborts; resolves when everything has stopped.
   *
   * @throws what failed, when something did: everything else has been stopped by then.
   * @throws {GraceExceededError} when something did not stop in time.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run) throw new RangeError(`the manager ${this.name} was run already: make a new one`)
    this.#run = new ManagerRun({
      shared: this.#shared,
      options: this.#options,
      runnables: this.#runnables,
      recorders: this.#recorders,
      checks: () => this.checks,
      describe: () => this.describe(),
    })
    try {
      await this.#run.run(signal)
    } finally {
      this.#isOver = true
      await this.close()
    }
  }

  /** Lets go of connections, for a manager that is not run after all. `run` does it itself. */
  close(): Promise<void> {
    return this.#shared.connection.close()
  }

  #refuseLate(): void {
    if (this.#isOver) throw new RangeError(`the manager ${this.name} has stopped: nothing can be added`)
  }
}

/** Kinds that are known in full, so that a client remembers them without asking the server. */
function kindsOf({ for: own, owns = [] }: ControllerDeclaration): readonly Kind[] {
  return [
    own,
    ...owns.flatMap((owned) => ('plural' in owned ? owned : 'plural' in owned.kind ? (owned.kind as Kind) : [])),
  ]
}
