/**
 * The controller of Containers: each has one container, which is made once and never again.
 *
 *   no container ──▶ container-starter.ts ──▶ Running ──▶ Endpoints, probes, connections to networks
 *   spec.stop, deletion ──▶ no Endpoints ──▶ stopped beside the reconciles ──▶ Exited; with the object it is removed
 *   removed by another program ──▶ Unknown
 *
 * The runtime is the record: the labels of a container say which object it was made for.
 *
 * Invariants: a container that is kept (mode persistent, existing) outlives its object; one that was not made for the object is
 * removed in mode cleanup only; the object is gone only when the container that goes with it is.
 */
import type { ChangeFeed, ContainerFacts, ContainerRunner, ProbeChecks, Runner, RunOwner } from '@evenkeel/workloads'
import type { ControllerDeclaration, KubeObject, ReconcileResult } from 'evenkeel'
import { watching, type ManagedContext } from 'evenkeel/controller'
import type { Clock } from 'evenkeel/unstable/base'
import { clusterScoped } from '../controllers/cluster-scoped.ts'
import { ensureEndpoints, removeEndpoints } from '../controllers/endpoint-objects.ts'
import { HealthProbes } from '../controllers/health-probes.ts'
import { SpecError, type ServiceProducer } from '../controllers/service-producers.ts'
import { valueRenderer } from '../controllers/value-templates.ts'
import { Container, ContainerVolume } from '../kinds/container.ts'
import { ContainerNetwork, ContainerNetworkConnection, Endpoint, Service } from '../kinds/network.ts'
import { type Values } from '../rules/field-values.ts'
import { effectiveMode } from '../rules/modes.ts'
import { ensureConnections, removeConnections } from './container-connections.ts'
import { lifecycleLabel, servedBy, type ContainerObject } from './container-plan.ts'
import { ContainerStarter, plainName, stopGraceMs, type ContainerPass } from './container-starter.ts'
import { isFinal, reportBefore, reportContainer, reportLost } from './container-status.ts'

interface ContainerControllerOptions extends Omit<ConstructorParameters<typeof ContainerStarter>[0], 'onChange'> {
  readonly runner: Runner
  readonly containers: ContainerRunner
  readonly checks: ProbeChecks
  readonly feed: ChangeFeed
  readonly clock: Clock
}

type Context = ContainerPass['context']

const [stopLookMs, goneLookMs, concurrency] = [2000, 1000, 32]

export class ContainerController {
  readonly #options: ContainerControllerOptions
  readonly #starter: ContainerStarter
  readonly #probes: HealthProbes
  /** By id: containers that are being stopped. */
  readonly #stopping = new Set<string>()

  constructor(options: ContainerControllerOptions) {
    this.#options = options
    this.#starter = new ContainerStarter({ ...options, onChange: this.#onChange })
    this.#probes = new HealthProbes(options)
  }

