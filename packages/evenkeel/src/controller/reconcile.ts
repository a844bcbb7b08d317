/**
 * Room 21's doorstep: from a key to the right function of the declaration.
 *
 *   no object            ──▶ what the verbs have left to do, mostly nothing
 *   being deleted        ──▶ cleanup, then the finalizer goes; without a cleanup nothing
 *   anything else        ──▶ finalizer on, verbs begin, reconcile, verbs finish, status
 */
import { formatKey, type KubeObject } from '#api'
import type { Clock, Logger } from '#base'
import type { ObjectCache } from '#cache'
import type { BaseContext, ContextPlugin, Extension, PluginRun, ReconcileContext } from './context.ts'
import type { CleanupStep, ControllerDeclaration, Reconciled } from './declaration.ts'
import { isStopReconcile } from './errors.ts'
import { addFinalizers, CleanupReport, isWaiting, runCleanup } from './finalizers.ts'
import type { Run } from './run.ts'
import type { AddedSource, Source } from './sources.ts'
import { StatusWriter, writeStatus, type DroppedFields } from './status.ts'

export interface ReconcileParts {
  readonly name: string
  readonly declaration: ControllerDeclaration
  readonly steps: readonly CleanupStep[]
  readonly plugins: readonly ContextPlugin[]
  readonly cache: ObjectCache
  readonly clock: Clock
  readonly dropped: DroppedFields
  readonly addSource: (source: Source) => AddedSource
}

/** Does what the declaration says about the key of the context. */
export async function reconcileObject(parts: ReconcileParts, run: Run, base: BaseContext): Promise<Reconciled> {
  const { declaration, cache } = parts
  if (declaration.reconcileKey) return reconcileByKey(parts, base)
  const { name, namespace } = base.key
  const object = cache.find(declaration.for, { name, ...(namespace !== undefined && { namespace }) }) as
    | KubeObject
    | undefined
  if (!object) return reconcileAbsent(parts, base)
  run.object = object
  run.isCleanup = object.metadata.deletionTimestamp !== undefined
  return run.isCleanup ? cleanUpObject(parts, object, base) : reconcilePresent(parts, run, { base, object })
}

async function reconcileByKey(parts: ReconcileParts, base: BaseContext): Promise<Reconciled> {
  const extensions = extend(parts, base, {})
  return callBetween(extensions, () =>
    callTimed(() => parts.declaration.reconcileKey?.(base.key, withExtensions(base, extensions)), base),
  )
}

/** The soonest answer counts: each of the verbs only knows its own part. */
async function reconcileAbsent(parts: ReconcileParts, base: BaseContext): Promise<Reconciled> {
  let soonest: Reconciled
  for (const plugin of parts.plugins) {
    const result = await plugin.absent?.(base, pluginRun(parts, {}))
    if (soonest === undefined || (result?.afterMs ?? Infinity) < (soonest.afterMs ?? Infinity)) soonest = result
  }
  return soonest
}

async function reconcilePresent(
  parts: ReconcileParts,
  run: Run,
  { base, object }: { base: BaseContext; object: KubeObject },
): Promise<Reconciled> {
  const { declaration, steps } = parts
  const finalized = await addFinalizers(object, steps, base)
  run.object = finalized
  if (!declaration.reconcile && declaration.verbs === undefined) return undefined
  return callWithStatus(parts, { base, object: finalized }, (context) =>
    declaration.reconcile?.(finalized as never, context),
  )
}

async function cleanUpObject(parts: ReconcileParts, object: KubeObject, base: BaseContext): Promise<Reconciled> {
  const { declaration, steps, clock } = parts
  if (!steps.some(({ finalizer }) => object.metadata.finalizers?.includes(finalizer))) return undefined
  const status = new StatusWriter<never>({ object, clock, hasStatus: declaration.for.subresources.status })
  const extensions = extend(parts, base, { object, status, isCleanup: true })
  const context = { ...withExtensions(base, extensions), status } as unknown as ReconcileContext
  const report = new CleanupReport({
    object,
    status,
    hasStatus: declaration.for.subresources.status,
    context,
    clock,
  })
  const call = async (step: CleanupStep, current: KubeObject): Promise<Reconciled> =>
    callStep(step, report, () => callTimed(() => step.cleanup(current as never, context), base))
  try {
    const { object: left, result } = await runCleanup(object, steps, {
      ...base,
      policy: declaration.cleanupPolicy ?? 'stop',
      call,
    })
    for (const extension of extensions) await extension.finish?.()
    if (left && status.isTouched) await writeStatus(status, { ...parts, ...base, object: left })
    return result
  } catch (error) {
    await saveStatus(parts, { base, object, status })
    throw error
  }
}

