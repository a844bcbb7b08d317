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
import type { Kind } from '#api'
import type { AbortOptions, Clock, Logger, Metrics, Random } from '#base'
import type { ObjectCache, ObjectCacheOptions } from '#cache'
import type { Client, ClientOptions } from '#client'
import type {
  ContextPlugin,
  Controller,
  ControllerDeclaration,
  ControllerEnvironment,
  Ledger,
  LedgerOptions,
  Tracing,
} from '#controller'
import { childrenPlugin, type ChildrenContext, type ChildrenOptions } from '#verbs'
import type { WebhookListenerOptions, Webhooks } from '#webhook'
import { makeCluster, type Cluster, type ClusterSource, type RequestRules } from './cluster.ts'
import { leaseOf, type ElectionSettings } from './election/leader-election.ts'
import type { EndpointsOptions } from './endpoints.ts'
import { eventPlugin, EventRecorder, type EventContext } from './event-recorder.ts'
import { checksOf, describeManager, type HealthChecks } from './health.ts'
import { ManagerRun, type RunnableEntry } from './manager-run.ts'
import { preflight, type Preflight } from './preflight.ts'
import { rbacOf, type Rbac } from './rbac.ts'

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

/*
 * What a manager is made from.
 */

/** Where health, metrics and what controllers are doing can be asked for. */
export interface EndpointSettings extends Pick<EndpointsOptions, 'host' | 'port' | 'live' | 'ready' | 'onListening'> {
  /** Serve `/metrics`. @default true */
  readonly metrics?: boolean
  /** Serve `/debug/reconciles`, and `/debug/rules` if there are any, to this machine only. @default true */
  readonly debug?: boolean
}

export interface WebhookSettings extends Omit<WebhookListenerOptions, 'transport' | 'clock' | 'log'> {
  readonly webhooks: Webhooks
}

export interface ManagerOptions extends ClusterSource {
  /** What the program is called: in its lease, its user agent, its roles and its logs. */
  readonly name: string
  /** @default none; see `addController` */
  readonly controllers?: readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** What else runs, by default only on the leader. @default none; see `add` */
  readonly runnables?: readonly (Runnable & { readonly needsLeader?: boolean })[]
  /** How replicas agree on who works. @default on when there is a config, off for a server in this process */
  readonly leaderElection?: false | ElectionSettings
  /** @default false */
  readonly endpoints?: false | EndpointSettings
  /** @default none */
  readonly webhooks?: WebhookSettings
  /**
   * How long everything may take to stop; 0 for no time at all, Infinity for as long as it takes.
   *
   * @default 30_000
   */
  readonly gracePeriodMs?: number
  /**
   * How long those who come after the caches wait for them; afterwards they start all the same.
   *
   * @default 120_000
   */
  readonly cacheSyncMs?: number
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** How the clients behave. */
  readonly client?: Pick<ClientOptions, 'retry' | 'rateLimit' | 'timeoutMs' | 'onWarning' | 'responseBytesMax'>
  /** How much memory cached objects should take; above it the log says which kinds do, and what helps. */
  readonly cache?: Pick<ObjectCacheOptions, 'bytesMax'>
  /** How many runs and versions are remembered, to explain what caused what. */
  readonly ledger?: Pick<LedgerOptions, 'runsMax' | 'versionsMax'>
  /** Kinds that are known without asking the server, beside those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** What they add is in the context of every run. @default none */
  readonly plugins?: readonly ContextPlugin[]
  /** How the children of reconciles are looked after. */
  readonly children?: ChildrenOptions
  /** Looks at every request and says what is wrong with it: `liveRules` of `evenkeel/testing`. @default nobody */
  readonly rules?: RequestRules
  /** When a key that keeps causing itself is slowed down. */
  readonly hotLoops?: ControllerEnvironment['hotLoops']
  /** Tell of runs that do not end, and of a process that stood still. @default true */
  readonly watchdog?: boolean
  /** @default OpenTelemetry, if the program has it */
  readonly tracing?: Tracing
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** @default new ones */
  readonly metrics?: Metrics
}

/*
 * What a manager runs beside its controllers.
 */

/** What a runnable may use. */
export interface RunnableContext {
  /** For one that needs to lead: refuses writes from the moment on at which another replica may lead. */
  readonly client: Client
  readonly cache: ObjectCache
}

/** Runs until the signal aborts, then ends soon. If it throws, the whole manager stops with that. */
export type RunFunction = (signal: AbortSignal, context: RunnableContext) => Promise<void>

export interface Runnable {
  /** In logs, and in the report of what did not stop in time. */
  readonly name?: string
  readonly run: RunFunction
}

export interface RunnableOptions {
  /**
   * Whether it runs only while this process leads; it is then started again each time.
   *
   * @default true
   */
  readonly needsLeader?: boolean
  /** @default the runnable's own */
  readonly name?: string
}

/*
 * What every manager adds to the context of a run: events for people, and the children of its object.
 */

export type ManagedContext = ChildrenContext & EventContext
