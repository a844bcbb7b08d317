/**
 * A controller: its sources fill a queue, its workers empty it.
 *
 *   declared ──watch(signal)──▶ watching ──work(signal)──▶ working ──lease lost──▶ watching ──work──▶ …
 *
 * Watching and working are separate, so that a standby can keep its cache and queue warm and start at once.
 * `ControllerSet` holds the controllers of one process and cluster; each name occurs once.
 *
 * Invariants: no reconcile before every source has synced; one worker per key; when `run` resolves nothing is active.
 */
import { defaultCluster, formatKey, type Kind } from '#api'
import {
  LightAbortController,
  Metrics,
  nativeSignal,
  onAbort,
  type AbortOptions,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import type { CacheKey, ObjectCache } from '#cache'
import type { Client } from '#client'
import { Backoff, ParkedKeys, WorkQueue } from '#queue'
import type { ContextPlugin } from './context.ts'
import { checkDeclaration, withVerbs, type ControllerDeclaration } from './declaration.ts'
import { cleanupSteps } from './finalizers.ts'
import { describeHealth, type ControllerHealth } from './health.ts'
import { HotLoops, type HotLoopOptions } from './hot-loops.ts'
import type { Ledger } from './ledger.ts'
import { controllerMeter, type ControllerMeter } from './metrics.ts'
import { Reconciler } from './reconcile.ts'
import type { Cause } from './run-record.ts'
import { declaredSources, type AddedSource, type Source, type SourceContext, type StartedSource } from './sources.ts'
import { DroppedFields } from './status.ts'
import { silentTracing, type Tracing } from './tracing.ts'
import { Worker } from './worker.ts'

/** Options of `enqueue`. */
interface EnqueueOptions {
  /** Why, for people. */
  readonly note?: string
  /** @default 0 */
  readonly priority?: number
  /** @default 0 */
  readonly afterMs?: number
}

interface SourceEntry {
  readonly source: Source
  started: StartedSource | undefined
}

export class Controller {
  readonly name: string
  readonly declaration: ControllerDeclaration
  readonly #environment: ControllerEnvironment
  readonly #cluster: string
  readonly #queue: WorkQueue<Cause>
  readonly #parked = new ParkedKeys()
  readonly #meter: ControllerMeter
  readonly #hotLoops: HotLoops
  readonly #worker: Worker
  readonly #sources = new Set<SourceEntry>()
  #isWatching = false
  #isWorking = false

  constructor(given: ControllerDeclaration, environment: ControllerEnvironment) {
    const {
      cluster = defaultCluster,
      client,
      cache,
      clock,
      random,
      log,
      metrics = new Metrics(),
      tracing = silentTracing,
      ledger,
      hotLoops,
    } = environment
    const declaration = withVerbs(given)
    this.name = checkDeclaration(declaration)
    this.declaration = declaration
    this.#environment = environment
    this.#cluster = cluster
    this.#queue = new WorkQueue<Cause>({ clock, name: this.name, metrics })
    const backoff = new Backoff({ random, ...declaration.backoff })
    this.#meter = controllerMeter(metrics, this.name)
    this.#meter.workersMax.set(declaration.concurrency ?? 1)
    this.#hotLoops = new HotLoops({ ledger, ...hotLoops })
    const named = log.child({ controller: this.name })
    this.#worker = new Worker({
      name: this.name,
      declaration,
      reconciler: this.#makeReconciler(named),
      queue: this.#queue,
      backoff,
      parked: this.#parked,
      client,
      cache,
      ledger,
      hotLoops: this.#hotLoops,
      clock,
      random,
      log: named,
      meter: this.#meter,
      tracing,
    })
    for (const source of declaredSources(declaration, {
      observe: (event) => {
        this.#worker.observe(event)
      },
    }))
      this.#sources.add({ source, started: undefined })
  }

  #makeReconciler(log: Logger): Reconciler {
    const { name, declaration } = this
    const { cache, clock, plugins = [] } = this.#environment
    const added = plugins.flatMap((plugin) => plugin.steps?.(declaration, name) ?? [])
    return new Reconciler({
      name,
      declaration,
      steps: [...cleanupSteps(declaration, name), ...added],
      plugins: [...plugins, ...(declaration.verbs ?? [])],
      cache,
      clock,
      dropped: new DroppedFields(declaration.for, { log }),
      addSource: (source) => this.addSource(source),
    })
  }

  /** Watches and works until the signal aborts; resolves when the last run has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const working = new LightAbortController()
    const watching = new LightAbortController()
    const stopListening = onAbort(signal, (reason) => {
      working.abort(reason)
    })
    const watched = this.watch(watching.signal)
    watched.catch((error: unknown) => {
      working.abort(error)
    })
    try {
      await this.work(working.signal)
    } finally {
      stopListening()
      // Last, so that a long run still gets aborted when its object is deleted.
      watching.abort(signal.reason)
      await watched
      await this.stop()
    }
  }

  /** Starts the sources and keeps the queue filled until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    if (this.#isWatching) throw new RangeError(`controller ${this.name} is already watching`)
    if (!this.#queue.isOpen) throw new RangeError(`controller ${this.name} has stopped: create a new one`)
    this.#isWatching = true
    try {
      for (const entry of this.#sources) this.#start(entry)
      await new Promise<void>((resolve) => {
        onAbort(signal, () => {
          resolve()
        })
      })
    } finally {
      this.#isWatching = false
      await Promise.all([...this.#sources].map((entry) => stop(entry)))
    }
  }

  /**
   * Processes the queue until the signal aborts, then resolves when the last run has ended; may be called again. Active
   * runs are aborted with the reason: abort with a `RunAborted('lease-lost')` when another process takes over.
   */
  async work(signal: AbortSignal): Promise<void> {
    if (!this.#isWatching) throw new RangeError(`controller ${this.name} is not watching: call watch or run first`)
    if (this.#isWorking) throw new RangeError(`controller ${this.name} is already working`)
    this.#isWorking = true
    try {
      await this.waitForSync({ signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      if (!signal.aborted) await this.#worker.run(signal)
    } finally {
      this.#isWorking = false
    }
  }

  /** Drops waiting keys, so that no timer is left; call it after `watch` and `work` have ended. `run` does it itself. */
  async stop(): Promise<void> {
    await this.#queue.stop()
  }

  /** Resolves when every source has synced. */
  async waitForSync({ signal }: AbortOptions = {}): Promise<void> {
    const options = { signal: signal && nativeSignal(signal) }
    await Promise.all(
      [...this.#sources].map(async ({ started }) => {
        await started?.waitForSync(options)
      }),
    )
  }

  /** Adds a source, which starts at once if the controller is watching. */
  addSource(source: Source): AddedSource {
    const entry: SourceEntry = { source, started: undefined }
    this.#sources.add(entry)
    if (this.#isWatching) this.#start(entry)
    const remove = async (): Promise<void> => {
      this.#sources.delete(entry)
      await stop(entry)
    }
    return new Added(entry, remove)
  }

  /** Enqueues a key; false when the controller has stopped. */
  enqueue(key: CacheKey, { note, priority = 0, afterMs = 0 }: EnqueueOptions = {}): boolean {
    return this.#queue.add(this.#keyOf(key), {
      afterMs,
      priority,
      reason: { type: 'request', source: 'request', ...(note !== undefined && { note }) },
    })
  }

  /** Enqueues every object of the kind; returns how many. */
  reconcileAll(options: EnqueueOptions = {}): number {
    const objects = this.#environment.cache.list(this.declaration.for)
    for (const {
      metadata: { name, namespace },
    } of objects)
      this.enqueue({ name, ...(namespace !== undefined && { namespace }) }, options)
    return objects.length
  }

  /** Enqueues parked keys, or those that wait for `waitingFor`; returns how many. */
  wakeParked({ waitingFor, note = 'woken' }: { waitingFor?: string; note?: string } = {}): number {
    return this.#parked.wake(this.#queue, (_, parked) => waitingFor === undefined || parked.waitingFor === waitingFor, {
      reason: { type: 'request', source: 'request', note },
    })
  }

  /** How many keys failed in their last run and wait for a retry. */
  get failing(): number {
    return this.#worker.failingCount
  }

  /** The health, as plain JSON. */
  get health(): ControllerHealth {
    return describeHealth({
      name: this.name,
      declaration: this.declaration,
      sources: [...this.#sources].map(
        ({ source, started }) => started ?? { name: source.name, hasSynced: false, problem: undefined },
      ),
      isWatching: this.#isWatching,
      isWorking: this.#isWorking,
      worker: this.#worker,
      parked: this.#parked,
      queue: this.#queue,
    })
  }

  #keyOf({ name, namespace }: CacheKey): string {
    const { group, kind, scope }: Kind = this.declaration.for
    return formatKey({
      cluster: this.#cluster,
      group,
      kind,
      ...(scope === 'Namespaced' && namespace !== undefined && { namespace }),
      name,
    })
  }

  #start(entry: SourceEntry): void {
    const { cache, clock, random, log, metrics } = this.#environment
    const context: SourceContext = {
      cache,
      clock,
      random,
      metrics,
      log: log.child({ controller: this.name }),
      enqueue: (key, cause, { priority = 0 } = {}) => {
        this.#queue.add(this.#keyOf(key), { priority, reason: cause })
      },
      wantsChanges: (key) => this.#hotLoops.suspectsAny && this.#hotLoops.suspects(this.#keyOf(key)),
      onMapError: () => {
        this.#meter.mapErrors.add()
      },
      onStaleOwner: () => {
        this.#meter.staleOwners.add()
      },
    }
    entry.started = entry.source.start(context)
  }
}

