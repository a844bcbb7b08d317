/**
 * The controller of ContainerVolumes: a volume of the runtime for each object.
 *
 * A volume holds data, so it stays: `persistent` is true unless the spec says otherwise, and an object that is made again finds the
 * volume of the one before by its name. Ownership is therefore the label with namespace and name, not the uid.
 *
 * Invariants: a volume without our label is used and never removed; one of ours is removed only when `persistent` is false.
 */
import type { ControllerDeclaration, ReconcileResult } from 'evenkeel'
import { channelSource, type ManagedContext } from 'evenkeel/controller'
import { ChangeFeed } from '../change-feed.ts'
import type { RunOwner } from '../runs.ts'
import { ContainerVolume, type ContainerVolumeObject } from './container-kind.ts'
import { labelOf, ownerLabels } from './container-labels.ts'
import { isRuntimeError, type ContainerRuntime, type VolumeFacts } from './container-runtime.ts'
import { ownerOf, type AttachmentControllerOptions } from './network-controller.ts'

type Context = Parameters<NonNullable<ControllerDeclaration<typeof ContainerVolume, ManagedContext>['reconcile']>>[1]

const removeRetryMs = 1000

export class VolumeController {
  readonly #options: AttachmentControllerOptions
  readonly #feed = new ChangeFeed()

  constructor(options: AttachmentControllerOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerVolume, ManagedContext> {
    return {
      for: ContainerVolume,
      sources: [channelSource({ name: 'container-volumes', events: ({ signal }) => this.#feed.events(signal) })],
      reconcile: (object, context) => this.#reconcile(object, context),
      cleanup: (object) => this.#cleanup(object),
    }
  }

  async #reconcile(object: ContainerVolumeObject, { status }: Context): Promise<ReconcileResult | undefined> {
    const { session } = this.#options
    if (session.isClosing) return { park: 'the program is stopping' }
    await session.open()
    const owner = ownerOf(object.metadata)
    const live = await this.#options.monitor.acquire(owner, this.#feed.push.bind(this.#feed))
    const onGone = (problem: string): ReconcileResult => {
      status.condition('Ready', false, { reason: 'RuntimeUnavailable', message: problem })
      return { park: 'the container runtime' }
    }
    if ('problem' in live) return onGone(live.problem)
    try {
      const found = await this.#ensure(live.runtime, { object, owner })
      const owned = isOurs(found, owner)
      status.set({ volumeName: found.name, driver: found.driver, owned })
      status.condition('Ready', true, { reason: owned ? 'Ready' : 'Existing' })
      return undefined
    } catch (error) {
      if (!this.#options.monitor.isGone(error)) throw error
      return onGone(error.message)
    }
  }

  async #ensure(
    runtime: ContainerRuntime,
    { object, owner }: { readonly object: ContainerVolumeObject; readonly owner: RunOwner },
  ): Promise<VolumeFacts> {
    const { persistent = true, labels = {} } = object.spec
    const name = volumeNameOf(object)
    const found = await runtime.findVolume(name)
    if (found) return found
    await this.#options.beforeCreate()
    const lifetime = persistent ? 'persistent' : 'session'
    const ours = ownerLabels(owner, { session: this.#options.session.name, lifetime })
    try {
      await runtime.createVolume({ name, labels: { ...labels, ...ours } })
    } catch (error) {
      // Made by another program, or by a call whose answer was lost: its labels tell.
      if (!isRuntimeError(error, 'Conflict')) throw error
    }
    const made = await runtime.findVolume(name)
    if (!made) throw new Error(`the volume ${name} was removed while it was made: it is made again`)
    return made
  }

  async #cleanup(object: ContainerVolumeObject): Promise<ReconcileResult | undefined> {
    await this.#options.session.open()
    const { uid } = object.metadata
    const { persistent = true } = object.spec
    if (!persistent) {
      const result = await this.#remove(object)
      if (result) return result
    }
    this.#options.monitor.release(uid)
    return undefined
  }

  async #remove(object: ContainerVolumeObject): Promise<ReconcileResult | undefined> {
    const owner = ownerOf(object.metadata)
    const live = await this.#options.monitor.acquire(owner, this.#feed.push.bind(this.#feed))
    const wait = (problem: string): ReconcileResult | undefined =>
      object.status?.owned ? { park: `the container runtime, to remove the volume: ${problem}` } : undefined
    if ('problem' in live) return wait(live.problem)
    try {
      const found = await live.runtime.findVolume(volumeNameOf(object))
      if (found && isOurs(found, owner)) await live.runtime.removeVolume(found.name)
      return undefined
    } catch (error) {
      // A container that is about to go still uses it.
      if (isRuntimeError(error, 'Conflict')) return { afterMs: removeRetryMs }
      if (!this.#options.monitor.isGone(error)) throw error
      return wait(error.message)
    }
  }
}

function volumeNameOf({ spec, metadata }: ContainerVolumeObject): string {
  return spec.volumeName ?? `${metadata.namespace ?? 'default'}-${metadata.name}`
}

function isOurs({ labels }: VolumeFacts, { namespace, name }: RunOwner): boolean {
  return labels[labelOf.object] === `${namespace}/${name}`
}
