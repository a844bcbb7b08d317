/**
 * The life of one key, top to bottom:
 *
 *   take      a worker takes the key from the queue: one worker per key
 *   gate      is now the time? After a conflict, during its own back-off or in a hot loop the key is `deferred`
 *   run       the ledger gets an entry, the declaration's function runs (`reconcile.ts`)
 *   classify  what it returned or threw becomes an outcome of the queue
 *   requeue   the outcome table of `queue/outcome.ts` says when the key runs again
 *   report    metrics, ledger, log
 *
 * Invariants: whatever a reconcile does (throw anything, hang, block), the worker survives; an aborted run writes
 * nothing more; a key that hangs stays locked and is shown as stuck, because running it twice would be worse.
 */
import { findCause, isConflict, stringifyJson } from '#api'
import { onAbort, placeOf, randomUuid, type Clock, type Logger, type Random } from '#base'
import type { CacheEvent, ObjectCache } from '#cache'
import type { Client } from '#client'
import {
  processQueue,
  requeue,
  type Backoff,
  type Outcome,
  type ParkedKeys,
  type RequeueDecision,
  type WorkItem,
  type WorkQueue,
} from '#queue'
import { ConflictGate } from './conflict-gate.ts'
import type { BaseContext } from './context.ts'
import type { ControllerDeclaration, Reconciled, ReconcileResult } from './declaration.ts'
import { isTerminalError, retryAfterMs, RunAborted, toError, toRunAborted } from './errors.ts'
import type { HotLoops } from './hot-loops.ts'
import type { Ledger } from './ledger.ts'
import { countRun, type ControllerMeter } from './metrics.ts'
import { ReconcileClient } from './reconcile-client.ts'
import type { Reconciler } from './reconcile.ts'
import type { Cause, RunEnd } from './run-record.ts'
import { Run } from './run.ts'
import type { Span, Tracing } from './tracing.ts'

interface WorkerOptions {
  readonly name: string
  readonly declaration: ControllerDeclaration
  readonly reconciler: Reconciler
  readonly queue: WorkQueue<Cause>
  readonly backoff: Backoff
  readonly parked: ParkedKeys
  readonly client: Client
  readonly cache: ObjectCache
  readonly ledger: Ledger
  readonly hotLoops: HotLoops
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly meter: ControllerMeter
  readonly tracing: Tracing
}

/** A run that has not ended yet. */
export interface RunningKey {
  readonly key: string
  readonly reconcileId: string
  readonly runningMs: number
}

type RunResult = { readonly outcome: Outcome; readonly decision: RequeueDecision }

export class Worker {
  readonly #name: string
  readonly #concurrency: number
  readonly #timeoutMs: number | undefined
  readonly #cancelOnNewGeneration: boolean
  readonly #reconciler: Reconciler
  readonly #queue: WorkQueue<Cause>
  readonly #backoff: Backoff
  readonly #parked: ParkedKeys
  readonly #client: Client
  readonly #cache: ObjectCache
  readonly #ledger: Ledger
  readonly #hotLoops: HotLoops
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #meter: ControllerMeter
  readonly #tracing: Tracing
  readonly #conflicts: ConflictGate
  readonly #runs = new Map<string, Run>()
  /** Keys whose last run failed, and when their retry is due. */
  readonly #retriesDueMs = new Map<string, number>()
  /** Keys whose last run failed and that run again for it: not those of terminal errors. */
  readonly #failing = new Set<string>()
  /** Keys in a hot loop, and until when they wait. */
  readonly #hotLoopUntilMs = new Map<string, number>()
  #stopping: RunAborted | undefined

