/**
 * Room 20: reconcile, then forget, wait, back off or give up.
 *
 * Before: the queue handed out a key. After: the queue's outcome table says when it goes again.
 *
 * Invariants: whatever a reconcile does (throw anything, hang, block), the worker survives; a run that was told to end
 * writes nothing more; a key that hangs stays locked and is shown as stuck, as running it twice would be worse.
 */
import { isApiError, parseKey, type ObjectKey, type TypeMeta } from '#api'
import { randomUuid, type Clock, type Logger, type Random } from '#base'
import type { CacheEvent, CacheKey, ObjectCache } from '#cache'
import type { Client } from '#client'
import type { Backoff, Outcome, WorkItem, WorkQueue, WorkResult } from '#queue'
import type { BaseContext } from './context.ts'
import { RunAborted } from './errors.ts'
import type { HotLoops } from './hot-loops.ts'
import type { Ledger } from './ledger.ts'
import type { ControllerMeter } from './metrics.ts'
import { peek, ReconcileClient } from './reconcile-client.ts'
import { reconcileObject, type ReconcileParts } from './reconcile.ts'
import type { Cause, RunCause } from './run-record.ts'
import { failureOf, isLostRace, objectFields, outcomeOf, Run, RunReport } from './run.ts'
import type { Span, Tracing } from './tracing.ts'

interface WorkerOptions extends ReconcileParts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly ledger: Ledger
  readonly hotLoops: HotLoops
  readonly random: Random
  readonly log: Logger
  readonly meter: ControllerMeter
  readonly tracing: Tracing
  readonly queue: WorkQueue<Cause>
  readonly backoff: Backoff
}

/** A run that goes on. */
export interface RunningKey {
  readonly key: string
  readonly reconcileId: string
  readonly runningMs: number
}

/** Says that nothing was done: the key was put off, with its reasons. */
const deferredError = new Error('put off')

