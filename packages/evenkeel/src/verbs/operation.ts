/**
 * Actions of the form `operation`: one Operation object for each request, with its result, kept for a while.
 *
 * The reconcile of the target does the work. An Operation that was Running when the process died is resumed, so `perform`
 * must be idempotent. An error ends the Operation as Failed, with its message in the status. `StopReconcile` does not end
 * it: the next reconcile resumes it.
 *
 * With a retry policy a transient error does not end it either: it stays Running, and its status has the number of
 * attempts, the last error and the time of the next attempt. All that is durable, so a restart changes nothing. An
 * Operation that waits holds back the others of its queue.
 *
 * Which Operations run is a pure function of those that exist (`planOperations`):
 *
 *   Queue    one after the other, oldest first
 *   Forbid   the oldest runs; the others fail
 *   Replace  the newest runs; the others are cancelled
 *
 * Example with the policy Forbid: [a Succeeded, b Running, c Pending, d Pending with cancel] gives
 * `next: [b]`, `refused: [c]`, `cancelled: [d]`, and `a` expires `ttlSeconds` after its completion.
 */
import {
  formatTime,
  isNotFound,
  isOperationOver,
  Operation,
  parseTime,
  type ActionDefinition,
  type JsonValue,
  type KubeObject,
  type OperationObject,
  type OperationPhase,
  type OperationPolicy,
} from '#api'
import {
  isStopReconcile,
  PerRun,
  watching,
  type BaseContext,
  type PluginRun,
  type Reconciled,
  type Verb,
} from '#controller'
import { retryDelayMs, type RetryOptions } from './retry.ts'

/** Options that only this form has. */
export interface OperationOptions extends Pick<ActionDefinition, 'policy' | 'ttlSeconds' | 'historyMax'> {
  /** Repeat an operation that failed for a transient reason. @default no: the first error ends it */
  readonly retry?: RetryOptions
}

interface OperationRun<Input> {
  readonly operation: OperationObject
  readonly input: Input | undefined
  /** Whether its cancellation was requested. */
  isCancelled(): boolean
}

export interface OperationAction<Input, Output> extends Verb {
  readonly action: ActionDefinition
  /** Performs the pending Operations one after the other. @returns how many ended */
  handle(
    context: Pick<BaseContext, 'signal'>,
    perform: (run: OperationRun<Input>) => Promise<Output | void> | Output | void,
  ): Promise<number>
}

interface OperationHandling {
  readonly base: BaseContext
  readonly run: PluginRun
  /** When a finished Operation expires, or the next attempt begins. */
  againInMs: number
}

export function operationVerb<Input, Output>(
  definition: ActionDefinition,
  { retry }: Pick<OperationOptions, 'retry'> = {},
): OperationAction<Input, Output> {
  const runs = new PerRun<OperationHandling>(`action ${definition.name}`)
  return {
    name: `action ${definition.name}`,
    action: definition,
    kinds: [Operation],
    adds: ({ for: kind }) => ({
      watches: [
        watching(Operation, {
          map: ({ metadata: { namespace }, spec: { action, target } }) =>
            action === definition.name && target.kind === kind.kind && target.apiVersion.startsWith(`${kind.group}/`)
              ? [{ name: target.name, ...(kind.scope === 'Namespaced' && namespace !== undefined && { namespace }) }]
              : [],
        }),
      ],
      rbac: [
        { apiGroups: [Operation.group], resources: [Operation.plural], verbs: ['delete'] },
        { apiGroups: [Operation.group], resources: [`${Operation.plural}/status`], verbs: ['patch'] },
      ],
    }),
    extend(base, run) {
      const handling = runs.set(base, { base, run, againInMs: Infinity })
      const again = (): Promise<Reconciled> =>
        Promise.resolve(handling.againInMs === Infinity ? undefined : { afterMs: Math.max(1, handling.againInMs) })
      return { context: {}, finish: again, stopped: again }
    },
    async handle(context, perform) {
      const handling = runs.get(context)
      const {
        run: { object, isCleanup },
      } = handling
      return object && !isCleanup
        ? await handleAll(definition, {
            ...handling,
            object,
            retry,
            runAgain: (ms) => {
              handling.againInMs = Math.min(handling.againInMs, ms)
            },
            perform: perform as Perform,
          })
        : 0
    },
  }
}

