/**
 * The controllers of ContainerNetworks, and of the connections of containers to them.
 *
 *   mode session ──▶ a new network ──▶ Running; a name that is taken: FailedToStart
 *   mode persistent: one that is there, or a new one     mode existing, cleanup: one that is there, else NotFound
 *   ContainerNetworkConnection ──▶ the container is in the network as long as the connection is there
 *
 * Invariants: a network is removed with its object in modes session and cleanup only; in mode session only one that was made for it.
 */
import {
  isRuntimeError,
  type ChangeFeed,
  type ContainerRunner,
  type ContainerRuntime,
  type NetworkFacts,
  type Runner,
  type RunOwner,
} from '@evenkeel/workloads'
import type { ControllerDeclaration, ObjectOf, ReconcileResult, Stored } from 'evenkeel'
import { watching, type ManagedContext } from 'evenkeel/controller'
import { clusterScoped } from '../controllers/cluster-scoped.ts'
import type { ObjectLog } from '../controllers/object-log.ts'
import { Container } from '../kinds/container.ts'
import { ContainerNetwork, ContainerNetworkConnection } from '../kinds/network.ts'
import type { Values } from '../rules/field-values.ts'
import { effectiveMode } from '../rules/modes.ts'
import { plainName } from './container-starter.ts'

export interface PartOptions {
  readonly runner: Runner
  readonly containers: ContainerRunner
  readonly feed: ChangeFeed
  readonly objectLog: ObjectLog
}

type NetworkObject = Stored<ObjectOf<typeof ContainerNetwork>>
type ConnectionObject = Stored<ObjectOf<typeof ContainerNetworkConnection>>
type Context = Parameters<NonNullable<ControllerDeclaration<typeof ContainerNetwork, ManagedContext>['reconcile']>>[1]

const [retryMs, lookMs, goneRetryMs] = [5000, 2000, 1000]

export class NetworkController {
  readonly #options: PartOptions

  constructor(options: PartOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerNetwork, ManagedContext> {
    return {
      for: ContainerNetwork,
      watches: [
        watching(Container, {
          map: ({ spec }) => (spec?.networks ?? []).map(({ name }) => ({ name: plainName(name ?? '') })),
        }),
      ],
      sources: [clusterScoped('networks', this.#options.feed)],
      reconcile: (network, context) => this.#reconcile(network, context),
      cleanup: (network) => this.#cleanup(network),
    }
  }

  async #reconcile(network: NetworkObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner, containers, feed } = this.#options
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    if (network.status?.state === 'FailedToStart' || network.status?.state === 'Removed') return undefined
    await runner.session.open()
    const live = await containers.monitor.acquire(ownerOf(network), feed.push.bind(feed))
    if ('problem' in live) return pending(network, context, live.problem)
    try {
      return await this.#ensure(live.runtime, network, context)
    } catch (error) {
      if (!containers.monitor.isGone(error)) throw error
      return pending(network, context, error.message)
    }
  }

  async #ensure(
    runtime: ContainerRuntime,
    network: NetworkObject,
    context: Context,
  ): Promise<ReconcileResult | undefined> {
    const { containers } = this.#options
    const owner = ownerOf(network)
    const mode = effectiveMode((network.spec ?? {}) as Values)
    const [name, wasThere] = [networkNameOf(network), Boolean(network.status?.id)]
    const found = await runtime.findNetwork(name)
    if (found && (mode !== 'session' || containers.isMadeFor(owner, found.labels)))
      return report(found, network, context)
    if (found)
      return this.#fail(
        `the network ${name} exists already: change spec.networkName, or use mode existing`,
        network,
        context,
      )
    if (wasThere) {
      context.status.set({ state: 'Removed', containerIds: undefined })
      return undefined
    }
    if (mode === 'existing' || mode === 'cleanup') {
      context.status.set({ state: 'NotFound', networkName: name, id: undefined })
      return { afterMs: lookMs }
    }
    const labels = containers.labelsFor(owner, mode === 'persistent' ? 'persistent' : 'session')
    try {
      const ipv6 = network.spec?.ipv6 ?? false
      await containers.make(() => runtime.createNetwork({ name, labels, internal: false, ipv6 }))
    } catch (error) {
      // Its answer was lost, or another program was faster: the next look says which.
      if (isRuntimeError(error, 'Conflict')) return { afterMs: goneRetryMs }
      if (!isRuntimeError(error, 'Failed')) throw error
      return this.#fail(error.message, network, context)
    }
    const made = await runtime.findNetwork(name)
    return made ? report(made, network, context) : { afterMs: retryMs }
  }

