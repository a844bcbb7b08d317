/**
 * The garbage collector: deletes objects whose owners are gone, and completes foreground and orphan deletions.
 *
 * It uses only the public API (list and watch of metadata, get, patch, delete), so it runs on any cluster. While none runs,
 * foreground and orphan deletions stay incomplete. Two at the same time are harmless, only wasteful.
 *
 *   discovery ──▶ monitors ──events──▶ graph ──work──▶ delete queue, orphan queue ──workers──▶ server ──▶ watches
 *
 * Events change the graph synchronously, one at a time, so the graph needs no lock. Only workers send requests. Workers
 * start when all caches are synced, or after `syncMs`: before that many owners would seem missing, and each would cost a
 * request.
 *
 * @example
 * new Manager({ ..., runnables: [garbageCollector({ clock, random, log })] })
 */
import type { KubeObject, TypeMeta } from '#api'
import {
  deferred,
  onAbort,
  silentLogger,
  sleep,
  SystemClock,
  SystemRandom,
  type Clock,
  type Logger,
  type Metrics,
  type Random,
} from '#base'
import { ObjectCache, type CacheEvent } from '#cache'
import type { Client, DiscoveredResource } from '#client'
import type { PolicyRule } from '#controller'
import { EventRecorder } from '#manager'
import { Backoff, ParkedKeys, runWorkers, WorkQueue, type WorkResult } from '#queue'
import { Attempts } from './attempts.ts'
import { Graph, type Misplaced, type Work } from './graph.ts'
import { Discovery, Monitors, selectFollowed } from './monitors.ts'
import { factsOf, identityOf } from './node.ts'
import { Operations } from './operations.ts'

export interface GarbageCollectorOptions {
  /** @default the client of its manager, which writes only while it is the leader */
  readonly client?: Client | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: Random | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  /** @default none */
  readonly metrics?: Metrics | undefined
  /** Workers of each queue. @default 20 */
  readonly concurrency?: number | undefined
  /** Period of discovery requests without a CRD event. @default 30_000 */
  readonly discoveryMs?: number | undefined
  /** How long to wait for the caches at the start. @default 30_000 */
  readonly syncMs?: number | undefined
}

export interface GarbageCollector {
  readonly name: string
  /** The permissions it needs. */
  readonly rbac: readonly PolicyRule[]
  /** Whether it runs, is synced and has nothing to do now; delayed retries do not count. */
  readonly isIdle: () => boolean
  /** Collects until the signal aborts. It may be run again, with an empty graph. */
  readonly run: (signal: AbortSignal, context: { readonly client: Client }) => Promise<void>
}

/** For all resources, because new ones may be installed at any time. */
const rbac: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
]

export function garbageCollector({
  client: ownClient,
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  metrics,
  concurrency = 20,
  discoveryMs = 30_000,
  syncMs = 30_000,
}: GarbageCollectorOptions = {}): GarbageCollector {
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`concurrency must be a whole number of 1 or more, got ${concurrency}`)
  if (!(discoveryMs >= 1000)) throw new RangeError(`discoveryMs must be at least 1000, got ${discoveryMs}`)
  if (!(syncMs >= 0)) throw new RangeError(`syncMs must be 0 or more, got ${syncMs}`)
  const name = 'garbage-collector'
  let running: CollectorRun | undefined
  return {
    name,
    rbac,
    isIdle: () => running?.isIdle ?? false,
    async run(signal, { client }) {
      const collectorRun = new CollectorRun({
        client: ownClient ?? client,
        clock,
        random,
        log: log.child({ controller: name }),
        metrics,
        concurrency,
        discoveryMs,
        syncMs,
      })
      running = collectorRun
      await collectorRun.run(signal).finally(() => {
        if (running === collectorRun) running = undefined
      })
    },
  }
}

interface CollectorRunOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics | undefined
  readonly concurrency: number
  readonly discoveryMs: number
  readonly syncMs: number
}

/** Kinds whose events mean that resources are installed or removed. */
const discoveryKinds: ReadonlySet<string> = new Set(['CustomResourceDefinition', 'APIService'])

