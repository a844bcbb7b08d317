/**
 * What a Process waits for: other Processes that have started, are ready or have completed.
 *
 * Each sort of reference is a verb of its own, because readiness and `optional` are properties of a verb. The verbs watch, find
 * cycles and report `DependenciesReady`; whether a process starts, goes on or stops is decided in `lifecycle.ts`.
 */
import { dependsOn, isConditionTrue } from 'evenkeel'
import type { Situation } from './lifecycle.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import { workloadKey, type ShutdownOrder } from './shutdown-order.ts'

const untils = ['Started', 'Ready', 'Completed'] as const

/** Whether another process has got as far as a reference asks for. */
const isReached: Readonly<Record<(typeof untils)[number], (object: ProcessObject) => boolean>> = {
  Started: ({ status }) => isConditionTrue(status?.conditions, 'Started'),
  Ready: ({ status, metadata }) =>
    isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation,
  Completed: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
}

/** One verb for each sort of reference, because readiness and `optional` are properties of a verb. */
export function dependencyVerbs() {
  return untils.flatMap((until) =>
    [false, true].map((optional) =>
      dependsOn(
        Process,
        ({ spec }: ProcessObject) =>
          (spec.dependsOn ?? [])
            .filter((one) => (one.until ?? 'Ready') === until && (one.optional ?? false) === optional)
            .map(({ name }) => name),
        { ready: isReached[until] as never, optional },
      ),
    ),
  )
}

interface MissingOptions {
  readonly verbs: ReturnType<typeof dependencyVerbs>
  readonly context: { readonly signal: AbortSignal }
}

/** The dependencies that keep a process from starting. */
export async function missingOf(
  { spec }: ProcessObject,
  { verbs, context }: MissingOptions,
): Promise<Situation['dependencies']> {
  const problems: { readonly name: string; readonly reason: string; readonly message: string }[] = []
  for (const verb of verbs.filter(({ optional }) => !optional)) {
    for (const { object, reference, isReady, reason = 'NotReady', message } of await verb.find(context)) {
      if (isReady) continue
      const name = typeof reference === 'string' ? reference : reference.name
      const hasFailed = (object as ProcessObject | undefined)?.status?.phase === 'Failed'
      problems.push(
        hasFailed
          ? { name, reason: 'FailedDependency', message: `Process ${name} has failed` }
          : { name, reason, message: `waits for Process ${name}: ${message || 'it is not ready'}` },
      )
    }
  }
  const [first] = problems
  const stops = new Set(spec.dependsOn?.flatMap(({ name, whenLost }) => (whenLost === 'Stop' ? [name] : [])))
  return {
    missing: first && { reason: first.reason, message: problems.map(({ message }) => message).join('; ') },
    isLost: problems.some(({ name }) => stops.has(name)),
  }
}

/** Tells the shutdown how a process wants to be stopped, and before which others. */
export function declareOrder({ metadata, spec }: ProcessObject, order: ShutdownOrder): void {
  const { namespace = 'default', ownerReferences = [] } = metadata
  const { signal, gracePeriodSeconds } = spec.stop ?? {}
  order.declare(
    { uid: metadata.uid, key: workloadKey('Process', { namespace, name: metadata.name }) },
    {
      providers: (spec.dependsOn ?? []).map(({ kind = 'Process', name }) => workloadKey(kind, { namespace, name })),
      parts: ownerReferences.map(({ kind, name }) => workloadKey(kind, { namespace, name })),
      ...(signal && { signal }),
      ...(gracePeriodSeconds !== undefined && { graceMs: gracePeriodSeconds * 1000 }),
    },
  )
}