  constructor({ declaration, ...options }: WorkerOptions) {
    const { concurrency = 1, timeoutMs, cancelOnNewGeneration = false } = declaration
    const { client, cache, clock } = options
    this.#name = options.name
    this.#concurrency = concurrency
    this.#timeoutMs = timeoutMs
    this.#cancelOnNewGeneration = cancelOnNewGeneration
    this.#reconciler = options.reconciler
    this.#queue = options.queue
    this.#backoff = options.backoff
    this.#parked = options.parked
    this.#client = client
    this.#cache = cache
    this.#ledger = options.ledger
    this.#hotLoops = options.hotLoops
    this.#clock = clock
    this.#random = options.random
    this.#log = options.log
    this.#meter = options.meter
    this.#tracing = options.tracing
    this.#conflicts = new ConflictGate({ client, cache, clock })
  }

  /**
   * Takes keys and processes them until the signal aborts; resolves when the last run has ended. The signal aborts runs
   * as well, with its reason if that is a `RunAborted`, else with `shutdown`.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#stopping = undefined
    const stopListening = onAbort(signal, (reason) => {
      this.#stopping = toRunAborted(reason)
      for (const run of this.#runs.values()) run.abort(this.#stopping)
    })
    try {
      await processQueue(this.#queue, (item) => this.#process(item), { concurrency: this.#concurrency, signal })
    } finally {
      stopListening()
    }
  }

  async #process(item: WorkItem<Cause>): Promise<void> {
    const run = this.#take(item)
    const outcome = await this.#attempt(run)
    this.#release(run)
    const decision = requeue(item, outcome, { queue: this.#queue, backoff: this.#backoff, parked: this.#parked })
    this.#report(run, { outcome, decision })
  }

  // Take: the run is registered, so that it can be aborted and counts as active.

  #take(item: WorkItem<Cause>): Run {
    const run = new Run(item, {
      clock: this.#clock,
      timeoutMs: this.#timeoutMs,
      onTimeout: () => {
        this.#meter.timeouts.add()
      },
    })
    this.#runs.set(item.key, run)
    this.#meter.activeWorkers.add(1)
    if (this.#stopping) run.abort(this.#stopping)
    return run
  }

  #release(run: Run): void {
    run.end()
    this.#runs.delete(run.item.key)
    this.#meter.activeWorkers.add(-1)
  }

  async #attempt(run: Run): Promise<Outcome> {
    try {
      return (await this.#gate(run)) ?? (await this.#reconcile(run))
    } catch (error) {
      return { kind: 'error', error }
    }
  }

  // Gate: three reasons to defer the key. Undefined: it may run.

  async #gate(run: Run): Promise<Outcome | undefined> {
    const { key, reasons } = run.item
    const conflictMs = await this.#conflicts.waitMs(run)
    if (conflictMs > 0) {
      this.#meter.staleSkips.add()
      return { kind: 'deferred', afterMs: conflictMs }
    }
    run.attempt = this.#backoff.retries(key)
    run.causes =
      reasons.length > 0
        ? this.#ledger.explain(reasons)
        : [{ type: run.attempt > 0 ? 'retry' : 'timer', source: 'queue' }]
    run.rounds = this.#hotLoops.roundsOf({ controller: this.#name, key, causes: run.causes })
    const afterMs = this.#retryDelayMs(run) || this.#hotLoopDelayMs(run)
    if (afterMs > 0) return { kind: 'deferred', afterMs }
    this.#retriesDueMs.delete(key)
    return undefined
  }

  /** What is left of the back-off, if the only events were caused by what the failed run wrote to its own object. */
  #retryDelayMs({ item: { key }, causes }: Run): number {
    const dueMs = this.#retriesDueMs.get(key)
    if (dueMs === undefined) return 0
    const isSelfCaused = causes.every(
      ({ object, writer }) => object === key && writer?.key === key && writer.controller === this.#name,
    )
    return isSelfCaused ? Math.max(0, dueMs - this.#clock.monotonic()) : 0
  }