  async #fail(message: string, network: NetworkObject, { status }: Context): Promise<undefined> {
    await this.#options.objectLog.write(network, message)
    status.set({ state: 'FailedToStart', message })
  }

  async #cleanup(network: NetworkObject): Promise<ReconcileResult | undefined> {
    const { runner, containers, feed } = this.#options
    await runner.session.open()
    const owner = ownerOf(network)
    const mode = effectiveMode((network.spec ?? {}) as Values)
    if (mode === 'session' || mode === 'cleanup') {
      const live = await containers.monitor.acquire(owner, feed.push.bind(feed))
      const wait = (problem: string): ReconcileResult | undefined =>
        network.status?.id ? { park: `the container runtime, to remove the network: ${problem}` } : undefined
      const result = 'problem' in live ? wait(live.problem) : await this.#remove(live.runtime, network, wait)
      if (result) return result
    }
    containers.monitor.release(owner.uid)
    return undefined
  }

  async #remove(
    runtime: ContainerRuntime,
    network: NetworkObject,
    wait: (problem: string) => ReconcileResult | undefined,
  ): Promise<ReconcileResult | undefined> {
    const { containers } = this.#options
    const isAny = effectiveMode((network.spec ?? {}) as Values) === 'cleanup'
    try {
      const made = await runtime.listNetworks(containers.labelOfObject(ownerOf(network)))
      for (const name of isAny ? [networkNameOf(network)] : made.map((one) => one.name))
        await runtime.removeNetwork(name)
      return undefined
    } catch (error) {
      // A container that is about to go is still in it.
      if (isRuntimeError(error, 'Conflict')) return { afterMs: goneRetryMs }
      if (!containers.monitor.isGone(error)) throw error
      return wait(error.message)
    }
  }
}

function ownerOf({ metadata: { uid, name } }: NetworkObject): RunOwner {
  return { uid, namespace: 'networks', name }
}

function networkNameOf({ metadata: { name, uid }, spec }: NetworkObject): string {
  return spec?.networkName?.trim() || `${name.replaceAll(/[^\w.-]/g, '-')}-${uid.slice(0, 8)}`
}

function pending(network: NetworkObject, { status }: Context, problem: string): ReconcileResult {
  if (!network.status?.id) status.set({ state: 'Pending', message: problem })
  return { park: problem }
}

async function report(facts: NetworkFacts, network: NetworkObject, { client, status }: Context): Promise<undefined> {
  const { items } = await client.list(Container)
  const inIt = items.filter(({ status: seen }) => seen?.networks?.includes(`/${network.metadata.name}`))
  status.set({
    state: 'Running',
    message: undefined,
    id: facts.id,
    networkName: facts.name,
    driver: facts.driver,
    ipv6: network.spec?.ipv6 ?? false,
    subnets: [...facts.subnets],
    gateways: [...facts.gateways],
    containerIds: inIt.flatMap((one) => one.status?.containerId ?? []).sort(),
  })
}

/** Connects a container to a network, and disconnects it with the object. */
export class ConnectionController {
  readonly #options: PartOptions
  /** By name: the network that a connection waits for. */
  readonly #waiting = new Map<string, string>()

  constructor(options: PartOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerNetworkConnection, ManagedContext> {
    return {
      for: ContainerNetworkConnection,
      watches: [watching(ContainerNetwork, { map: ({ metadata }) => this.#waitersFor(metadata.name) })],
      reconcile: (connection, context) => this.#reconcile(connection, context),
      cleanup: (connection, context) => this.#cleanup(connection, context),
    }
  }

  #waitersFor(network: string): readonly { readonly name: string }[] {
    return [...this.#waiting].flatMap(([name, wanted]) => (wanted === network ? [{ name }] : []))
  }

  async #reconcile(
    connection: ConnectionObject,
    { client }: { readonly client: Context['client'] },
  ): Promise<ReconcileResult | undefined> {
    const { runner, containers } = this.#options
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    const { containerID = '', aliases } = connection.spec ?? {}
    const wanted = plainName(connection.spec?.containerNetworkName ?? '')
    this.#waiting.set(connection.metadata.name, wanted)
    const network = await findNetworkName(wanted, client)
    if (network === undefined) return undefined
    this.#waiting.delete(connection.metadata.name)
    const runtime = await containers.findRuntime()
    const facts = await runtime.findContainer(containerID ?? '')
    if (!facts) return { afterMs: retryMs }
    if (!facts.networks.some(({ name }) => name === network))
      await runtime.connectNetwork(network, facts.id, aliases ?? [])
    return undefined
  }

  async #cleanup(
    { metadata, spec }: ConnectionObject,
    { client }: { readonly client: Context['client'] },
  ): Promise<undefined> {
    this.#waiting.delete(metadata.name)
    const network = await findNetworkName(plainName(spec?.containerNetworkName ?? ''), client)
    if (network === undefined) return
    const runtime = await this.#options.containers.findRuntime()
    const facts = await runtime.findContainer(spec?.containerID ?? '')
    if (facts?.networks.some(({ name }) => name === network)) await runtime.disconnectNetwork(network, facts.id)
  }
}

async function findNetworkName(name: string, client: Context['client']): Promise<string | undefined> {
  const { items } = await client.list(ContainerNetwork)
  const { status } = items.find(({ metadata }) => metadata.name === name) ?? {}
  return status?.state === 'Running' ? (status.networkName ?? undefined) : undefined
}
