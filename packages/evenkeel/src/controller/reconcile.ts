/**
 * From a key to the function of the declaration that is responsible for it.
 *
 *   no object            plug-ins may have something left to do; mostly nothing
 *   being deleted        the cleanup steps, then their finalizers are removed; nothing without a cleanup
 *   any other object     add finalizers, plug-ins start, reconcile, plug-ins finish (or handle an early end), write the status
 *
 * A reconcile that computes instead of waiting blocks everything else in its process, so the part up to its first
 * `await` is timed. Later parts cannot be separated from other work; there the manager's watchdog names the runs that
 * were active.
 */
import { formatKey, isConflict, type KubeObject } from '#api'
import type { Clock, Logger } from '#base'
import type { ObjectCache } from '#cache'
import type { BaseContext, ClosedGate, ContextPlugin, Extension, PluginRun, ReconcileContext } from './context.ts'
import type { CleanupStep, ControllerDeclaration, Reconciled } from './declaration.ts'
import { isStopReconcile, isTerminalError } from './errors.ts'
import { FailureCondition } from './failure-condition.ts'
import { addFinalizers, CleanupReport, isWaiting, runCleanup } from './finalizers.ts'
import type { Run } from './run.ts'
import type { AddedSource, Source } from './sources.ts'
import { StatusWriter, writeStatus, type DroppedFields } from './status.ts'

interface ReconcilerOptions {
  readonly name: string
  readonly declaration: ControllerDeclaration
  readonly steps: readonly CleanupStep[]
  readonly plugins: readonly ContextPlugin[]
  readonly cache: ObjectCache
  readonly clock: Clock
  readonly dropped: DroppedFields
  readonly addSource: (source: Source) => AddedSource
}

/** The object of a run, as plug-ins see it. */
interface RunSubject {
  readonly object?: KubeObject
  readonly status?: StatusWriter<never>
  readonly isCleanup?: boolean
}

/** An object, the context of its run and what the run says about its status. */
interface StatusWrite {
  readonly base: BaseContext
  readonly object: KubeObject
  readonly status: StatusWriter<never>
}

export class Reconciler {
  readonly #name: string
  readonly #declaration: ControllerDeclaration
  readonly #steps: readonly CleanupStep[]
  readonly #plugins: readonly ContextPlugin[]
  readonly #cache: ObjectCache
  readonly #clock: Clock
  readonly #dropped: DroppedFields
  readonly #addSource: (source: Source) => AddedSource
  readonly #failure: FailureCondition

  constructor({ name, declaration, steps, plugins, cache, clock, dropped, addSource }: ReconcilerOptions) {
    this.#name = name
    this.#declaration = declaration
    this.#steps = steps
    this.#plugins = plugins
    this.#cache = cache
    this.#clock = clock
    this.#dropped = dropped
    this.#addSource = addSource
    this.#failure = new FailureCondition(declaration.for)
  }

