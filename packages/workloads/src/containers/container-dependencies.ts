/**
 * What a Container waits for: other workloads (`spec.dependsOn`), its networks and its volumes, and values of its variables.
 *
 * The kinds, and when one of them has got as far as a reference asks for, are those of a Process: see process-dependencies.ts. The
 * verbs watch, find cycles and report `DependenciesReady`; what follows from them is decided in `lifecycle.ts`.
 */
import { dependsOn } from 'evenkeel'
import { envValuesOf, referenceVerbs, type EnvValues } from '../env-references.ts'
import type { Situation } from '../lifecycle.ts'
import { dependencyVerbs, missingOf } from '../process-dependencies.ts'
import { ContainerNetwork, ContainerVolume, type ContainerObject } from './container-kind.ts'
import { machineNameFor } from './container-plan.ts'
import type { RuntimeVersion } from './container-runtime.ts'

interface Context {
  readonly signal: AbortSignal
}

export class ContainerDependencies {
  readonly #workloads = dependencyVerbs(({ spec }: ContainerObject) => spec.dependsOn)
  readonly #values = referenceVerbs<ContainerObject>()
  readonly #networks = dependsOn(ContainerNetwork, ({ spec }: ContainerObject) =>
    (spec.networks ?? []).map(({ name }) => name),
  )
  readonly #volumes = dependsOn(ContainerVolume, ({ spec }: ContainerObject) => [
    ...new Set((spec.volumeMounts ?? []).flatMap(({ volume }) => volume ?? [])),
  ])

  get verbs() {
    return [...this.#workloads, ...Object.values(this.#values), this.#networks, this.#volumes]
  }

  /** By the name of the object: its name in the runtime. */
  async names(context: Context) {
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

  /** The values of variables that are elsewhere, as a container of this runtime needs them. */
  values(object: ContainerObject, context: Context, { name }: Pick<RuntimeVersion, 'name'>): Promise<EnvValues> {
    return envValuesOf(object, { verbs: this.#values, context, machine: machineNameFor(name) })
  }

  /** What keeps a container from starting. A network or a volume never ends one that runs. */
  async missing({ spec }: ContainerObject, context: Context): Promise<Situation['dependencies']> {
    const { missing, isLost } = await missingOf(spec.dependsOn, { verbs: this.#workloads, context })
    const parts = [...(await this.#networks.find(context)), ...(await this.#volumes.find(context))]
    const problems = parts
      .filter(({ isReady }) => !isReady)
      .map(({ reference, reason = 'NotReady', message }) => ({
        reason,
        message: `waits for ${reference}: ${message || 'it is not ready'}`,
      }))
    const all = [...(missing ? [missing] : []), ...problems]
    const [first] = all
    return {
      missing: first && { reason: first.reason, message: all.map(({ message }) => message).join('; ') },
      isLost,
    }
  }
}
