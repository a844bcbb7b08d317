/**
 * An action of the form `operation`: an object of its own for each request, with its result, kept for a while.
 *
 * The reconcile of the object it is about does the work. An operation that was under way when the process died is under
 * way still, and is taken up again: `perform` must bear that. What is thrown is its end, with the message in its status;
 * `StopReconcile` is not: it goes on when the next reconcile does.
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
import { isStopReconcile, PerRun, watching, type BaseContext, type PluginRun, type Verb } from '#controller'

/** Of the sheet: policy, ttlSeconds, historyMax. */
export type OperationOptions = Pick<ActionDefinition, 'policy' | 'ttlSeconds' | 'historyMax'>

export interface OperationRun<Input> {
  readonly operation: OperationObject
  readonly input: Input | undefined
  /** Whether somebody has asked it to stop. */
  isCancelled(): boolean
}

export interface OperationAction<Input, Output> extends Verb {
  readonly action: ActionDefinition
  /** Does what is asked for, one operation after the other; says how many ended. */
  handle(
    context: Pick<BaseContext, 'signal'>,
    perform: (run: OperationRun<Input>) => Promise<Output | void> | Output | void,
  ): Promise<number>
}

interface OperationHandling {
  readonly base: BaseContext
  readonly run: PluginRun
  /** When a finished one is to be taken away. */
  nextMs: number
}

export function operationVerb<Input, Output>(sheet: ActionDefinition): OperationAction<Input, Output> {
  const runs = new PerRun<OperationHandling>(`the action ${sheet.name}`)
  return {
    name: `action ${sheet.name}`,
    action: sheet,
    kinds: [Operation],
    adds: ({ for: kind }) => ({
      watches: [
        watching(Operation, {
          map: ({ metadata: { namespace }, spec: { action, target } }) =>
            action === sheet.name && target.kind === kind.kind && target.apiVersion.startsWith(`${kind.group}/`)
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
      const handling = runs.set(base, { base, run, nextMs: Infinity })
      return {
        context: {},
        finish: () =>
          Promise.resolve(handling.nextMs === Infinity ? undefined : { afterMs: Math.max(1, handling.nextMs) }),
      }
    },
    async handle(context, perform) {
      const handling = runs.get(context)
      const {
        run: { object, isCleanup },
      } = handling
      return object && !isCleanup
        ? handleAll(sheet, {
            ...handling,
            object,
            keep: (ms) => {
              handling.nextMs = Math.min(handling.nextMs, ms)
            },
            perform: perform as Perform,
          })
        : 0
    },
  }
}

type Perform = (run: OperationRun<unknown>) => Promise<unknown>

interface HandleParts extends OperationHandling {
  readonly object: KubeObject
  readonly keep: (ms: number) => void
  readonly perform: Perform
}

async function handleAll(sheet: ActionDefinition, parts: HandleParts): Promise<number> {
  const {
    base: { clock, client, signal },
    object,
  } = parts
  const mine = operationsOf(sheet.name, parts)
  const { cancelled, refused, expired, next, expiresInMs } = planOperations(mine, {
    policy: sheet.policy ?? 'Forbid',
    ttlSeconds: sheet.ttlSeconds ?? 86_400,
    historyMax: sheet.historyMax ?? 10,
    nowMs: clock.now(),
  })
  for (const operation of expired)
    await client.delete(operation, {
      signal,
      ignoreNotFound: true,
      preconditions: { uid: operation.metadata.uid ?? '' },
    })
  for (const operation of cancelled)
    await end(operation, parts, { phase: 'Cancelled', message: 'it was cancelled, or replaced by a later one' })
  for (const operation of refused)
    await end(operation, parts, {
      phase: 'Failed',
      message: `another ${sheet.name} of ${object.metadata.name ?? ''} goes on`,
    })
  parts.keep(expiresInMs)
  let ended = cancelled.length + refused.length
  for (const operation of next) if (await performOne(operation, parts)) ended++
  return ended
}

/** Those about this very object, oldest first. */
function operationsOf(action: string, { run: { cache, object } }: HandleParts): readonly OperationObject[] {
  const namespace = object?.metadata.namespace ?? 'default'
  return (cache.list(Operation, { namespace }) as readonly OperationObject[])
    .filter(({ spec }) => spec.action === action && spec.target.uid === object?.metadata.uid)
    .sort((a, b) => creationOrder(a).localeCompare(creationOrder(b)))
}

function creationOrder({ metadata: { creationTimestamp = '', name = '' } }: OperationObject): string {
  return `${String(creationTimestamp)} ${name}`
}

async function performOne(operation: OperationObject, parts: HandleParts): Promise<boolean> {
  const {
    base: { clock, client, signal },
    run: { cache },
    perform,
  } = parts
  const { name = '', namespace = '' } = operation.metadata
  const begun =
    operation.status?.phase === 'Running'
      ? operation
      : ((await client.patchStatus(operation, { phase: 'Running', startTime: formatTime(clock.now()) } as never, {
          signal,
        })) as OperationObject)
  const isCancelled = (): boolean =>
    (cache.find(Operation, { name, namespace }) as OperationObject | undefined)?.spec.cancel === true
  try {
    const result = await perform({ operation: begun, input: operation.spec.input, isCancelled })
    await end(
      begun,
      parts,
      isCancelled()
        ? { phase: 'Cancelled', message: 'it was cancelled while it went on' }
        : { phase: 'Succeeded', ...(result !== undefined && { result: result as JsonValue }) },
    )
  } catch (error) {
    if (isStopReconcile(error) || signal.aborted) throw error
    await end(begun, parts, { phase: 'Failed', message: error instanceof Error ? error.message : String(error) })
  }
  return true
}

async function end(
  operation: OperationObject,
  { base: { clock, client, signal } }: HandleParts,
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
      } as never,
      { signal },
    )
  } catch (error) {
    // Somebody deleted it: nobody waits for its end.
    if (!isNotFound(error)) throw error
  }
}

/*
 * Which of an object's operations go on now, which are over before they began, and which are taken away.
 *
 *   Queue    one after the other, the oldest first
 *   Forbid   the oldest goes on; the others are refused
 *   Replace  the newest goes on; the others are cancelled
 *
 * A pure function of what is there, so it comes to the same end whenever it is asked.
 */

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
  /** In the order in which they are done. */
  readonly next: readonly OperationObject[]
  /** In how long one more has to be taken away; Infinity when none is left over. */
  readonly expiresInMs: number
}

/** `operations` come oldest first. */
function planOperations(
  operations: readonly OperationObject[],
  { policy, ttlSeconds, historyMax, nowMs }: PlanOptions,
): OperationPlan {
  const over = operations.filter(isOperationOver)
  const open = operations.filter((operation) => !isOperationOver(operation))
  // One that goes on hears of it where it goes on.
  const cancelled = open.filter(({ spec, status }) => spec.cancel === true && status?.phase !== 'Running')
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
