/**
 * What a Container waits for: other workloads (`spec.dependsOn`), its networks and its volumes.
 *
 * The verbs watch, find cycles and report `DependenciesReady`; what follows from them is decided in `lifecycle.ts`. Another kind of
 * workload is one more line in `kinds`, and one more word in the schema.
 */
import { dependsOn, isConditionTrue, type Condition } from 'evenkeel'
import type { Situation } from '../lifecycle.ts'
import { ContainerNetwork, ContainerVolume, type ContainerObject } from './container-kind.ts'

const group = 'workloads.evenkeel.dev'
/** The kinds that `spec.dependsOn` can name. Each is watched while an object refers to one. */
const kinds = [
  { group, kind: 'Process' },
  { group, kind: 'Container' },
] as const
const untils = ['Started', 'Ready', 'Completed'] as const

interface Workload {
  readonly metadata: { readonly generation?: number }
  readonly status?: {
    readonly phase?: string
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[]
  }
}

const isReached: Readonly<Record<(typeof untils)[number], (object: Workload) => boolean>> = {
  Started: ({ status }) => isConditionTrue(status?.conditions, 'Started'),
  Ready: ({ status, metadata }) =>
    isConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation,
  Completed: ({ status }) => isConditionTrue(status?.conditions, 'Completed'),
}

/** One verb for each sort of reference, because readiness and `optional` are properties of a verb. */
function workloadVerbs() {
  return untils.flatMap((until) =>
    [false, true].map((optional) =>
      dependsOn(
        kinds,
        ({ spec }: ContainerObject) =>
          (spec.dependsOn ?? [])
            .filter((one) => (one.until ?? 'Ready') === until && (one.optional ?? false) === optional)
            .map(({ kind = 'Container', name }) => ({ group, kind, name })),
        { ready: isReached[until] as never, optional },
      ),
    ),
  )
}

export class ContainerDependencies {
  readonly #workloads = workloadVerbs()
  readonly #networks = dependsOn(ContainerNetwork, ({ spec }: ContainerObject) =>
    (spec.networks ?? []).map(({ name }) => name),
  )
  readonly #volumes = dependsOn(ContainerVolume, ({ spec }: ContainerObject) => [
    ...new Set((spec.volumeMounts ?? []).flatMap(({ volume }) => volume ?? [])),
  ])

  get verbs() {
    return [...this.#workloads, this.#networks, this.#volumes]
  }

  /** By the name of the object: its name in the runtime. */
  async names(context: { readonly signal: AbortSignal }) {
    const networks = await this.#networks.find(context)
    const volumes = await this.#volumes.find(context)
    return {
      networks: new Map(
        networks.flatMap(({ object }) =>
          object?.status?.networkName === undefined ? [] : [[object.metadata.name ?? '', object.status.networkName]],
        ),
      ),
      volumes: new Map(
        volumes.flatMap(({ object }) =>
          object?.status?.volumeName === undefined ? [] : [[object.metadata.name ?? '', object.status.volumeName]],
        ),
      ),
    }
  }

  /** What keeps a container from starting. A network or a volume never ends one that runs. */
  async missing(
    { spec }: ContainerObject,
    context: { readonly signal: AbortSignal },
  ): Promise<Situation['dependencies']> {
    const problems: { readonly name: string; readonly reason: string; readonly message: string }[] = []
    for (const verb of this.verbs.filter(({ optional }) => !optional))
      for (const { object, reference, isReady, reason = 'NotReady', message } of await verb.find(context)) {
        if (isReady) continue
        const name = typeof reference === 'string' ? reference : reference.name
        const hasFailed = (object as Workload | undefined)?.status?.phase === 'Failed'
        problems.push(
          hasFailed
            ? { name, reason: 'FailedDependency', message: `${name} has failed` }
            : { name, reason, message: `waits for ${name}: ${message || 'it is not ready'}` },
        )
      }
    const [first] = problems
    const stops = new Set(spec.dependsOn?.flatMap(({ name, whenLost }) => (whenLost === 'Stop' ? [name] : [])))
    return {
      missing: first && { reason: first.reason, message: problems.map(({ message }) => message).join('; ') },
      isLost: problems.some(({ name }) => stops.has(name)),
    }
  }
}
