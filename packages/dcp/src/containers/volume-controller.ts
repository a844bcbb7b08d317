/**
 * The controller of ContainerVolumes: a volume of the runtime for each object, with the name in its spec.
 *
 *   (none), RuntimeUnhealthy ──▶ there already, or made ──▶ Ready
 *
 * Invariants: a volume is removed with its object only when `persistent` is false and it was made for that object: one that was
 * there before, or belongs to another program, is used and left.
 */
import { isRuntimeError, type ContainerRuntime, type RunOwner } from '@evenkeel/workloads'
import type { ControllerDeclaration, ObjectOf, ReconcileResult, Stored } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { clusterScoped } from '../controllers/cluster-scoped.ts'
import { ContainerVolume } from '../kinds/container.ts'
import type { PartOptions } from './network-controller.ts'

type VolumeObject = Stored<ObjectOf<typeof ContainerVolume>>
type Context = Parameters<NonNullable<ControllerDeclaration<typeof ContainerVolume, ManagedContext>['reconcile']>>[1]

const removeRetryMs = 1000

export class VolumeController {
  readonly #options: PartOptions

  constructor(options: PartOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerVolume, ManagedContext> {
    return {
      for: ContainerVolume,
      sources: [clusterScoped('volumes', this.#options.feed)],
      reconcile: (volume, context) => this.#reconcile(volume, context),
      cleanup: (volume) => this.#cleanup(volume),
    }
  }

  async #reconcile(volume: VolumeObject, { status }: Context): Promise<ReconcileResult | undefined> {
    const { runner, containers, feed } = this.#options
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    await runner.session.open()
    const owner = ownerOf(volume)
    const live = await containers.monitor.acquire(owner, feed.push.bind(feed))
    const onGone = (problem: string): ReconcileResult => {
      if (volume.status?.state !== 'Ready') status.set({ state: 'RuntimeUnhealthy' })
      return { park: problem }
    }
    if ('problem' in live) return onGone(live.problem)
    try {
      const name = volume.spec?.name ?? ''
      const labels = containers.labelsFor(owner, volume.spec?.persistent === false ? 'session' : 'persistent')
      if (!(await live.runtime.findVolume(name)))
        await containers.make(() => live.runtime.createVolume({ name, labels }))
      status.set({ state: 'Ready' })
      return undefined
    } catch (error) {
      if (!containers.monitor.isGone(error)) throw error
      return onGone(error.message)
    }
  }

  async #cleanup(volume: VolumeObject): Promise<ReconcileResult | undefined> {
    const { runner, containers, feed } = this.#options
    await runner.session.open()
    const owner = ownerOf(volume)
    if (volume.spec?.persistent === false) {
      const live = await containers.monitor.acquire(owner, feed.push.bind(feed))
      const result = 'problem' in live ? waitsFor(volume, live.problem) : await this.#remove(live.runtime, volume)
      if (result) return result
    }
    containers.monitor.release(owner.uid)
    return undefined
  }

  async #remove(runtime: ContainerRuntime, volume: VolumeObject): Promise<ReconcileResult | undefined> {
    const { containers } = this.#options
    try {
      for (const { name } of await runtime.listVolumes(containers.labelOfObject(ownerOf(volume))))
        await runtime.removeVolume(name)
      return undefined
    } catch (error) {
      // A container that is about to go still uses it.
      if (isRuntimeError(error, 'Conflict')) return { afterMs: removeRetryMs }
      if (!containers.monitor.isGone(error)) throw error
      return waitsFor(volume, error.message)
    }
  }
}

/** One that was never there need not wait for a runtime that may never come. */
function waitsFor({ status }: VolumeObject, problem: string): ReconcileResult | undefined {
  return status?.state === 'Ready' ? { park: `the container runtime, to remove the volume: ${problem}` } : undefined
}

function ownerOf({ metadata: { uid, name } }: VolumeObject): RunOwner {
  return { uid, namespace: 'volumes', name }
}
