/**
 * The garbage collector: objects whose owners are gone go too, and owners wait for what they own when they are told to.
 *
 * It runs on any server, ours or another's, through its public API alone: list and watch of metadata, get, patch, delete.
 * Deletions in the background need nobody but it; those in the foreground and those that orphan stay unfinished while none
 * runs. Two at the same time do no harm, only work twice.
 *
 * @example
 * new Manager({ ..., runnables: [garbageCollector({ clock, random, log })] })
 */
import type { TypeMeta } from '#api'
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
  /** @default the one it is run with: a manager's, which writes only while it leads */
  readonly client?: Client | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: Random | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  /** @default nothing is counted */
  readonly metrics?: Metrics | undefined
  /** How many objects are worked on at a time. @default 20 */
  readonly concurrency?: number | undefined
  /** How often the server is asked which kinds it has, when nothing tells of a change. @default 30_000 */
  readonly discoveryMs?: number | undefined
  /** How long to wait at the start until everything was heard of. @default 30_000 */
  readonly syncMs?: number | undefined
}

export interface GarbageCollector {
  readonly name: string
  /** What it must be allowed to do. */
  readonly rbac: readonly PolicyRule[]
  /** Whether it runs, has heard of everything and has nothing to do now; what waits for a time is left to it. */
  readonly isIdle: () => boolean
  /** Collects until the signal aborts; then it resolves. It may be run again, and begins with nothing each time. */
  readonly run: (signal: AbortSignal, context: { readonly client: Client }) => Promise<void>
}

/** Kinds come and go, so it must be allowed to do this to all of them. */
const rbac: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
]

export function garbageCollector({
  client: given,
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
      const collection = new CollectorRun({
        client: given ?? client,
        clock,
        random,
        log: log.child({ controller: name }),
        metrics,
        concurrency,
        discoveryMs,
        syncMs,
      })
      running = collection
      await collection.run(signal).finally(() => {
        if (running === collection) running = undefined
      })
    },
  }
}

/*
 * One run of the collector: watches feed the graph, the graph feeds two queues, workers empty them.
 *
 *   discovery ──▶ monitors ──events──▶ graph ──work──▶ deletes, orphans ──workers──▶ the server ──▶ watches
 *
 * Events change the graph one at a time and never wait, so the graph needs no lock; only workers talk to the server.
 * Workers begin when all that is there was heard of, or after `syncMs`: before that, half of the owners seem missing, and
 * each would be a question to the server.
 */

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

/** Kinds whose changes mean that kinds come or go. */
const crdKind: ReadonlySet<string> = new Set(['CustomResourceDefinition', 'APIService'])

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
  readonly #patience: Backoff
  readonly #parked = new ParkedKeys()
  /** Resolves when the resources that there are at the beginning are followed. */
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
        this.#follow(this.#graph.lose(type))
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
    this.#patience = new Backoff({ random, baseMs: 50, maxMs: 300_000 })
  }

  /** Whether it has heard of everything and has nothing to do now; what waits for a time is left to it. */
  get isIdle(): boolean {
    return (
      this.#isWorking &&
      this.#monitors.backlog === 0 &&
      [this.#deletes, this.#orphans].every(({ readyCount, workingCount }) => readyCount + workingCount === 0)
    )
  }

  /** Collects until the signal aborts; then it resolves. */
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
    log.debug('the garbage collector begins', { objects: this.#graph.size, resources: this.#monitors.size })
    const attempts = new Attempts({
      graph: this.#graph,
      operations: new Operations({ client, signal }),
      patience: this.#patience,
      follow: (work) => {
        this.#follow(work)
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
    const enough = new AbortController()
    const stop = onAbort(signal, () => {
      enough.abort()
    })
    const synced = this.#started.promise
      .then(() => this.#monitors.waitForSync({ signal: enough.signal }))
      .then(() => true)
    const isSynced = await Promise.race([
      synced,
      sleep(clock, syncMs, { signal: enough.signal }).then(
        () => false,
        () => false,
      ),
    ])
    enough.abort()
    stop()
    if (!isSynced && !signal.aborted)
      log.warn('not everything was heard of in time; collecting garbage all the same', { syncMs })
  }

  async #followResources(resources: readonly DiscoveredResource[]): Promise<void> {
    await this.#monitors.follow(selectFollowed(resources))
    this.#parked.wake(this.#deletes, (_, { waitingFor }) => this.#discovery.has(typeOf(waitingFor)))
    this.#started.resolve()
  }

  /** Room 18: what an event of a watch means. */
  #onEvent(event: CacheEvent): void {
    const { type, object, old } = event
    const { uid } = object.metadata
    // Aggregated servers may have objects without one: nobody can own them, or be owned by them.
    if (!uid) return
    const oldUid = old?.metadata.uid ?? uid
    if (oldUid !== uid) this.#remove(oldUid)
    if (type === 'delete') this.#remove(uid)
    else this.#follow(this.#graph.observe(identityOf(object), factsOf(object.metadata)))
    if (!event.isInitial && crdKind.has(object.kind)) this.#discovery.hurry()
  }

  #remove(uid: string): void {
    this.#follow(this.#graph.remove(uid))
    this.#parked.unpark(uid)
    this.#backoff.forget(uid)
    this.#patience.forget(uid)
  }

  #follow({ deletes, later, orphans, misplaced }: Work): void {
    for (const uid of deletes) this.#deletes.add(uid)
    for (const uid of later) this.#deletes.add(uid, { afterMs: this.#patience.next(uid) })
    for (const uid of orphans) this.#orphans.add(uid)
    for (const one of misplaced) this.#warn(one)
  }

  /** What waits for a kind that is there by now waits for nothing: it is tried again. */
  #checkParked<O extends Awaited<ReturnType<Attempts['attemptDelete']>>>(
    outcome: O,
  ): O | { kind: 'error'; error: Error } {
    if (outcome?.kind !== 'park' || !this.#discovery.has(typeOf(outcome.waitingFor))) return outcome
    return {
      kind: 'error',
      error: new Error(`the server answers as if it had no kind ${outcome.waitingFor}, which it says it has`),
    }
  }

  #warn({ dependent: { apiVersion, kind, namespace, name, uid }, reference }: Misplaced): void {
    const { log } = this.#options
    const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`
    const object = { apiVersion, kind, metadata: { name, uid, ...(namespace !== '' && { namespace }) } }
    log.warn('an object names an owner in another namespace', { kind, object: `${namespace}/${name}`, owner })
    this.#recorder.event(object, {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      note: `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    })
  }

  #report({ item: { key: uid }, decision: { failure } }: WorkResult<string>, signal: AbortSignal): void {
    if (!failure || signal.aborted) return
    const { kind, namespace = '', name = '' } = this.#graph.get(uid)?.identity ?? {}
    this.#options.log.warn('cannot collect an object; trying again', {
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