/** One step, with what is to be said about it. A `StopReconcile` is a step that needs more time. */
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

type Call = (context: ReconcileContext) => Promise<Reconciled> | Reconciled

/** Calls, then writes what was said about the status: also when it failed, as that is when people look. */
async function callWithStatus(
  parts: ReconcileParts,
  { base, object }: { base: BaseContext; object: KubeObject },
  call: Call,
): Promise<Reconciled> {
  const status = new StatusWriter<never>({
    object,
    clock: parts.clock,
    hasStatus: parts.declaration.for.subresources.status,
  })
  const extensions = extend(parts, base, { object, status })
  let result: Reconciled
  try {
    const context = { ...withExtensions(base, extensions), status } as unknown as ReconcileContext
    result = await callBetween(extensions, () => callTimed(() => call(context), base))
  } catch (error) {
    await saveStatus(parts, { base, object, status })
    throw error
  }
  try {
    if (status.isTouched && !base.signal.aborted) await writeStatus(status, { ...parts, ...base, object })
  } catch (error) {
    if (result?.afterMs !== undefined) warnIgnored(base.log, result.afterMs)
    throw error
  }
  return result
}

/** The call between the beginnings and the ends of the extensions; whoever cannot go on ends it there, with what it says. */
async function callBetween(
  extensions: readonly Extension<object>[],
  call: () => Promise<Reconciled> | Reconciled,
): Promise<Reconciled> {
  try {
    for (const extension of extensions) {
      const result = await extension.start?.()
      if (result !== undefined) return result
    }
    let result = await call()
    for (const extension of extensions) {
      const more = await extension.finish?.()
      result ??= more
    }
    return result
  } catch (error) {
    if (isStopReconcile(error)) return error.result
    throw error
  }
}

/** The status of a run that failed, as far as it can be written; its own trouble is the lesser one. */
async function saveStatus(
  parts: ReconcileParts,
  { base, object, status }: { base: BaseContext; object: KubeObject; status: StatusWriter<never> },
): Promise<void> {
  if (!status.isTouched || base.signal.aborted) return
  try {
    await writeStatus(status, { ...parts, ...base, object })
  } catch (error) {
    base.log.debug('the status of a failed reconcile could not be written', { error })
  }
}

function warnIgnored(log: Logger, afterMs: number): void {
  log.warn('afterMs is ignored because the run failed: the back-off decides when it runs again', { afterMs })
}

interface RunSubject {
  readonly object?: KubeObject
  readonly status?: StatusWriter<never>
  readonly isCleanup?: boolean
}

function extend(parts: ReconcileParts, base: BaseContext, subject: RunSubject): readonly Extension<object>[] {
  return parts.plugins.map((plugin) => plugin.extend(base, pluginRun(parts, subject)))
}

function pluginRun(
  { name, declaration, cache, addSource }: ReconcileParts,
  { object, status, isCleanup = false }: RunSubject,
): PluginRun {
  return {
    controller: name,
    kind: declaration.for,
    declaration,
    cache,
    addSource,
    object,
    status: status as StatusWriter | undefined,
    isCleanup,
  }
}

/** @throws {RangeError} when a plug-in takes a name that is in use. */
function withExtensions(base: BaseContext, extensions: readonly Extension<object>[]): BaseContext {
  if (extensions.length === 0) return base
  const context: Record<string, unknown> = { ...base }
  for (const extension of extensions) {
    for (const [name, value] of Object.entries(extension.context)) {
      if (name in context || name === 'status')
        throw new RangeError(`two parts of the context of ${formatKey(base.key)} are called ${name}`)
      context[name] = value
    }
  }
  return context as unknown as BaseContext
}

/*
 * A reconcile that computes instead of waiting holds up everything else in its process: this says which one it was.
 *
 * What is measured is the part up to its first `await`, which nothing can interrupt; what comes later cannot be told from
 * what others do in between, so there the manager's watchdog names everybody who was at work.
 */

/** Long enough to delay other people's work, and to be no accident of the garbage collector. */
const blockedMs = 1000

/** What the call gives; a warning when it did not give the others a turn for long. */
export function callTimed<R>(call: () => R, { clock, log }: { readonly clock: Clock; readonly log: Logger }): R {
  const startedMs = clock.monotonic()
  try {
    return call()
  } finally {
    const ms = clock.monotonic() - startedMs
    if (ms >= blockedMs)
      log.warn(
        'a reconcile blocked this process, nothing else went on: do it in a worker thread, or in pieces with an await in between',
        { ms: Math.round(ms) },
      )
  }
}