type Perform = (run: OperationRun<unknown>) => Promise<unknown>

interface HandlingContext extends OperationHandling {
  readonly object: KubeObject
  readonly retry: RetryOptions | undefined
  readonly runAgain: (afterMs: number) => void
  readonly perform: Perform
}

async function handleAll(definition: ActionDefinition, context: HandlingContext): Promise<number> {
  const {
    base: { clock, client, signal },
    object,
  } = context
  const mine = operationsOf(definition.name, context)
  const { cancelled, refused, expired, next, expiresInMs } = planOperations(mine, {
    policy: definition.policy ?? 'Forbid',
    ttlSeconds: definition.ttlSeconds ?? 86_400,
    historyMax: definition.historyMax ?? 10,
    nowMs: clock.now(),
  })
  for (const operation of expired)
    await client.delete(operation, {
      signal,
      ignoreNotFound: true,
      preconditions: { uid: operation.metadata.uid ?? '' },
    })
  for (const operation of cancelled)
    await end(operation, context, { phase: 'Cancelled', message: 'cancelled, or replaced by a later operation' })
  for (const operation of refused)
    await end(operation, context, {
      phase: 'Failed',
      message: `another ${definition.name} of ${object.metadata.name ?? ''} is running; try again when it has ended`,
    })
  context.runAgain(expiresInMs)
  let ended = cancelled.length + refused.length
  for (const operation of next) {
    if (!(await performOne(operation, context))) break
    ended++
  }
  return ended
}

/** The Operations of this object (by UID), oldest first. */
function operationsOf(action: string, { run: { cache, object } }: HandlingContext): readonly OperationObject[] {
  const namespace = object?.metadata.namespace ?? 'default'
  return (cache.list(Operation, { namespace }) as readonly OperationObject[])
    .filter(({ spec }) => spec.action === action && spec.target.uid === object?.metadata.uid)
    .sort((a, b) => creationOrder(a).localeCompare(creationOrder(b)))
}

function creationOrder({ metadata: { creationTimestamp = '', name = '' } }: OperationObject): string {
  return `${String(creationTimestamp)} ${name}`
}

/** @returns whether it has ended; otherwise it waits for its next attempt */
async function performOne(operation: OperationObject, context: HandlingContext): Promise<boolean> {
  const {
    base: { clock, client, signal },
    run: { cache },
    perform,
  } = context
  const { name = '', namespace = '' } = operation.metadata
  const waitMs = waitMsOf(operation, clock.now())
  if (waitMs > 0) {
    context.runAgain(waitMs)
    return false
  }
  const running =
    operation.status?.phase === 'Running'
      ? operation
      : ((await client.patchStatus(operation, { phase: 'Running', startTime: formatTime(clock.now()) } as never, {
          signal,
        })) as OperationObject)
  const isCancelled = (): boolean =>
    (cache.find(Operation, { name, namespace }) as OperationObject | undefined)?.spec.cancel === true
  try {
    const result = await perform({ operation: running, input: operation.spec.input, isCancelled })
    await end(
      running,
      context,
      isCancelled()
        ? { phase: 'Cancelled', message: 'cancelled while running' }
        : { phase: 'Succeeded', ...(result !== undefined && { result: result as JsonValue }) },
    )
  } catch (error) {
    if (isStopReconcile(error) || signal.aborted) throw error
    if (isCancelled() && context.retry) {
      await end(running, context, { phase: 'Cancelled', message: `cancelled after it failed: ${messageOf(error)}` })
      return true
    }
    return await fail(running, context, error)
  }
  return true
}

