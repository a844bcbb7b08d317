/**
 * What wakes a verb `external` besides its objects: the time for a sweep, and what the outside tells by itself.
 *
 * A stream that ends or breaks may have missed something, so a sweep follows every gap. The sweep is a run like any
 * other, under a key that no object can have: one at a time, on the leader only, and it is tried again when it fails.
 */
import type { KubeObject } from '#api'
import { onAbort, randomFraction, sleep, type AbortOptions, type Counter } from '#base'
import type { CacheKey } from '#cache'
import type { Source, SourceContext, StartedSource } from '#controller'
import { failureOf, type DriverEvent } from './driver.ts'
import { checkOwnership, readOwnershipLabels } from './ownership-labels.ts'
import { recordIn } from './record.ts'
import type { ExternalEnvironment } from './session.ts'

interface ExternalSourceOptions {
  readonly environment: ExternalEnvironment
  /** The key under which sweeps run. */
  readonly sweepKey: CacheKey
  /** Keys of records that may have outlived their objects. */
  readonly leftoverKeys: () => Promise<readonly CacheKey[]>
}

export class ExternalSource implements Source {
  readonly name: string
  readonly environment: ExternalEnvironment
  readonly sweepKey: CacheKey
  readonly #leftoverKeys: ExternalSourceOptions['leftoverKeys']
  #context: SourceContext | undefined
  #missed: Counter | undefined

  constructor({ environment: parts, sweepKey, leftoverKeys: leftKeys }: ExternalSourceOptions) {
    this.name = `external ${parts.driver.name}`
    this.environment = parts
    this.sweepKey = sweepKey
    this.#leftoverKeys = leftKeys
  }

  start(context: SourceContext): StartedSource {
    this.#context = context
    this.#missed = context.metrics
      ?.counter('evenkeel_external_missed_events_total', {
        help: 'Changes outside that a watch should have told, and a sweep found.',
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

  constructor(source: ExternalSource, context: SourceContext, leftKeys: ExternalSourceOptions['leftoverKeys']) {
    this.#source = source
    this.#context = context
    const { driver } = source.environment
    this.#done = Promise.all([
      this.#enqueueLeftovers(leftKeys),
      driver.list ? this.#sweepPeriodically() : undefined,
      driver.watch ? this.#watch() : undefined,
    ])
  }

  get name(): string {
    return this.#source.name
  }

  /** The outside does not say when it has told everything, and nobody waits for it. */
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
    this.#stopping.abort(new Error('the source is no longer wanted'))
    await this.#done
  }

  async #enqueueLeftovers(leftKeys: ExternalSourceOptions['leftoverKeys']): Promise<void> {
    try {
      for (const key of await leftKeys()) this.#source.enqueue(key, 'a record is left')
    } catch (error) {
      this.#problem = `the records cannot be read: ${error instanceof Error ? error.message : String(error)}`
      this.#context.log.error('the records of things outside cannot be read', { source: this.name, error })
    }
  }

  async #sweepPeriodically(): Promise<void> {
    const { clock, random } = this.#context
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // Before all objects: what a list has shown need not be asked for one by one.
      this.#source.enqueue(this.#source.sweepKey, 'time to sweep', { priority: 1 })
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
        this.#problem = `the watch broke: ${error instanceof Error ? error.message : String(error)}`
        log.warn('a watch of things outside broke', { source: this.name, error })
      }
      // Whatever happened in the gap is found by looking at everything.
      this.#source.enqueue(this.#source.sweepKey, 'the watch had a gap')
      await sleep(
        clock,
        Math.min(retryMsMax, retryMsMin * 2 ** Math.min(failures, 10)) * (1 + 0.1 * randomFraction(random)),
        { signal },
      ).catch(() => undefined)
    }
  }

  /** @returns whether anything was heard before the stream ended */
  async #receiveAll(): Promise<boolean> {
    const { driver } = this.#source.environment
    const { clock } = this.#context
    const { signal } = this.#stopping
    const iterator = driver.watch?.(this.#cursor, { signal, clock, connection: undefined })[Symbol.asyncIterator]()
    let stopListening = (): void => undefined
    const aborted = new Promise<undefined>((resolve) => {
      stopListening = onAbort(signal, () => {
        resolve(undefined)
      })
    })
    let isHeard = false
    try {
      for (;;) {
        // A stream that hangs must not hold us up.
        const next = await Promise.race([iterator?.next(), aborted])
        if (!next || next.done === true || signal.aborted) return isHeard
        isHeard = true
        this.#cursor = next.value.cursor ?? this.#cursor
        this.#problem = undefined
        this.#receive(next.value)
      }
    } finally {
      stopListening()
      Promise.resolve(iterator?.return?.()).catch(() => undefined)
    }
  }

  #receive({ id, labels: given }: DriverEvent): void {
    const { environment: parts, sweepKey } = this.#source
    const labels = readOwnershipLabels(given)
    const isOurs = labels !== undefined && checkOwnership(given, parts.identity, labels.uid) === 'ours'
    if (isOurs)
      this.#source.enqueue(
        { name: labels.name, ...(labels.namespace !== '' && { namespace: labels.namespace }) },
        'told by the outside',
      )
    const known = id === undefined ? undefined : this.#objectOf(id)
    if (known)
      this.#source.enqueue(
        {
          name: known.metadata.name ?? '',
          ...(known.metadata.namespace !== undefined && { namespace: known.metadata.namespace }),
        },
        'told by the outside',
      )
    // Strangers' things are their business; what cannot be told apart is looked at.
    else if (!isOurs && (id === undefined || !parts.hasStatus) && parts.driver.list)
      this.#source.enqueue(sweepKey, 'something happened outside')
  }

  /** By what objects remember; a thing that nobody remembers is found by a sweep. */
  #objectOf(id: string): KubeObject | undefined {
    const { kind, hasStatus: hasRoom } = this.#source.environment
    const { cache } = this.#context
    // Before the first list there is nobody to remember; every object is looked at then anyway.
    const isReady = hasRoom && cache.hasSynced
    return isReady
      ? (cache.list(kind) as unknown as readonly KubeObject[]).find((object) => recordIn(object).id === id)
      : undefined
  }
}