  /** How long a key that keeps causing itself has to wait; 0: it does not, or it has waited. */
  #hotLoopDelayMs({ item: { key }, rounds, causes, fields }: Run): number {
    const untilMs = this.#hotLoopUntilMs.get(key)
    if (untilMs !== undefined && rounds > 0) {
      const leftMs = untilMs - this.#clock.monotonic()
      if (leftMs <= 0) this.#hotLoopUntilMs.delete(key)
      return Math.max(0, leftMs)
    }
    this.#hotLoopUntilMs.delete(key)
    const loop = this.#hotLoops.detect(key, rounds, causes)
    if (!loop) return 0
    this.#hotLoopUntilMs.set(key, this.#clock.monotonic() + loop.delayMs)
    this.#meter.hotLoops.add()
    this.#log.warn('reconcile triggers itself: it writes a different result each time', { ...fields, ...loop })
    return loop.delayMs
  }

  // Run: the ledger gets an entry, the declaration's function gets its context.

  async #reconcile(run: Run): Promise<Outcome> {
    const { item, attempt, causes, rounds, signal } = run
    const record = this.#ledger.begin({
      reconcileId: randomUuid(this.#random),
      controller: this.#name,
      key: item.key,
      startedMs: this.#clock.now(),
      attempt,
      priority: item.priority,
      causes,
      causesLeftOut: item.reasonsLeftOut,
      rounds,
      signal,
    })
    run.record = record
    const attributes = {
      'evenkeel.controller': this.#name,
      'evenkeel.object': item.key,
      'evenkeel.reconcile_id': record.reconcileId,
      'evenkeel.attempt': attempt,
      'evenkeel.causes': causes.length,
    }
    const links = causes.flatMap(({ writer }) =>
      writer ? (this.#ledger.find(writer.reconcileId)?.spanContext ?? []) : [],
    )
    return await this.#tracing.run({ name: `reconcile ${this.#name}`, attributes, links }, (span) => {
      record.spanContext = span.context
      return this.#callReconciler(run, this.#contextOf(run, record.reconcileId), span)
    })
  }

  #contextOf({ item: { priority }, key, signal, causes, attempt, fields }: Run, reconcileId: string): BaseContext {
    const defaults = { fieldManager: this.#name, reconcileId }
    return {
      key,
      reconcileId,
      client: new ReconcileClient({ client: this.#client, cache: this.#cache, defaults }),
      signal,
      clock: this.#clock,
      random: this.#random,
      log: this.#log.child({ ...fields, reconcileId }),
      causes,
      attempt,
      priority,
    }
  }

  async #callReconciler(run: Run, context: BaseContext, span: Span): Promise<Outcome> {
    const { causes, attempt, priority } = context
    context.log.debug('reconcile started', { causes, attempt, priority })
    try {
      run.signal.throwIfAborted()
      return classifyResult(await this.#reconciler.reconcile(run, context))
    } catch (error) {
      const outcome = this.#classifyFailure(run, error)
      if (outcome.kind === 'error' || outcome.kind === 'terminal') span.fail(outcome.error)
      return outcome
    }
  }

  // Classify: what was returned or thrown, as an outcome. The functions below the class do most of it.

  #classifyFailure(run: Run, error: unknown): Outcome {
    if (run.isCancelled) {
      const { fields, record, abortedFor } = run
      this.#log.debug('reconcile aborted', { ...fields, reconcileId: record?.reconcileId, reason: abortedFor, error })
      // Not a failure of the run: what it had to do is still to do, unless the next run finds otherwise.
      this.#queue.addAgain(run.item)
      return { kind: 'done' }
    }
    if (isLostRace(error)) this.#conflicts.close(run, error)
    return classifyError(error)
  }

  // Report, after the outcome was acted upon. A deferred key did not run: it has no entry in the ledger.

  #report(run: Run, { outcome, decision }: RunResult): void {
    const { item, record, fields, abortedFor } = run
    const { afterMs, failure, retries } = decision
    if (outcome.kind === 'error' || outcome.kind === 'conflict') this.#failing.add(item.key)
    else if (outcome.kind !== 'deferred') this.#failing.delete(item.key)
    if (!record) return
    if (afterMs !== undefined && outcome.kind !== 'after')
      this.#retriesDueMs.set(item.key, this.#clock.monotonic() + afterMs)
    const isStopped = abortedFor === 'shutdown' || abortedFor === 'lease-lost'
    if (!isStopped) countRun(this.#meter, { durationMs: run.durationMs, outcome, decision })
    this.#ledger.finish(record, endOf(run, { outcome, decision }))
    const common = {
      ...fields,
      reconcileId: record.reconcileId,
      ...(afterMs !== undefined && { afterMs: Math.round(afterMs) }),
    }
    if (!failure) return this.#log.debug('reconcile finished', { ...common, outcome: outcome.kind })
    this.#log.error(failure.isTerminal ? 'reconcile failed; no retry until an event' : 'reconcile failed', {
      ...common,
      error: failure.error,
      retries,
    })
    this.#reconciler.reportFailure(run, failure.error)
  }

  /** Aborts the run of an object that changed in a way that makes the run pointless. */
  observe(event: CacheEvent): void {
    if (this.#runs.size === 0) return
    const run = this.#runs.get(event.keyText)
    if (run?.object === undefined) return
    const { metadata } = event.object
    const { uid, generation = 0 } = run.object.metadata
    const isGone = event.type === 'delete' || metadata.uid !== uid
    if (isGone || (!run.isCleanup && metadata.deletionTimestamp !== undefined)) run.abort(new RunAborted('deleted'))
    else if (this.#cancelOnNewGeneration && (metadata.generation ?? 0) > generation)
      run.abort(new RunAborted('superseded'))
  }

  get activeCount(): number {
    return this.#runs.size
  }

  /** How many keys failed in their last run and wait for a retry. */
  get failingCount(): number {
    return this.#failing.size
  }

  /** Runs that have taken at least so long. */
  runningFor(leastMs: number): RunningKey[] {
    return [...this.#runs]
      .filter(([, run]) => run.durationMs >= leastMs)
      .map(([key, { record, durationMs }]) => ({ key, reconcileId: record?.reconcileId ?? '', runningMs: durationMs }))
  }
}

const resultFields: ReadonlySet<string> = new Set<keyof ReconcileResult>(['afterMs', 'priority', 'park'])

/** @throws {RangeError} when it is no result: `requeue: true` from habit, or something else altogether. */
function classifyResult(result: Reconciled): Outcome {
  if (result === undefined || result === null) return { kind: 'done' }
  const expected = 'reconcile must return undefined, { afterMs } or { park }'
  if (typeof result !== 'object') throw new RangeError(`${expected}; got ${typeof result}`)
  const unknown = Object.keys(result).find((name) => !resultFields.has(name))
  if (unknown !== undefined)
    throw new RangeError(
      `${expected}; got ${stringifyJson(unknown)}. To retry after a failure, throw; to run again later, return afterMs`,
    )
  const { afterMs, priority, park } = result
  if (park !== undefined && afterMs !== undefined)
    throw new RangeError('reconcile must return afterMs or park, not both: park waits for an event without a timer')
  if (park !== undefined) return { kind: 'park', waitingFor: String(park) }
  return afterMs === undefined ? { kind: 'done' } : { kind: 'after', afterMs, priority }
}

function classifyError(error: unknown): Outcome {
  if (isTerminalError(error)) return { kind: 'terminal', error }
  if (isLostRace(error)) return { kind: 'conflict', error }
  return { kind: 'error', error: toError(error), leastMs: retryAfterMs(error) }
}

/** Another writer was faster. A field that another manager owns is no race: a retry does not help. */
function isLostRace(error: unknown): boolean {
  return isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined
}

function endOf(run: Run, { outcome, decision: { result = 'success', failure, afterMs } }: RunResult): RunEnd {
  const at = failure && placeOf(failure.error)
  return {
    durationMs: run.durationMs,
    result: run.isCancelled ? 'aborted' : result,
    ...(failure && { error: failure.error instanceof Error ? failure.error.message : String(failure.error) }),
    ...(failure && at !== undefined && { at }),
    ...(afterMs !== undefined && { afterMs }),
    ...(outcome.kind === 'park' && { waitingFor: outcome.waitingFor }),
  }
}