export class Worker {
  readonly #options: WorkerOptions
  readonly #clock: Clock
  readonly #runs = new Map<string, Run>()
  readonly #ended = new WeakMap<WorkItem<Cause>, Run>()
  readonly #gate: ConflictGate
  readonly #report: RunReport
  /** Keys that are slowed down, and until when. */
  readonly #hotLoopDelays = new Map<string, number>()
  /** Keys that failed, and when they are to be tried again. */
  readonly #retries = new Map<string, number>()
  #stopping: RunAborted | undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#gate = new ConflictGate(options)
    this.#report = new RunReport(options)
  }

  get activeCount(): number {
    return this.#runs.size
  }

  /** Runs that have gone on for at least so long. */
  runningFor(leastMs: number): RunningKey[] {
    return [...this.#runs]
      .filter(([, run]) => run.durationMs >= leastMs)
      .map(([key, { record, durationMs }]) => ({ key, reconcileId: record?.reconcileId ?? '', runningMs: durationMs }))
  }

  /** Runs begin again. */
  open(): void {
    this.#stopping = undefined
  }

  /** Tells every run to end; those that begin from now on are told at once. */
  abort(reason: RunAborted): void {
    this.#stopping = reason
    for (const run of this.#runs.values()) run.abort(reason)
  }

  /** Ends a run whose object has changed in a way that makes it pointless. */
  observe(event: CacheEvent): void {
    if (this.#runs.size === 0) return
    const run = this.#runs.get(event.keyText)
    if (run?.object === undefined) return
    const { metadata } = event.object
    const isGone = event.type === 'delete' || metadata.uid !== run.object.metadata.uid
    if (isGone || (!run.isCleanup && metadata.deletionTimestamp !== undefined)) run.abort(new RunAborted('deleted'))
    else if (
      this.#options.declaration.cancelOnNewGeneration &&
      (metadata.generation ?? 0) > (run.object.metadata.generation ?? 0)
    )
      run.abort(new RunAborted('superseded'))
  }

  /** The work on one key, for `runWorkers`. */
  async work(item: WorkItem<Cause>): Promise<Outcome> {
    const { declaration, meter } = this.#options
    const key = parseKey(item.key)
    const run = new Run({
      fields: objectFields(key),
      clock: this.#clock,
      timeoutMs: declaration.timeoutMs,
      onTimeout: () => {
        meter.timeouts.add()
      },
    })
    this.#runs.set(item.key, run)
    meter.activeWorkers.add(1)
    try {
      if (this.#stopping) run.abort(this.#stopping)
      const waitMs = await this.#gate.waitMs(item.key, run).catch(() => 0)
      if (waitMs > 0) meter.staleSkips.add()
      return waitMs > 0 ? this.#defer(item, waitMs) : await this.#begin(item, run, key)
    } finally {
      run.done()
      this.#runs.delete(item.key)
      meter.activeWorkers.add(-1)
    }
  }

  /** What is told after each piece of work, for `runWorkers`. */
  finished({ item, outcome, decision: settled }: WorkResult<Cause>): void {
    const run = this.#ended.get(item)
    if (!run) return
    if (settled.afterMs !== undefined && outcome.kind !== 'after')
      this.#retries.set(item.key, this.#clock.monotonic() + settled.afterMs)
    this.#report.end(run, { item, outcome, decision: settled })
  }

  async #begin(item: WorkItem<Cause>, run: Run, objectKey: ObjectKey): Promise<Outcome> {
    const { ledger, hotLoops, name, backoff, random } = this.#options
    const attempt = backoff.retries(item.key)
    const causes: readonly RunCause[] = item.reasons.length > 0 ? ledger.explain(item.reasons) : [queueCause(attempt)]
    const rounds = hotLoops.roundsOf({ controller: name, key: item.key, causes })
    const brakeMs = this.#selfCausedDelayMs(item.key, causes) || this.#hotLoopDelayMs(item.key, { rounds, causes, run })
    if (brakeMs > 0) return this.#defer(item, brakeMs)
    this.#retries.delete(item.key)
    const record = ledger.begin({
      reconcileId: randomUuid(random),
      controller: name,
      key: item.key,
      startedMs: this.#clock.now(),
      attempt,
      priority: item.priority,
      causes,
      causesLeftOut: item.reasonsLeftOut,
      rounds,
      signal: run.signal,
    })
    run.record = record
    this.#ended.set(item, run)
    const links = causes.flatMap(({ writer }) => (writer ? (ledger.find(writer.reconcileId)?.spanContext ?? []) : []))
    const attributes = {
      'evenkeel.controller': name,
      'evenkeel.object': item.key,
      'evenkeel.reconcile_id': record.reconcileId,
      'evenkeel.attempt': attempt,
      'evenkeel.causes': causes.length,
    }
    return this.#options.tracing.run({ name: `reconcile ${name}`, attributes, links }, (span) =>
      this.#perform(item, run, { key: objectKey, attempt, causes, span }),
    )
  }

  async #perform(
    item: WorkItem<Cause>,
    run: Run,
    { key, attempt, causes, span }: { key: ObjectKey; attempt: number; causes: readonly RunCause[]; span: Span },
  ): Promise<Outcome> {
    const { name, client, cache, log, random } = this.#options
    const { record } = run
    const reconcileId = record?.reconcileId ?? ''
    if (record) record.spanContext = span.context
    const runLog = log.child({ ...run.fields, reconcileId })
    const base: BaseContext = {
      key,
      reconcileId,
      client: new ReconcileClient({ client, cache, defaults: { fieldManager: name, reconcileId } }),
      signal: run.signal,
      clock: this.#clock,
      random,
      log: runLog,
      causes,
      attempt,
      priority: item.priority,
    }
    runLog.debug('reconcile begins', { causes, attempt, priority: item.priority })
    try {
      run.signal.throwIfAborted()
      return outcomeOf(await reconcileObject(this.#options, run, base))
    } catch (error) {
      const outcome = this.#fail(item, run, error)
      if (outcome.kind === 'error' || outcome.kind === 'terminal') span.fail(outcome.error)
      return outcome
    }
  }

  #fail(item: WorkItem<Cause>, run: Run, error: unknown): Outcome {
    const { abortedFor } = run
    if (abortedFor !== undefined && abortedFor !== 'timeout') return this.#aborted(item, run, error)
    if (isLostRace(error)) this.#awaitConflict(item.key, run, error)
    return failureOf(error)
  }

  /** Not the run's fault: what it was to do is still to do, unless an event says otherwise. */
  #aborted(item: WorkItem<Cause>, run: Run, error: unknown): Outcome {
    this.#options.log.debug('a reconcile was cut short', {
      ...run.fields,
      reconcileId: run.record?.reconcileId,
      why: run.abortedFor,
      error,
    })
    this.#requeue(item, 0)
    return { kind: 'done' }
  }

  /** The object that was written, by the version that this run knew of it. */
  #awaitConflict(key: string, run: Run, error: unknown): void {
    const refused = run.record?.lastRefused(isApiError(error) ? error.subject?.name : undefined)
    const name = refused?.write.name
    if (!refused || name === undefined) return
    const { apiVersion, kind, namespace } = refused.write
    const version = this.#isOwn(key, refused.write) ? (newestOwnVersion(run, key) ?? refused.version) : refused.version
    if (version !== undefined)
      this.#gate.close(key, { apiVersion, kind, key: { name, ...(namespace !== undefined && { namespace }) }, version })
  }

  #isOwn(key: string, { kind, name, namespace }: { kind: string; name?: string; namespace?: string }): boolean {
    const own = parseKey(key)
    return own.kind === kind && own.name === name && (own.namespace ?? '') === (namespace ?? '')
  }

  /** How much is left of a back-off that nothing interrupts but the echo of what the failed run wrote about its object. */
  #selfCausedDelayMs(key: string, causes: readonly RunCause[]): number {
    const dueMs = this.#retries.get(key)
    if (
      dueMs === undefined ||
      !causes.every(
        ({ object, writer }) => object === key && writer?.key === key && writer.controller === this.#options.name,
      )
    )
      return 0
    return Math.max(0, dueMs - this.#clock.monotonic())
  }

  /** How long a key that keeps causing itself waits; 0: not at all, or long enough. */
  #hotLoopDelayMs(
    key: string,
    { rounds, causes, run }: { rounds: number; causes: readonly RunCause[]; run: Run },
  ): number {
    const untilMs = this.#hotLoopDelays.get(key)
    if (untilMs !== undefined && rounds > 0) {
      const leftMs = untilMs - this.#clock.monotonic()
      if (leftMs <= 0) this.#hotLoopDelays.delete(key)
      return Math.max(0, leftMs)
    }
    this.#hotLoopDelays.delete(key)
    const hot = this.#options.hotLoops.detect(key, rounds, causes)
    if (!hot) return 0
    this.#hotLoopDelays.set(key, this.#clock.monotonic() + hot.delayMs)
    this.#report.hotLoop(run, hot)
    return hot.delayMs
  }

  #defer(item: WorkItem<Cause>, afterMs: number): Outcome {
    this.#requeue(item, afterMs)
    // The one outcome that neither adds the key nor touches its failures.
    return { kind: 'terminal', error: deferredError }
  }

  #requeue({ key, priority, reasons }: WorkItem<Cause>, afterMs: number): void {
    const { queue } = this.#options
    queue.add(key, { afterMs, priority })
    for (const reason of reasons) queue.add(key, { afterMs, priority, reason })
  }
}