/** Ends a failed Operation, or schedules its next attempt. @returns whether it has ended */
async function fail(operation: OperationObject, context: HandlingContext, error: unknown): Promise<boolean> {
  const {
    base: { clock, client, signal },
    retry,
  } = context
  const attempts = (operation.status?.attempts ?? 0) + 1
  const message = messageOf(error)
  const delayMs = retry && retryDelayMs(retry, attempts, error)
  if (delayMs === undefined) {
    const count = attempts > 1 ? ` (attempt ${attempts} of ${retry?.attempts ?? attempts})` : ''
    await end(operation, context, { phase: 'Failed', message: `${message}${count}` })
    return true
  }
  // Times in a status have seconds: rounded up, so that no attempt begins too early.
  const nextMs = Math.ceil((clock.now() + delayMs) / 1000) * 1000
  const status = { attempts, lastError: message.slice(0, 4096), nextAttemptTime: formatTime(nextMs) }
  try {
    const stored = (await client.patchStatus(operation, status as never, { signal })) as OperationObject
    if (stored.status?.attempts !== attempts) {
      const hint =
        'it cannot be retried: the CustomResourceDefinition of Operation is outdated, install the current one'
      await end(operation, context, { phase: 'Failed', message: `${message}; ${hint}` })
      return true
    }
  } catch (failure) {
    if (isNotFound(failure)) return true
    throw failure
  }
  context.runAgain(nextMs - clock.now())
  return false
}

/** How long an Operation waits for its next attempt; 0 or less: not at all. */
function waitMsOf({ status }: OperationObject, nowMs: number): number {
  return (parseTime(status?.nextAttemptTime ?? '') ?? -Infinity) - nowMs
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function end(
  operation: OperationObject,
  { base: { clock, client, signal }, retry }: HandlingContext,
  { phase, message = '', result }: { phase: OperationPhase; message?: string; result?: JsonValue },
): Promise<void> {
  try {
    await client.patchStatus(
      operation,
      {
        phase,
        completionTime: formatTime(clock.now()),
        message: message.slice(0, 4096),
        ...(result !== undefined && { result }),
        ...(retry && phase !== 'Cancelled' && { attempts: (operation.status?.attempts ?? 0) + 1 }),
        ...(operation.status?.nextAttemptTime !== undefined && { nextAttemptTime: null }),
      } as never,
      { signal },
    )
  } catch (error) {
    // It was deleted in the meantime: there is no status left to write.
    if (!isNotFound(error)) throw error
  }
}

interface PlanOptions {
  readonly policy: OperationPolicy
  readonly ttlSeconds: number
  readonly historyMax: number
  readonly nowMs: number
}

interface OperationPlan {
  readonly cancelled: readonly OperationObject[]
  readonly refused: readonly OperationObject[]
  readonly expired: readonly OperationObject[]
  /** In the order in which they run. */
  readonly next: readonly OperationObject[]
  /** Time until the next finished Operation expires; Infinity if there is none. */
  readonly expiresInMs: number
}

/** `operations` come oldest first. */
function planOperations(
  operations: readonly OperationObject[],
  { policy, ttlSeconds, historyMax, nowMs }: PlanOptions,
): OperationPlan {
  const over = operations.filter(isOperationOver)
  const open = operations.filter((operation) => !isOperationOver(operation))
  // A running Operation learns of its cancellation by `isCancelled`; one that waits for its next attempt does not run.
  const cancelled = open.filter(
    (operation) =>
      operation.spec.cancel === true && (operation.status?.phase !== 'Running' || waitMsOf(operation, nowMs) > 0),
  )
  const alive = open.filter((operation) => !cancelled.includes(operation))
  const leftMs = (operation: OperationObject): number =>
    (parseTime(operation.status?.completionTime ?? '') ?? Infinity) +
    (operation.spec.ttlSeconds ?? ttlSeconds) * 1000 -
    nowMs
  const tooMany = new Set(over.slice(0, Math.max(0, over.length - historyMax)))
  const expired = over.filter((operation) => tooMany.has(operation) || leftMs(operation) <= 0)
  const expiresInMs = Math.min(Infinity, ...over.filter((operation) => !expired.includes(operation)).map(leftMs))
  const running = alive.filter(({ status }) => status?.phase === 'Running')
  const first = running[0] ?? alive[0]
  if (policy === 'Queue' || first === undefined)
    return {
      cancelled,
      refused: [],
      expired,
      next: first ? [first, ...alive.filter((operation) => operation !== first)] : [],
      expiresInMs,
    }
  if (policy === 'Forbid')
    return { cancelled, refused: alive.filter((operation) => operation !== first), expired, next: [first], expiresInMs }
  const last = alive.at(-1) ?? first
  return {
    cancelled: [...cancelled, ...alive.filter((operation) => operation !== last)],
    refused: [],
    expired,
    next: [last],
    expiresInMs,
  }
}
