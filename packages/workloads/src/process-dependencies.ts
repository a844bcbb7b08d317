/**
 * What a Process, a Task or a ProcessSet waits for: objects that have started, are ready or have completed.
 *
 * Each sort of reference is a verb of its own, because readiness and `optional` are properties of a verb. The verbs watch, find
 * cycles and report `DependenciesReady`; whether a process starts, goes on or stops is decided in `lifecycle.ts`.
 *
 * A further kind is a row of {@link dependencyKinds}, and its name in the enum of `dependsOn` in process-kind.ts.
 */
import { dependsOn, isConditionTrue, type Kind, type KubeObject, type ObjectOf, type Stored } from 'evenkeel'
import type { Situation } from './lifecycle.ts'
import { Container } from './containers/container-kind.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { Service } from './services/service-kind.ts'
import { workloadKey, type ShutdownOrder } from './shutdown-order.ts'
import { Task } from './tasks/task-kind.ts'

const untils = ['Started', 'Ready', 'Completed'] as const

interface Rules<T> {
  /** Whether an object has got as far as a reference asks for. */
  readonly reached: Readonly<Record<(typeof untils)[number], (object: T) => boolean>>
  /** Whether it cannot get there by itself any more. */
  hasFailed(object: T): boolean
}

interface DependencyKind extends Rules<never> {
  readonly kind: Kind
}

function rulesOf<K extends Kind>(kind: K, rules: Rules<Stored<ObjectOf<K>>>): DependencyKind {
  return { kind, ...(rules as Rules<never>) }
}

const dependencyKinds: readonly DependencyKind[] = [
  rulesOf(Process, {
    reached: {
      Started: ({ status }) => isConditionTrue(status?.conditions, 'Started'),
      Ready: ({ status, metadata }) =>
        isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation,
      Completed: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
    },
    hasFailed: ({ status }) => status?.phase === 'Failed',
  }),
  rulesOf(Task, {
    reached: {
      Started: ({ status }) => status?.execution?.startedAt !== undefined,
      // Of a Task there is nothing to use before it has completed.
      Ready: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
      Completed: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
    },
    hasFailed: ({ status }) => isConditionTrue(status?.conditions, 'Failed'),
  }),
  rulesOf(ProcessSet, {
    reached: {
      Started: ({ status }) => (status?.replicas ?? 0) > 0,
      Ready: ({ spec, status, metadata }) =>
        status?.observedGeneration === metadata.generation && (status.readyReplicas ?? 0) >= (spec.replicas ?? 1),
      Completed: () => false,
    },
    hasFailed: () => false,
  }),
  rulesOf(Service, {
    reached: {
      Started: ({ status }) => status?.address !== undefined,
      Ready: ({ status }) => isConditionTrue(status?.conditions, 'Ready'),
      Completed: () => false,
    },
    hasFailed: () => false,
  }),
  rulesOf(Container, {
    reached: {
      Started: ({ status }) => isConditionTrue(status?.conditions, 'Started'),
      Ready: ({ status, metadata }) =>
        isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation,
      Completed: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
    },
    hasFailed: ({ status }) => status?.phase === 'Failed',
  }),
]

const rowOf = ({ kind }: Pick<KubeObject, 'kind'>): DependencyKind | undefined =>
  dependencyKinds.find((row) => row.kind.kind === kind)

type References = NonNullable<ProcessObject['spec']['dependsOn']>

/** One verb for each sort of reference, because readiness and `optional` are properties of a verb. */
export function dependencyVerbs<T extends KubeObject>(referencesOf: (object: T) => References | undefined) {
  return untils.flatMap((until) =>
    [false, true].map((optional) =>
      dependsOn(
        dependencyKinds.map(({ kind }) => kind),
        (object: T) =>
          (referencesOf(object) ?? [])
            .filter((one) => (one.until ?? 'Ready') === until && (one.optional ?? false) === optional)
            .map(({ kind = 'Process', name }) => ({ kind, name })),
        { ready: (object) => rowOf(object)?.reached[until](object as never) ?? false, optional },
      ),
    ),
  )
}

interface MissingOptions {
  readonly verbs: ReturnType<typeof dependencyVerbs>
  readonly context: { readonly signal: AbortSignal }
}

/** The dependencies that keep an object from starting. */
export async function missingOf(
  references: References | undefined,
  { verbs, context }: MissingOptions,
): Promise<Situation['dependencies']> {
  const problems: { readonly key: string; readonly reason: string; readonly message: string }[] = []
  for (const verb of verbs.filter(({ optional }) => !optional)) {
    for (const { object, reference, isReady, reason = 'NotReady', message } of await verb.find(context)) {
      if (isReady) continue
      const key = `${reference.kind} ${reference.name}`
      const hasFailed = object !== undefined && rowOf(object)?.hasFailed(object as never) === true
      problems.push(
        hasFailed
          ? { key, reason: 'FailedDependency', message: `${key} has failed` }
          : { key, reason, message: `waits for ${key}: ${message || 'it is not ready'}` },
      )
    }
  }
  const first = problems.find(({ reason }) => reason === 'FailedDependency') ?? problems[0]
  const stops = new Set(
    references?.flatMap(({ kind = 'Process', name, whenLost }) => (whenLost === 'Stop' ? [`${kind} ${name}`] : [])),
  )
  return {
    missing: first && { reason: first.reason, message: problems.map(({ message }) => message).join('; ') },
    isLost: problems.some(({ key }) => stops.has(key)),
  }
}

/** What runs and is stopped: the parts of it that decide about the order. */
interface Stoppable extends Pick<ProcessObject, 'metadata'> {
  /** Also of a dependency that names none. */
  readonly kind: 'Process' | 'Container'
  readonly spec: Pick<ProcessObject['spec'], 'dependsOn' | 'env' | 'stop'>
}

export function declareOrder({ metadata, spec }: ProcessObject, order: ShutdownOrder): void {
  declareOrderOf({ kind: 'Process', metadata, spec }, order)
}

/** Tells the shutdown how a program wants to be stopped, and before which others. */
export function declareOrderOf({ kind: own, metadata, spec }: Stoppable, order: ShutdownOrder): void {
  const { namespace = 'default', ownerReferences = [] } = metadata
  const { signal, gracePeriodSeconds } = spec.stop ?? {}
  order.declare(
    { uid: metadata.uid, key: workloadKey(own, { namespace, name: metadata.name }) },
    {
      providers: providersOf(spec).map(({ kind = own, name }) => workloadKey(kind, { namespace, name })),
      parts: ownerReferences.map(({ kind, name }) => workloadKey(kind, { namespace, name })),
      ...(signal && { signal }),
      ...(gracePeriodSeconds !== undefined && { graceMs: gracePeriodSeconds * 1000 }),
    },
  )
}

/** What a program depends on: what it waits for, and the services whose addresses it has. */
function providersOf({ dependsOn: references = [], env = [] }: Stoppable['spec']): References {
  const services = env.flatMap(({ valueFrom }) => (valueFrom?.service ? [valueFrom.service.name] : []))
  return [...references, ...services.map((name) => ({ kind: 'Service', name }) as const)] as References
}