/** Nobody asked: it runs because it failed, or because it wanted to. */
function queueCause(attempt: number): Cause {
  return { type: attempt > 0 ? 'retry' : 'timer', source: 'queue' }
}

function newestOwnVersion(run: Run, key: string): string | undefined {
  return (
    run.record?.writes.findLast(({ object, resourceVersion }) => object === key && resourceVersion !== undefined)
      ?.resourceVersion ?? run.object?.metadata.resourceVersion
  )
}

/*
 * Holds a key back after a conflict until the cache has seen what it conflicted with.
 *
 * Running again at once would read the same old state and conflict again. The event that brings the new state adds the
 * key by itself, so the wait ends with it; if it does not come in time, the server is asked.
 */

/** An object that changed under us: the cache had this version of it when we wrote. */
interface Expectation extends TypeMeta {
  readonly key: CacheKey
  readonly version: string
}

interface PendingConflict extends Expectation {
  readonly sinceMs: number
  checks: number
}

interface ConflictGateOptions {
  readonly cache: ObjectCache
  readonly client: Client
  readonly clock: Clock
  /** How long the cache is waited for. @default 5000 */
  readonly patienceMs?: number
}

const firstWaitMs = 10
const longestWaitMs = 1000

class ConflictGate {
  readonly #cache: ObjectCache
  readonly #client: Client
  readonly #clock: Clock
  readonly #patienceMs: number
  readonly #pending = new Map<string, PendingConflict>()

  constructor({ cache, client, clock, patienceMs = 5000 }: ConflictGateOptions) {
    this.#cache = cache
    this.#client = client
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  close(key: string, expectation: Expectation): void {
    this.#pending.set(key, { ...expectation, sinceMs: this.#clock.monotonic(), checks: 0 })
  }

  /** How long to wait before the key is worth running; 0: now. */
  async waitMs(key: string, { signal }: { signal: AbortSignal }): Promise<number> {
    const held = this.#pending.get(key)
    if (!held) return 0
    const waitedMs = this.#clock.monotonic() - held.sinceMs
    const isPassed = this.#versionOf(held) !== held.version
    if (!isPassed && waitedMs < this.#patienceMs)
      return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(10, held.checks++))
    this.#pending.delete(key)
    if (!isPassed) await this.#refresh(held, signal)
    return 0
  }

  #versionOf({ apiVersion, kind, key }: PendingConflict): string | undefined {
    return peek(this.#cache, { apiVersion, kind }, key)?.metadata.resourceVersion
  }

  /** The watch is late: what the server says now is shown until it has caught up. */
  async #refresh({ apiVersion, kind, key }: PendingConflict, signal: AbortSignal): Promise<void> {
    const found = await this.#client.find({ apiVersion, kind }, key, { signal })
    if (found) this.#cache.noteWrite(found)
    else this.#cache.noteDelete({ apiVersion, kind, metadata: { ...key } })
  }
}
