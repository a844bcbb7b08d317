/**
 * An action of the form `operation`: an object of its own for each request, with its result, kept for a while.
 *
 * The reconcile of the object it is about does the work. An operation that was under way when the process died is under
 * way still, and is taken up again: `perform` must bear that. What is thrown is its end, with the message in its status;
 * `StopReconcile` is not: it goes on when the next reconcile does.
 */
import { formatTime, isNotFound, Operation } from '#api'
import type { ActionDefinition, JsonValue, KubeObject, OperationObject, OperationPhase } from '#api'
import { isStopReconcile, PerRun, watching } from '#controller'
import type { BaseContext, PluginRun, Verb } from '#controller'
import { planOperations } from './plan-operations.ts'

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
