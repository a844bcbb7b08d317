/**
 * A manager: the controllers of a program with one cluster, one cache and one lifecycle.
 *
 * @example
 * const manager = new Manager({ name: 'websites', config: await loadConfig() })
 * manager.addController({ for: Website, owns: [Deployment], reconcile })
 * await manager.run(signal)
 *
 * The constructor sends no request. `run` resolves when everything has stopped. A manager runs once.
 */
import type { Kind } from '#api'
import type { AbortOptions, Clock, Logger, Metrics, Random } from '#base'
import type { ObjectCache, ObjectCacheOptions } from '#cache'
import type { Client, ClientOptions } from '#client'
import {
  verbsOf,
  type ContextPlugin,
  type Controller,
  type ControllerDeclaration,
  type ControllerEnvironment,
  type Ledger,
  type LedgerOptions,
  type Tracing,
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
  readonly #cluster: Cluster
  readonly #runnables: RunnableEntry[] = []
  readonly #recorders = new Map<string, EventRecorder>()
  #run: ManagerRun | undefined
  #isOver = false

  /** @throws {RangeError} for an invalid option. */
  constructor(options: ManagerOptions) {
    const { name, controllers = [], runnables = [], gracePeriodMs = 30_000, cacheSyncMs = 120_000 } = options
    if (!(gracePeriodMs >= 0)) throw new RangeError(`gracePeriodMs must be 0 or more, got ${gracePeriodMs}`)
    if (!(cacheSyncMs > 0)) throw new RangeError(`cacheSyncMs must be above 0, got ${cacheSyncMs}`)
    this.name = name
    this.#options = options
    this.#cluster = makeCluster(options, {
      plugins: [eventPlugin((controller) => this.recorder(controller)), childrenPlugin(options.children)],
      rbac: () => this.rbac(),
    })
    for (const declaration of controllers) this.addController(declaration)
    for (const { needsLeader = true, ...runnable } of runnables) this.add(runnable, { needsLeader })
  }

  /** Can write on every replica, at any time. */
  get client(): Client {
    return this.#cluster.client
  }

  /** Refuses writes as soon as another replica may be the leader. Reconciles of the leader use it. */
  get leaderClient(): Client {
    return this.#cluster.leaderClient
  }

  /** The connection, to share it with another manager or client. */
  get transport(): ClientOptions['transport'] {
    return this.#cluster.connection.transport
  }

  get cache(): ObjectCache {
    return this.#cluster.cache
  }

  get metrics(): Metrics {
    return this.#cluster.metrics
  }

  /** Which reconcile ran, why, and what it wrote. */
  get ledger(): Ledger {
    return this.#cluster.ledger
  }

  get controllers(): readonly Controller[] {
    const { replicaControllers, leaderControllers } = this.#cluster
    return [...replicaControllers, ...leaderControllers]
  }

  /** Whether this process is the leader now. Without an election: whether it runs. */
  get isLeading(): boolean {
    return this.#cluster.election === false
      ? this.#run !== undefined && !this.#isOver
      : (this.#run?.election?.isLeading ?? false)
  }

  /** Adds a controller, and starts it if the manager runs. @throws {RangeError} for a duplicate name. */
  addController<K extends Kind, Extra extends object = ManagedContext>(
    declaration: ControllerDeclaration<K, Extra>,
  ): Controller {
    this.#assertNotStopped()
    const { needsLeader = true } = declaration
    const { replicaControllers, leaderControllers } = this.#cluster
    const [own, other] = needsLeader ? [leaderControllers, replicaControllers] : [replicaControllers, leaderControllers]
    const name = declaration.name ?? declaration.for.kind.toLowerCase()
    if (other.get(name)) throw new RangeError(`two controllers have the name ${name}: set another name for one of them`)
    const controller = own.add(declaration)
    for (const kind of kindsOf(controller.declaration))
      for (const client of [this.client, this.leaderClient]) void client.resourceOf(kind)
    this.#run?.addController(controller, { needsLeader })
    return controller
  }

  /** Adds a runnable, and starts it if the manager runs. */
  add(runnable: Runnable | RunFunction, { needsLeader = true, name }: RunnableOptions = {}): void {
    this.#assertNotStopped()
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

  /** Records Events for a controller. The same name gives the same recorder. */
  recorder(name: string = this.name): EventRecorder {
    const known = this.#recorders.get(name)
    if (known) return known
    const { client, clock, random, log, metrics } = this.#cluster
    const recorder = new EventRecorder({ client, controller: name, clock, random, log, metrics })
    this.#recorders.set(name, recorder)
    this.#run?.addRecorder(name, recorder)
    return recorder
  }

  /** The permissions that this manager needs, as rules and as roles to apply. */
  rbac(): Rbac {
    const {
      election,
      connection: { namespace },
    } = this.#cluster
    const lease = election === false ? undefined : leaseOf(election, { name: this.name, namespace })
    return rbacOf({ name: this.name, declarations: this.controllers.map(({ declaration }) => declaration), lease })
  }

  /** Checks which permissions and kinds are missing on the server. @throws {ConnectionError} if it cannot be reached. */
  preflight(options: AbortOptions = {}): Promise<Preflight> {
    const required = this.controllers.flatMap(({ declaration }) => [
      declaration.for,
      ...verbsOf(declaration).flatMap((verb) => verb.kinds ?? []),
    ])
    const kinds = new Map(required.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]))
    return preflight({ client: this.#cluster.client, scopes: this.rbac().scopes, kinds: [...kinds.values()] }, options)
  }

  /** The health checks of this manager. */
  get checks(): HealthChecks {
    return checksOf(this.controllers, this.#run?.election)
  }

  /** The current state and the recent reconciles, as JSON. */
  describe(): object {
    const { ledger, cache } = this.#cluster
    return describeManager({ controllers: this.controllers, ledger, cache, election: this.#run?.election })
  }

  /**
   * Runs until the signal aborts; resolves when everything has stopped.
   *
   * @throws the first failure, after everything else has stopped.
   * @throws {GraceExceededError} if something did not stop in time.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run) throw new RangeError(`manager ${this.name} has already run: create a new Manager`)
    this.#run = new ManagerRun({
      cluster: this.#cluster,
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

  /** Closes the connection of a manager that is never run. `run` closes it itself. */
  close(): Promise<void> {
    return this.#cluster.connection.close()
  }

  #assertNotStopped(): void {
    if (this.#isOver) throw new RangeError(`manager ${this.name} has stopped: nothing can be added`)
  }
}

/** The full kinds of a declaration, which a client needs no discovery for. */
function kindsOf({ for: own, owns = [] }: ControllerDeclaration): readonly Kind[] {
  return [
    own,
    ...owns.flatMap((owned) => ('plural' in owned ? owned : 'plural' in owned.kind ? (owned.kind as Kind) : [])),
  ]
}

/** The HTTP server for health, metrics and debug information. */
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
  /** Name of the program, used for its lease, user agent, roles and logs. */
  readonly name: string
  /** @default none; see `addController` */
  readonly controllers?: readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** Other tasks, by default only on the leader. @default none; see `add` */
  readonly runnables?: readonly (Runnable & { readonly needsLeader?: boolean })[]
  /** Leader election. @default on with a config, off for a server in this process */
  readonly leaderElection?: false | ElectionSettings
  /** @default false */
  readonly endpoints?: false | EndpointSettings
  /** @default none */
  readonly webhooks?: WebhookSettings
  /**
   * How long everything may take to stop; Infinity waits without a limit.
   *
   * @default 30_000
   */
  readonly gracePeriodMs?: number
  /**
   * How long to wait for the caches before controllers start anyway.
   *
   * @default 120_000
   */
  readonly cacheSyncMs?: number
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** Options of the clients. */
  readonly client?: Pick<ClientOptions, 'retry' | 'rateLimit' | 'timeoutMs' | 'onWarning' | 'responseBytesMax'>
  /** Memory limit of cached objects; above it a log line names the largest kinds and what helps. */
  readonly cache?: Pick<ObjectCacheOptions, 'bytesMax'>
  /** How many runs and versions the ledger keeps. */
  readonly ledger?: Pick<LedgerOptions, 'runsMax' | 'versionsMax'>
  /** Kinds that need no discovery, in addition to those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** Plugins that extend the context of every run. @default none */
  readonly plugins?: readonly ContextPlugin[]
  /** Options of `children`. */
  readonly children?: ChildrenOptions
  /** Inspects every request and reports violations: `liveRules` of `evenkeel/testing`. @default none */
  readonly rules?: RequestRules
  /** Back-off of keys that keep triggering themselves. */
  readonly hotLoops?: ControllerEnvironment['hotLoops']
  /** Log reconciles that do not end, and a blocked event loop. @default true */
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

/** The context of a runnable. */
export interface RunnableContext {
  /** On a runnable of the leader: refuses writes as soon as another replica may be the leader. */
  readonly client: Client
  readonly cache: ObjectCache
}

/** Runs until the signal aborts, then ends soon. An error stops the whole manager. */
export type RunFunction = (signal: AbortSignal, context: RunnableContext) => Promise<void>

export interface Runnable {
  /** For logs, and for the report of tasks that did not stop in time. */
  readonly name?: string
  readonly run: RunFunction
}

export interface RunnableOptions {
  /**
   * Whether it runs only while this process is the leader; it is started again with each term.
   *
   * @default true
   */
  readonly needsLeader?: boolean
  /** @default the runnable's own */
  readonly name?: string
}

/** What a manager adds to the context of a run, beside the members of `ReconcileContext`: children and events. */
export type ManagedContext = ChildrenContext & EventContext