async function stop(entry: SourceEntry): Promise<void> {
  const { started } = entry
  entry.started = undefined
  await started?.stop()
}

class Added implements AddedSource {
  readonly #entry: SourceEntry
  readonly #remove: () => Promise<void>

  constructor(entry: SourceEntry, remove: () => Promise<void>) {
    this.#entry = entry
    this.#remove = remove
  }

  get hasSynced(): boolean {
    return this.#entry.started?.hasSynced ?? false
  }

  async waitForSync(options?: AbortOptions): Promise<void> {
    await this.#entry.started?.waitForSync(options)
  }

  remove(): Promise<void> {
    return this.#remove()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#remove()
  }
}

/** What controllers share. */
export interface ControllerEnvironment {
  /** Made with `writeHooks` of the ledger and the cache; without them own writes are neither visible nor explained. */
  readonly client: Client
  readonly cache: ObjectCache
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** @default not exposed */
  readonly metrics?: Metrics
  /** @default no spans */
  readonly tracing?: Tracing
  /** What they add is in the context of every run. @default none */
  readonly plugins?: readonly ContextPlugin[]
  /** When a hot loop is slowed down. */
  readonly hotLoops?: Omit<HotLoopOptions, 'ledger'>
}

export class ControllerSet implements Iterable<Controller> {
  readonly #environment: ControllerEnvironment
  readonly #controllers = new Map<string, Controller>()

  constructor(environment: ControllerEnvironment) {
    this.#environment = environment
  }

  /** @throws {RangeError} when the declaration is invalid, or its name is taken. */
  add<K extends Kind, Extra extends object>(declaration: ControllerDeclaration<K, Extra>): Controller {
    const controller = new Controller(declaration as ControllerDeclaration, this.#environment)
    const other = this.#controllers.get(controller.name)
    if (other)
      throw new RangeError(
        `two controllers have the name ${controller.name}, one for ${describe(other.declaration.for)}, one for ${describe(declaration.for)}: rename one of them`,
      )
    this.#controllers.set(controller.name, controller)
    return controller
  }

  get(name: string): Controller | undefined {
    return this.#controllers.get(name)
  }

  [Symbol.iterator](): IterableIterator<Controller> {
    return this.#controllers.values()
  }
}

function describe({ kind, apiVersion }: Kind): string {
  return `${kind} (${apiVersion})`
}