/** One run of the collector. */
export class CollectorRun {
  readonly #options: CollectorRunOptions
  readonly #graph = new Graph()
  readonly #cache: ObjectCache
  readonly #recorder: EventRecorder
  readonly #discovery: Discovery
  readonly #monitors: Monitors
  readonly #deletes: WorkQueue
  readonly #orphans: WorkQueue
  readonly #backoff: Backoff
  readonly #lookupBackoff: Backoff
  readonly #parked = new ParkedKeys()
  /** Resolves when the resources of the first discovery are watched. */
  readonly #started = deferred<void>()
  #isWorking = false

  constructor(options: CollectorRunOptions) {
    const { client, clock, random, log, metrics, discoveryMs } = options
    this.#options = options
    this.#cache = new ObjectCache({ client, clock, random, log })
    this.#recorder = new EventRecorder({ client, controller: 'garbage-collector-controller', clock, random, log })
    this.#monitors = new Monitors({
      cache: this.#cache,
      onEvent: (event) => {
        this.#onEvent(event)
      },
      onLost: (type) => {
        this.#enqueue(this.#graph.lose(type))
      },
    })
    this.#discovery = new Discovery({
      client,
      clock,
      log,
      periodMs: discoveryMs,
      onResources: (resources) => this.#followResources(resources),
    })
    this.#deletes = new WorkQueue({ clock, metrics, name: 'garbage_collector_attempt_to_delete' })
    this.#orphans = new WorkQueue({ clock, metrics, name: 'garbage_collector_attempt_to_orphan' })
    this.#backoff = new Backoff({ random })
    this.#lookupBackoff = new Backoff({ random, baseMs: 50, maxMs: 300_000 })
  }

  /** Whether it is synced and has nothing to do now; delayed retries do not count. */
  get isIdle(): boolean {
    return (
      this.#isWorking &&
      this.#monitors.backlog === 0 &&
      [this.#deletes, this.#orphans].every(({ readyCount, workingCount }) => readyCount + workingCount === 0)
    )
  }

  /** Collects until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stopping = new AbortController()
    const stop = onAbort(signal, (reason) => {
      stopping.abort(reason)
    })
    const tasks = [
      this.#cache.run(stopping.signal),
      this.#recorder.run(stopping.signal),
      this.#discovery.run(stopping.signal),
      this.#work(stopping.signal),
    ]
    for (const task of tasks)
      task.catch((error: unknown) => {
        stopping.abort(error)
      })
    const ended = await Promise.allSettled(tasks)
    stop()
    await Promise.all([this.#deletes.stop(), this.#orphans.stop()])
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  async #work(signal: AbortSignal): Promise<void> {
    await this.#waitForSync(signal)
    if (signal.aborted) return
    const { client, log, concurrency } = this.#options
    this.#isWorking = true
    log.debug('garbage collector: starting workers', { objects: this.#graph.size, resources: this.#monitors.size })
    const attempts = new Attempts({
      graph: this.#graph,
      operations: new Operations({ client, signal }),
      lookupBackoff: this.#lookupBackoff,
      enqueue: (work) => {
        this.#enqueue(work)
      },
      onUnwatched: (identity) => {
        if (!this.#discovery.has(identity)) this.#discovery.hurry()
      },
    })
    const options = {
      signal,
      concurrency,
      backoff: this.#backoff,
      onFinished: (worked: WorkResult<string>) => {
        this.#report(worked, signal)
      },
    }
    await Promise.all([
      runWorkers(
        async ({ key }) =>
          this.#checkParked(await attempts.attemptDelete(key, { isRetry: this.#backoff.retries(key) > 0 })),
        { ...options, queue: this.#deletes, parked: this.#parked },
      ),
      runWorkers(
        async ({ key }) => {
          await attempts.attemptOrphan(key)
          return undefined
        },
        { ...options, queue: this.#orphans, backoff: new Backoff({ random: this.#options.random }) },
      ),
    ])
  }

  async #waitForSync(signal: AbortSignal): Promise<void> {
    const { clock, syncMs, log } = this.#options
    const waiting = new AbortController()
    const stop = onAbort(signal, () => {
      waiting.abort()
    })
    const synced = this.#started.promise
      .then(() => this.#monitors.waitForSync({ signal: waiting.signal }))
      .then(() => true)
    const isSynced = await Promise.race([
      synced,
      sleep(clock, syncMs, { signal: waiting.signal }).then(
        () => false,
        () => false,
      ),
    ])
    waiting.abort()
    stop()
    if (!isSynced && !signal.aborted)
      log.warn('garbage collector: caches did not sync in time; continuing with partial data', { syncMs })
  }

  async #followResources(resources: readonly DiscoveredResource[]): Promise<void> {
    await this.#monitors.follow(selectFollowed(resources))
    this.#parked.wake(this.#deletes, (_, { waitingFor }) => this.#discovery.has(typeOf(waitingFor)))
    this.#started.resolve()
  }

  /** Applies a watch event to the graph. */
  #onEvent(event: CacheEvent): void {
    const { type, object, old } = event
    const { uid } = object.metadata
    // Objects of aggregated API servers may have no UID: they cannot be owners or dependents.
    if (!uid) return
    const oldUid = old?.metadata.uid ?? uid
    if (oldUid !== uid) this.#remove(oldUid)
    if (type === 'delete') this.#remove(uid)
    else this.#enqueue(this.#graph.observe(identityOf(object), factsOf(object.metadata)))
    if (discoveryKinds.has(object.kind) && (!event.isInitial || this.#isUndiscovered(object))) this.#discovery.hurry()
  }

  /** Whether a CRD of the first list is newer than the first discovery: it was defined while the collector started. */
  #isUndiscovered({ kind, metadata: { name = '' } }: KubeObject): boolean {
    return kind === 'CustomResourceDefinition' && !this.#discovery.hasResource(name)
  }

  #remove(uid: string): void {
    this.#enqueue(this.#graph.remove(uid))
    this.#parked.unpark(uid)
    this.#backoff.forget(uid)
    this.#lookupBackoff.forget(uid)
  }

  #enqueue({ deletes, later, orphans, misplaced }: Work): void {
    for (const uid of deletes) this.#deletes.add(uid)
    for (const uid of later) this.#deletes.add(uid, { afterMs: this.#lookupBackoff.next(uid) })
    for (const uid of orphans) this.#orphans.add(uid)
    for (const one of misplaced) this.#warn(one)
  }

  /** Retries an object that waits for a kind which is already installed. */
  #checkParked<O extends Awaited<ReturnType<Attempts['attemptDelete']>>>(
    outcome: O,
  ): O | { kind: 'error'; error: Error } {
    if (outcome?.kind !== 'park' || !this.#discovery.has(typeOf(outcome.waitingFor))) return outcome
    return {
      kind: 'error',
      error: new Error(`the server does not serve ${outcome.waitingFor}, although discovery lists it`),
    }
  }

  #warn({ dependent: { apiVersion, kind, namespace, name, uid }, reference }: Misplaced): void {
    const { log } = this.#options
    const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`
    const object = { apiVersion, kind, metadata: { name, uid, ...(namespace !== '' && { namespace }) } }
    log.warn('owner reference to another namespace', { kind, object: `${namespace}/${name}`, owner })
    this.#recorder.event(object, {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      note: `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    })
  }

  #report({ item: { key: uid }, decision: { failure } }: WorkResult<string>, signal: AbortSignal): void {
    if (!failure || signal.aborted) return
    const { kind, namespace = '', name = '' } = this.#graph.get(uid)?.identity ?? {}
    this.#options.log.warn('cannot collect object: retrying', {
      kind,
      object: namespace === '' ? name : `${namespace}/${name}`,
      uid,
      error: failure.error,
    })
  }
}

function typeOf(text: string): TypeMeta {
  const [apiVersion = '', kind = ''] = text.split(' ')
  return { apiVersion, kind }
}