  readonly #onChange = (owner: RunOwner, note: string): void => {
    this.#options.feed.push(owner, note)
  }

  declaration(): ControllerDeclaration<typeof Container, ManagedContext> {
    const map = (part: KubeObject) => this.#starter.waitersFor(part)
    return {
      for: Container,
      concurrency,
      owns: [Endpoint, ContainerNetworkConnection],
      watches: [watching(Service, { map }), watching(ContainerNetwork, { map }), watching(ContainerVolume, { map })],
      sources: [clusterScoped('containers', this.#options.feed)],
      reconcile: (container, context) => this.#reconcile(container, context),
      cleanup: (container, context) => this.#cleanup(container, context),
    }
  }

  close(): void {
    this.#starter.close()
    this.#probes.close()
  }

  async #reconcile(container: ContainerObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner, containers } = this.#options
    const { start, stop, mode, persistent } = container.spec ?? {}
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    // No runtime is needed for what is not to be started.
    if (start === false && !stop && !mode && !persistent && !container.status?.containerId) return undefined
    await runner.session.open()
    const owner = ownerOf(container)
    const live = await containers.monitor.acquire(owner, this.#onChange)
    if ('problem' in live) return this.#reportNoRuntime(live.problem, container, context)
    try {
      return await this.#look({ container, context, owner, live })
    } catch (error) {
      if (!containers.monitor.isGone(error)) throw error
      return this.#reportNoRuntime(error.message, container, context)
    }
  }

  /** What runs is not changed by that, as far as is known. */
  #reportNoRuntime(problem: string, { status: before }: ContainerObject, { status }: Context): ReconcileResult {
    if (!before?.containerId && !isFinal(before)) reportBefore(status, 'RuntimeUnhealthy')
    return { park: problem }
  }

  async #look(pass: ContainerPass): Promise<ReconcileResult | undefined> {
    const { container, context, owner } = pass
    const { status } = container
    const found = isFinal(status) ? undefined : await this.#find(pass)
    if (found?.state === 'created') {
      const started = await this.#starter.run(found.id, pass)
      return 'facts' in started ? this.#follow(started.facts, pass) : started.wait
    }
    if (found) return this.#follow(found, pass)
    if (!isFinal(status) && !status?.containerId) {
      const started = await this.#starter.begin(pass)
      return 'facts' in started ? this.#follow(started.facts, pass) : started.wait
    }
    this.#probes.forget(owner.uid)
    await removeEndpoints(container, context)
    await removeConnections(container, context)
    if (isFinal(status) || status?.state === 'Exited') return undefined
    await this.#options.objectLog.write(container, 'its container was removed by another program')
    reportLost(context.status, context.clock.now())
    return undefined
  }

  /** The container of the object: the one in its status, or one that was made for it. */
  async #find({ container: { status }, owner, live }: ContainerPass): Promise<ContainerFacts | undefined> {
    if (status?.containerId) return live.runtime.findContainer(status.containerId)
    const [made] = await live.runtime.listContainers(this.#options.containers.labelOfObject(owner))
    return made && live.runtime.findContainer(made.id)
  }

  /* A container that is there. */

  async #follow(facts: ContainerFacts, pass: ContainerPass): Promise<ReconcileResult | undefined> {
    const { container, context, owner } = pass
    const { containers } = this.#options
    const isUp = facts.state === 'running' || facts.state === 'paused'
    const isStopping = isUp && container.spec?.stop === true
    containers.monitor.follow(owner.uid, facts.id)
    if (facts.state === 'running' && !isStopping) {
      await this.#serve(facts, pass)
      await ensureConnections(container, { containerId: facts.id, networks: container.spec?.networks ?? [] }, context)
    } else {
      this.#probes.forget(owner.uid)
      await removeEndpoints(container, context)
    }
    if (isStopping) this.#stop(facts.id, pass)
    const probes = container.spec?.healthProbes ?? []
    reportContainer(context.status, facts, {
      health: { hasProbes: probes.length > 0, results: this.#probes.resultsOf(owner.uid) },
      networks: await networkNames(facts, pass),
      isStopping,
      lifecycleKey: facts.labels[lifecycleLabel],
    })
    if (facts.state === 'exited') await this.#noteEnd(facts, pass)
    return isStopping ? { afterMs: stopLookMs } : undefined
  }

  async #noteEnd({ exitCode }: ContainerFacts, { container }: ContainerPass): Promise<void> {
    if (container.status?.state !== 'Exited')
      await this.#options.objectLog.write(container, `its container has ended with the exit code ${exitCode}`)
  }

  /** Begins to stop it; its end is an event. */
  #stop(id: string, { owner, container, live }: Pick<ContainerPass, 'owner' | 'container' | 'live'>): void {
    if (this.#stopping.has(id)) return
    this.#stopping.add(id)
    const stop = async (): Promise<void> => {
      try {
        await live.runtime.stopContainer(id, { graceMs: stopGraceMs })
        this.#onChange(owner, 'its container was stopped')
      } catch (error) {
        // The next look tries again.
        await this.#options.objectLog.write(container, `its container cannot be stopped: ${(error as Error).message}`)
      } finally {
        this.#stopping.delete(id)
      }
    }
    void stop()
  }

  async #serve({ ports }: ContainerFacts, { container, context, owner }: ContainerPass): Promise<void> {
    const { objectLog } = this.#options
    const onProblem = (message: string): void => void objectLog.write(container, message)
    const producers = await this.#producers(() => servedBy(container, ports), container)
    if ((container.spec?.healthProbes ?? []).length > 0) {
      const { items } = await context.client.list(Service)
      const findService = (name: string) => items.find(({ metadata }) => metadata.name === name)
      this.#probes.watch(owner.uid, {
        spec: (container.spec ?? {}) as Values,
        render: valueRenderer({ object: container, producers, chosenPorts: new Map(), findService }, onProblem),
        onChange: (note) => {
          this.#onChange(owner, note)
        },
      })
    }
    await ensureEndpoints(container, { producers, chosenPorts: new Map() }, context)
  }

  /** None for an annotation that cannot be read: its container runs all the same. */
  async #producers(
    read: () => readonly ServiceProducer[],
    container: ContainerObject,
  ): Promise<readonly ServiceProducer[]> {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SpecError)) throw error
      await this.#options.objectLog.write(container, error.message)
      return []
    }
  }

  /* The end. */

  async #cleanup(container: ContainerObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner, containers, ports, startupLog } = this.#options
    await runner.session.open()
    const owner = ownerOf(container)
    this.#starter.forget(owner)
    this.#probes.forget(owner.uid)
    await removeEndpoints(container, context)
    const mode = effectiveMode((container.spec ?? {}) as Values)
    if (mode === 'session' || mode === 'cleanup') {
      const live = await containers.monitor.acquire(owner, this.#onChange)
      const wasMade = Boolean(container.status?.containerId)
      if ('problem' in live && wasMade)
        return { park: `the container runtime, to remove the container: ${live.problem}` }
      try {
        const result = 'problem' in live ? undefined : await this.#remove({ container, context, owner, live })
        if (result) return result
      } catch (error) {
        if (!containers.monitor.isGone(error)) throw error
        if (wasMade) return { park: `the container runtime, to remove the container: ${error.message}` }
      }
    }
    await removeConnections(container, context)
    await startupLog.remove(owner.uid)
    containers.monitor.release(owner.uid)
    ports.release(owner.uid)
    return undefined
  }

  /** Ends what is of the object, then removes it. */
  async #remove(pass: ContainerPass): Promise<ReconcileResult | undefined> {
    const { container, owner, live } = pass
    const made = await live.runtime.listContainers(this.#options.containers.labelOfObject(owner))
    const named =
      effectiveMode((container.spec ?? {}) as Values) === 'cleanup'
        ? await live.runtime.findContainer(container.spec?.containerName ?? '')
        : undefined
    const all = new Map([...made, ...(named ? [named] : [])].map((one) => [one.id, one]))
    const running = [...all.values()].filter(({ state }) => state === 'running' || state === 'paused')
    for (const { id } of running) {
      this.#options.containers.monitor.follow(owner.uid, id)
      this.#stop(id, pass)
    }
    if (running.length > 0) return { afterMs: stopLookMs }
    for (const { id } of all.values()) await live.runtime.removeContainer(id)
    return [...all.values()].some(({ state }) => state === 'removing') ? { afterMs: goneLookMs } : undefined
  }
}

function ownerOf({ metadata: { uid, name } }: ContainerObject): RunOwner {
  return { uid, namespace: 'containers', name }
}

/** As dcp writes them: no kind has a namespace, and the slash is there all the same. */
async function networkNames({ networks }: ContainerFacts, { container, context }: ContainerPass) {
  const { items } = await context.client.list(ContainerNetwork)
  const named = new Set((container.spec?.networks ?? []).map(({ name }) => plainName(name ?? '')))
  return items
    .filter(
      ({ metadata, status }) => named.has(metadata.name) && networks.some(({ name }) => name === status?.networkName),
    )
    .map(({ metadata }) => `/${metadata.name}`)
    .sort()
}
