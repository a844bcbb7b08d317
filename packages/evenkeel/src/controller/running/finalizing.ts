/**
 * Finalizers: put on before the first reconcile, taken off when the cleanup is done.
 *
 * Invariants: no finalizer is put on an object that is being deleted; none is taken off before its cleanup has resolved
 * without asking for more time; steps go in the order of the declaration.
 */
import { addFinalizer, hasFinalizer } from '#api'
import type { Kind, KubeObject } from '#api'
import type { ReconcileClient } from '../context/reconcile-client.ts'
import type { CleanupStep, ControllerDeclaration, Reconciled } from '../declaration.ts'

/** The steps of a declaration's cleanup; none when it has no cleanup. */
export function cleanupSteps(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[] {
  const { cleanup, finalizer = finalizerFor(declaration, controller) } = declaration
  if (cleanup === undefined) return []
  // Called on its declaration, as every other function of it.
  return typeof cleanup === 'function'
    ? [{ finalizer, cleanup: (object, context) => cleanup.call(declaration as CleanupStep, object, context) }]
    : cleanup
}

/** The finalizer of a controller whose author gave none. */
export function finalizerFor({ for: { group } }: Pick<ControllerDeclaration, 'for'>, controller: string): string {
  return `${group || 'evenkeel.dev'}/${controller}`
}

/** The object with all finalizers; one that has them is not written. @throws {ApiError} `Conflict`, when it changed. */
export async function addFinalizers<T extends KubeObject>(
  object: T,
  steps: readonly CleanupStep[],
  { client, signal }: { client: ReconcileClient; signal: AbortSignal },
): Promise<T> {
  let wanted: T = object
  for (const { finalizer, onDemand = false } of steps)
    if (!onDemand && !hasFinalizer(wanted, finalizer)) wanted = addFinalizer(wanted, finalizer)
  return wanted === object ? object : await client.patchFrom(object, wanted, { signal })
}

interface RunCleanupOptions {
  readonly client: ReconcileClient
  readonly signal: AbortSignal
  readonly policy: 'stop' | 'continue'
  readonly call: (step: CleanupStep, object: KubeObject) => Promise<Reconciled>
}

/** What is left of the object, if anything, and the last word of a step that needs more time. */
interface CleanupResult {
  readonly object: KubeObject | undefined
  readonly result: Reconciled
}

/** Cleans up step by step, as far as finalizers of ours are on the object. */
export async function runCleanup(
  object: KubeObject,
  steps: readonly CleanupStep[],
  { client, signal, policy, call }: RunCleanupOptions,
): Promise<CleanupResult> {
  const failures: unknown[] = []
  let current: KubeObject | undefined = object
  let waiting: Reconciled
  for (const step of steps) {
    if (!current || !hasFinalizer(current, step.finalizer)) continue
    try {
      const result = await call(step, current)
      if (isWaiting(result)) waiting ??= result
      else current = await client.removeFinalizer(current, step.finalizer, { signal })
      if (isWaiting(result) && policy === 'stop') break
    } catch (error) {
      if (policy === 'stop') throw error
      failures.push(error)
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} steps of the cleanup failed`)
  if (failures.length === 1) throw failures[0]
  return { object: current, result: waiting }
}

/** Whether a step asks for more time. */
export function isWaiting(result: Reconciled): boolean {
  return (result?.afterMs ?? 0) > 0 || result?.park !== undefined
}

/** @throws {RangeError} when two steps share a finalizer, or a name is none. */
export function checkSteps(steps: readonly CleanupStep[], { kind }: Kind): void {
  const names = steps.map(({ finalizer }) => finalizer)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double !== undefined)
    throw new RangeError(`two steps of the cleanup of ${kind} have the finalizer ${double}: give each its own`)
  const bare = names.find((name) => !name.includes('/'))
  if (bare !== undefined)
    throw new RangeError(
      `the finalizer ${JSON.stringify(bare)} of ${kind} needs a domain: ${JSON.stringify(`demo.example.com/${bare || 'cleanup'}`)}`,
    )
}