  /** Does what the declaration says about the key of the context. */
  async reconcile(run: Run, base: BaseContext): Promise<Reconciled> {
    if (this.#declaration.reconcileKey) return await this.#reconcileKey(base)
    const { name, namespace } = base.key
    const key = { name, ...(namespace !== undefined && { namespace }) }
    const object = this.#cache.find(this.#declaration.for, key) as KubeObject | undefined
    if (!object) return await this.#reconcileAbsent(base)
    run.object = object
    run.isCleanup = object.metadata.deletionTimestamp !== undefined
    return run.isCleanup ? await this.#cleanUp(object, base) : await this.#reconcilePresent(run, object, base)
  }

  /** Tells the plug-ins that a run has failed. */
  reportFailure({ object }: Run, error: unknown): void {
    if (!object) return
    for (const plugin of this.#plugins) plugin.failed?.(error, { controller: this.#name, object })
  }

  async #reconcileKey(base: BaseContext): Promise<Reconciled> {
    const extensions = this.#extend(base, {})
    return await callBetween(extensions, () =>
      callTimed(() => this.#declaration.reconcileKey?.(base.key, withExtensions(base, extensions)), base),
    )
  }

  /** The soonest answer counts: each plug-in knows only its own part. */
  async #reconcileAbsent(base: BaseContext): Promise<Reconciled> {
    let soonest: Reconciled
    for (const plugin of this.#plugins) {
      const result = await plugin.absent?.(base, this.#pluginRun({}))
      if (soonest === undefined || (result?.afterMs ?? Infinity) < (soonest.afterMs ?? Infinity)) soonest = result
    }
    return soonest
  }

  async #reconcilePresent(run: Run, found: KubeObject, base: BaseContext): Promise<Reconciled> {
    const object = await addFinalizers(found, this.#steps, base)
    run.object = object
    const { reconcile, verbs } = this.#declaration
    if (!reconcile && verbs === undefined) return undefined
    const status = this.#statusOf(object)
    const extensions = this.#extend(base, { object, status })
    let result: Reconciled
    try {
      const context = contextWith(base, extensions, status)
      result = await callBetween(extensions, () =>
        callTimed(() => this.#declaration.reconcile?.(object as never, context), base),
      )
    } catch (error) {
      if (isReported(error, base)) this.#failure.report(error, { object, status })
      await this.#endFailed(error, { base, object, status })
      throw error
    }
    this.#failure.clear({ object, status })
    try {
      if (!base.signal.aborted) await this.#writeStatus({ base, object, status })
    } catch (error) {
      if (result?.afterMs !== undefined)
        base.log.warn('afterMs is ignored because the run failed: the back-off decides when it runs again', {
          afterMs: result.afterMs,
        })
      throw error
    }
    return result
  }

  async #cleanUp(object: KubeObject, base: BaseContext): Promise<Reconciled> {
    if (!this.#steps.some(({ finalizer }) => object.metadata.finalizers?.includes(finalizer))) return undefined
    const status = this.#statusOf(object)
    const extensions = this.#extend(base, { object, status, isCleanup: true })
    const context = contextWith(base, extensions, status)
    const { hasStatus } = status
    const report = new CleanupReport({ object, status, hasStatus, context, clock: this.#clock })
    const call = async (step: CleanupStep, current: KubeObject): Promise<Reconciled> =>
      await callStep(step, report, () => callTimed(() => step.cleanup(current as never, context), base))
    try {
      const policy = this.#declaration.cleanupPolicy ?? 'stop'
      const { object: left, result } = await runCleanup(object, this.#steps, { ...base, policy, call })
      for (const extension of extensions) await extension.finish?.()
      if (left) await this.#writeStatus({ base, object: left, status })
      return result
    } catch (error) {
      await this.#endFailed(error, { base, object, status })
      throw error
    }
  }

  #statusOf(object: KubeObject): StatusWriter<never> {
    return new StatusWriter<never>({
      object,
      clock: this.#clock,
      hasStatus: this.#declaration.for.subresources.status,
    })
  }

  async #writeStatus({ base: { client, signal }, object, status }: StatusWrite): Promise<void> {
    if (!status.isTouched) return
    await writeStatus(status, { object, client, signal, cache: this.#cache, dropped: this.#dropped })
  }

  /**
   * The status of a failed run is written too: that is when people look at it. Its own failure matters less, except for
   * a terminal error: no other run would write it.
   *
   * @throws what the write of the status of a terminal error threw.
   */
  async #endFailed(failure: unknown, write: StatusWrite): Promise<void> {
    const { signal, log } = write.base
    if (signal.aborted) return
    try {
      await this.#writeStatus(write)
    } catch (error) {
      if (!isTerminalError(failure)) return log.debug('cannot write the status of a failed reconcile', { error })
      log.error('reconcile failed; retrying because its status was not written', { error: failure })
      throw error
    }
  }

  #extend(base: BaseContext, subject: RunSubject): readonly Extension<object>[] {
    return this.#plugins.map((plugin) => plugin.extend(base, this.#pluginRun(subject)))
  }

  #pluginRun({ object, status, isCleanup = false }: RunSubject): PluginRun {
    return {
      controller: this.#name,
      kind: this.#declaration.for,
      declaration: this.#declaration,
      cache: this.#cache,
      addSource: this.#addSource,
      object,
      status: status as StatusWriter | undefined,
      isCleanup,
    }
  }
}

/** One step of a cleanup and its report. A `StopReconcile` is a step that needs more time. */
async function callStep(
  step: CleanupStep,
  report: CleanupReport,
  call: () => Promise<Reconciled> | Reconciled,
): Promise<Reconciled> {
  try {
    const result = await call()
    if (!isWaiting(result)) return result
    if (report.givesUp(step)) return undefined
    return report.waits(step, result)
  } catch (error) {
    if (report.givesUp(step)) return undefined
    if (isStopReconcile(error)) return report.waits(step, error.result ?? { park: error.message })
    report.failed(step, error)
    throw error
  }
}

/** Calls between `start` and `finish` of the extensions. A `start` with a result and a `StopReconcile` end the run there. */
async function callBetween(
  extensions: readonly Extension<object>[],
  call: () => Promise<Reconciled> | Reconciled,
): Promise<Reconciled> {
  const { result, isEarly } = await callThrough(extensions, call)
  let soonest = result
  if (isEarly) for (const extension of extensions) soonest = soonerOf(soonest, await extension.stopped?.())
  return soonest
}

async function callThrough(
  extensions: readonly Extension<object>[],
  call: () => Promise<Reconciled> | Reconciled,
): Promise<{ readonly result: Reconciled; readonly isEarly: boolean }> {
  try {
    let closed: ClosedGate | undefined
    for (const extension of extensions) {
      const result = await extension.start?.({ closed })
      if (result !== undefined) return { result, isEarly: true }
      closed ??= await extension.gate?.()
    }
    let result = await call()
    for (const extension of extensions) {
      result = soonerOf(result, await extension.finish?.())
    }
    return { result, isEarly: false }
  } catch (error) {
    if (isStopReconcile(error)) return { result: error.result, isEarly: true }
    throw error
  }
}

/** The result with the earlier time. A time comes before `park`, which has none; otherwise the first result counts. */
function soonerOf(first: Reconciled, second: Reconciled): Reconciled {
  if (first === undefined || second?.afterMs === undefined) return first ?? second
  // What is no valid result is reported, not replaced.
  if (first.afterMs === undefined && first.park === undefined && Object.keys(first).length > 0) return first
  return second.afterMs < (first.afterMs ?? Infinity) ? second : first
}

function contextWith(
  base: BaseContext,
  extensions: readonly Extension<object>[],
  status: StatusWriter<never>,
): ReconcileContext {
  return { ...withExtensions(base, extensions), status } as ReconcileContext
}

/** @throws {RangeError} when a plug-in uses a name that is taken. */
function withExtensions(base: BaseContext, extensions: readonly Extension<object>[]): BaseContext {
  if (extensions.length === 0) return base
  const context: BaseContext & Record<string, unknown> = { ...base }
  for (const extension of extensions) {
    for (const [name, value] of Object.entries(extension.context)) {
      if (name in context || name === 'status')
        throw new RangeError(
          `cannot extend the context of ${formatKey(base.key)}: ${name} exists twice; rename it in one plug-in`,
        )
      Object.assign(context, { [name]: value })
    }
  }
  return context
}

/** Long enough to delay the work of others, and too long for a pause of the garbage collector. */
const blockedMs = 1000

/** Calls, and warns when the synchronous part of the call blocked the process. */
export function callTimed<R>(call: () => R, { clock, log }: { readonly clock: Clock; readonly log: Logger }): R {
  const startedMs = clock.monotonic()
  try {
    return call()
  } finally {
    const ms = clock.monotonic() - startedMs
    if (ms >= blockedMs)
      log.warn(
        'reconcile blocked the process: move the computation to a worker thread, or split it with an await in between',
        { ms: Math.round(ms) },
      )
  }
}

/**
 * Whether a failure becomes a condition: from the second attempt on, because a single hiccup should not make an object
 * unready for a moment. A terminal error has no second attempt, so its first counts. A lost race is no failure.
 */
function isReported(error: unknown, { attempt, signal }: BaseContext): boolean {
  const isLasting = attempt > 0 || isTerminalError(error)
  return isLasting && !signal.aborted && !isStopReconcile(error) && !isConflict(error)
}
