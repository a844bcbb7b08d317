/**
 * The controller of ContainerNetworks: a bridge network of the runtime for each object, or one that exists and is only used.
 *
 * A network of ours has the uid of its object in its labels. It goes with its object, and with Evenkeel unless it is `persistent`.
 * Invariant: a network without that label is never changed or removed.
 */
import type { ControllerDeclaration, ReconcileResult } from 'evenkeel'
import { channelSource, type ManagedContext } from 'evenkeel/controller'
import { ChangeFeed } from '../change-feed.ts'
import type { RunOwner } from '../runs.ts'
import type { Session } from '../session.ts'
import { ContainerNetwork, type ContainerNetworkObject } from './container-kind.ts'
import { labelOf, ownerLabels } from './container-labels.ts'
import { defaultName } from './container-plan.ts'
import { isRuntimeError, type ContainerRuntime, type NetworkFacts } from './container-runtime.ts'
import type { RuntimeMonitor } from './runtime-monitor.ts'

export interface AttachmentControllerOptions {
  readonly session: Session
  readonly monitor: RuntimeMonitor
  /** Called before the first thing that ends with Evenkeel is made. */
  readonly beforeCreate: () => Promise<void>
}

type Context = Parameters<NonNullable<ControllerDeclaration<typeof ContainerNetwork, ManagedContext>['reconcile']>>[1]

const retryMs = 5000
const removeRetryMs = 1000

export class NetworkController {
  readonly #options: AttachmentControllerOptions
  readonly #feed = new ChangeFeed()

  constructor(options: AttachmentControllerOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerNetwork, ManagedContext> {
    return {
      for: ContainerNetwork,
      sources: [channelSource({ name: 'container-networks', events: ({ signal }) => this.#feed.events(signal) })],
      reconcile: (object, context) => this.#reconcile(object, context),
      cleanup: (object) => this.#cleanup(object),
    }
  }

  async #reconcile(object: ContainerNetworkObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session, monitor } = this.#options
    if (session.isClosing) return { park: 'the program is stopping' }
    await session.open()
    const owner = ownerOf(object.metadata)
    const live = await monitor.acquire(owner, this.#feed.push.bind(this.#feed))
    if ('problem' in live) return notReady(context, { reason: 'RuntimeUnavailable', message: live.problem })
    try {
      const found = await this.#ensure(live.runtime, { object, owner })
      if ('reason' in found) {
        notReady(context, found)
        return { afterMs: retryMs }
      }
      const { id, name, driver, subnets, gateways } = found
      context.status.set({ networkName: name, networkId: id, driver, subnets, gateways })
      context.status.condition('Ready', true, { reason: 'Ready' })
      return undefined
    } catch (error) {
      if (!monitor.isGone(error)) throw error
      return notReady(context, { reason: 'RuntimeUnavailable', message: error.message })
    }
  }

  async #ensure(
    runtime: ContainerRuntime,
    { object, owner }: { readonly object: ContainerNetworkObject; readonly owner: RunOwner },
  ): Promise<NetworkFacts | { readonly reason: string; readonly message: string }> {
    const {
      existing = false,
      networkName,
      internal = false,
      ipv6 = false,
      persistent = false,
      labels = {},
    } = object.spec
    const name = networkName ?? defaultName(object.metadata)
    const found = await runtime.findNetwork(name)
    if (existing)
      return (
        found ?? {
          reason: 'NetworkNotFound',
          message: `there is no network ${name}: create it, or set spec.existing to false`,
        }
      )
    if (found && found.labels[labelOf.uid] !== owner.uid)
      return {
        reason: 'NameTaken',
        message: `the network ${name} is not ours: set spec.existing to true to use it, or change spec.networkName`,
      }
    if (found) return found
    await this.#options.beforeCreate()
    const lifetime = persistent ? 'persistent' : 'session'
    const ours = ownerLabels(owner, { session: this.#options.session.name, lifetime })
    await runtime.createNetwork({ name, internal, ipv6, labels: { ...labels, ...ours } })
    return (
      (await runtime.findNetwork(name)) ?? { reason: 'NetworkNotFound', message: `the network ${name} was removed` }
    )
  }

  async #cleanup(object: ContainerNetworkObject): Promise<ReconcileResult | undefined> {
    await this.#options.session.open()
    const { uid } = object.metadata
    const live = await this.#options.monitor.acquire(ownerOf(object.metadata), this.#feed.push.bind(this.#feed))
    const wasMade = object.status?.networkName !== undefined && !object.spec.existing
    if ('problem' in live) {
      if (wasMade) return { park: `the container runtime, to remove the network: ${live.problem}` }
    } else {
      try {
        for (const { name } of await live.runtime.listNetworks({ [labelOf.uid]: uid }))
          await live.runtime.removeNetwork(name)
      } catch (error) {
        // A container that is about to go still uses it.
        if (isRuntimeError(error, 'Conflict')) return { afterMs: removeRetryMs }
        if (!this.#options.monitor.isGone(error)) throw error
        if (wasMade) return { park: `the container runtime, to remove the network: ${error.message}` }
      }
    }
    this.#options.monitor.release(uid)
    return undefined
  }
}

export function ownerOf({
  uid,
  name,
  namespace = 'default',
}: Pick<ContainerNetworkObject['metadata'], 'uid' | 'name' | 'namespace'>): RunOwner {
  return { uid, name, namespace }
}

function notReady(context: Context, { reason, message }: { readonly reason: string; readonly message: string }) {
  context.status.condition('Ready', false, { reason, message })
  return { park: message }
}
