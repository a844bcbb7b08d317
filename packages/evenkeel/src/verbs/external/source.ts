/**
 * The event source of `external`: a sweep timer, and the watch of the driver.
 *
 * A watch that ends or fails may have missed events, so a sweep follows. A sweep is a normal run under a key that no
 * object can have: one at a time, on the leader only, and retried when it fails.
 */
import type { KubeObject } from '#api'
import { abortable, randomFraction, sleep, type AbortOptions, type Counter } from '#base'
import type { CacheKey } from '#cache'
import type { Source, SourceContext, StartedSource } from '#controller'
import { failureOf, type DriverEvent } from './driver.ts'
import { checkOwnership, readOwnershipLabels } from './ownership-labels.ts'
import { recordIn } from './record.ts'
import type { ExternalEnvironment } from './session.ts'

interface ExternalSourceOptions {
  readonly environment: ExternalEnvironment
  /** The key of sweeps. */
  readonly sweepKey: CacheKey
  /** Keys of records whose object may not exist. */
  readonly leftoverKeys: () => Promise<readonly CacheKey[]>
}

export class ExternalSource implements Source {
  readonly name: string
  readonly environment: ExternalEnvironment
  readonly sweepKey: CacheKey
  readonly #leftoverKeys: ExternalSourceOptions['leftoverKeys']
  #context: SourceContext | undefined
  #missed: Counter | undefined

  constructor({ environment, sweepKey, leftoverKeys }: ExternalSourceOptions) {
    this.name = `external ${environment.driver.name}`
    this.environment = environment
    this.sweepKey = sweepKey
    this.#leftoverKeys = leftoverKeys
  }

  start(context: SourceContext): StartedSource {
    this.#context = context
    this.#missed = context.metrics
      ?.counter('evenkeel_external_missed_events_total', {
        help: 'Changes of external resources that a sweep found and the watch had missed.',
        labels: ['system'],
      })
      .with({ system: this.environment.driver.name })
    return new StartedExternal(this, context, this.#leftoverKeys)
  }

  enqueue(key: CacheKey, note: string, { priority = 0 }: { priority?: number } = {}): void {
    this.#context?.enqueue(key, { type: 'event', source: this.name, note }, { priority })
  }

  countMissed(count: number): void {
    this.#missed?.add(count)
  }
}

const retryMsMin = 1000
const retryMsMax = 60_000

class StartedExternal implements StartedSource {
  readonly #source: ExternalSource
  readonly #context: SourceContext
  readonly #stopping = new AbortController()
  readonly #done: Promise<unknown>
  #problem: string | undefined
  #cursor: string | undefined

  constructor(source: ExternalSource, context: SourceContext, leftoverKeys: ExternalSourceOptions['leftoverKeys']) {
    this.#source = source
    this.#context = context
    const { driver } = source.environment
    this.#done = Promise.all([
      this.#enqueueLeftovers(leftoverKeys),
      driver.list ? this.#sweepPeriodically() : undefined,
      driver.watch ? this.#watch() : undefined,
    ])
  }

  get name(): string {
    return this.#source.name
  }

  /** An external system has no initial list to wait for. */
  get hasSynced(): boolean {
    return true
  }

  get problem(): string | undefined {
    return this.#problem
  }

  waitForSync(_options: AbortOptions = {}): Promise<void> {
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the source was stopped'))
    await this.#done
  }

  async #enqueueLeftovers(leftoverKeys: ExternalSourceOptions['leftoverKeys']): Promise<void> {
    try {
      for (const key of await leftoverKeys()) this.#source.enqueue(key, 'a record exists')
    } catch (error) {
      this.#problem = `cannot read the records: ${error instanceof Error ? error.message : String(error)}`
      this.#context.log.error('cannot read the records of external resources', { source: this.name, error })
    }
  }

  async #sweepPeriodically(): Promise<void> {
    const { clock, random } = this.#context
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // Before all objects: a resource that a list has shown needs no observation of its own.
      this.#source.enqueue(this.#source.sweepKey, 'periodic sweep', { priority: 1 })
      await sleep(clock, this.#source.environment.settings.sweepMs * (0.9 + 0.2 * randomFraction(random)), {
        signal,
      }).catch(() => undefined)
    }
  }

  async #watch(): Promise<void> {
    const { clock, random, log } = this.#context
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (await this.#receiveAll()) failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (failureOf(error) === 'absent') this.#cursor = undefined
        this.#problem = `watch failed: ${error instanceof Error ? error.message : String(error)}`
        log.warn('watch of external resources failed', { source: this.name, error })
      }
      // The sweep finds the changes that the watch has missed.
      this.#source.enqueue(this.#source.sweepKey, 'the watch was interrupted')
      await sleep(
        clock,
        Math.min(retryMsMax, retryMsMin * 2 ** Math.min(failures, 10)) * (1 + 0.1 * randomFraction(random)),
        { signal },
      ).catch(() => undefined)
    }
  }

  /** @returns whether there was an event before the stream ended */
  async #receiveAll(): Promise<boolean> {
    const { driver } = this.#source.environment
    const { clock } = this.#context
    const { signal } = this.#stopping
    const iterator = driver.watch?.(this.#cursor, { signal, clock, connection: undefined })[Symbol.asyncIterator]()
    if (!iterator) return false
    let hasEvent = false
    try {
      for (;;) {
        const next = await abortable(iterator.next(), { signal })
        if (next.done === true || signal.aborted) return hasEvent
        hasEvent = true
        this.#cursor = next.value.cursor ?? this.#cursor
        this.#problem = undefined
        this.#receive(next.value)
      }
    } finally {
      // Not awaited: a stream that hangs must not block the stop.
      Promise.resolve(iterator.return?.()).catch(() => undefined)
    }
  }

  #receive({ id, labels: given }: DriverEvent): void {
    const { environment, sweepKey } = this.#source
    const labels = readOwnershipLabels(given)
    const isOurs = labels !== undefined && checkOwnership(given, environment.identity, labels.uid) === 'ours'
    if (isOurs)
      this.#source.enqueue(
        { name: labels.name, ...(labels.namespace !== '' && { namespace: labels.namespace }) },
        'event of the external system',
      )
    const known = id === undefined ? undefined : this.#objectOf(id)
    if (known)
      this.#source.enqueue(
        {
          name: known.metadata.name ?? '',
          ...(known.metadata.namespace !== undefined && { namespace: known.metadata.namespace }),
        },
        'event of the external system',
      )
    // An event of another owner's resource is ignored. If the owner cannot be determined, a sweep decides.
    else if (!isOurs && (id === undefined || !environment.hasStatus) && environment.driver.list)
      this.#source.enqueue(sweepKey, 'event of an unknown external resource')
  }

  /** The object whose status has this id. A sweep finds the others. */
  #objectOf(id: string): KubeObject | undefined {
    const { kind, hasStatus } = this.#source.environment
    const { cache } = this.#context
    // Before the first list of objects there is nothing to search, and every object is enqueued later anyway.
    const isReady = hasStatus && cache.hasSynced
    return isReady
      ? (cache.list(kind) as readonly KubeObject[]).find((object) => recordIn(object).id === id)
      : undefined
  }
}
