/**
 * A container runtime in memory. Programs are a few words of shell, so that one suite of tests runs on it and on real ones:
 *
 *   sh -c 'trap "" TERM; echo out; echo err >&2; sleep 5; exit 3'      steps between semicolons
 *   sleep 1000                                                         one step
 *   oom                                                                the kernel ends it for its memory
 *   cat                                                                of an exec: its input
 *   sh                                                                 of an exec: the steps that are typed
 *   stty size                                                          of an exec: the size of its terminal
 *   anything else                                                      CommandNotFound
 *
 * Invariants: state is not visible as own fields, so the Explorer shows it as it is now; ids are the same when a schedule is
 * repeated; a runtime that sleeps refuses every call and ends every stream.
 */
import type { Clock } from 'evenkeel/unstable/base'
import {
  pullFailure,
  RuntimeError,
  type BuildPlan,
  type ContainerFacts,
  type ContainerPlan,
  type ContainerRuntime,
  type ContainerSummary,
  type ImageFacts,
  type Labels,
  type NetworkFacts,
  type NetworkPlan,
  type RuntimeVersion,
  type VolumeFacts,
  type VolumePlan,
} from './container-runtime.ts'
import { factsOf, hasLabels, newContainer, type SimulatedContainer } from './simulated-container.ts'
import { parseProgram, SimulatedStreams, type Step } from './simulated-streams.ts'

const signalCodes: Readonly<Record<string, number>> = {
  SIGKILL: 137,
  SIGTERM: 143,
  SIGINT: 130,
  SIGHUP: 129,
  SIGQUIT: 131,
}

/** How soon a container that has a policy is restarted. */
const restartMs = 100

export class SimulatedRuntime implements ContainerRuntime {
  readonly streams: SimulatedStreams
  readonly #clock: Clock
  readonly #images = new Set<string>()
  readonly #registry = new Map<string, 'present' | 'denied'>()
  readonly #containers = new Map<string, SimulatedContainer>()
  readonly #networks = new Map<string, NetworkFacts>()
  readonly #volumes = new Map<string, VolumeFacts>()
  readonly #calls: string[] = []
  #buildFailure: string | undefined
  #made = 0
  #isAsleep = false

  constructor({ clock, images = [] }: { readonly clock: Clock; readonly images?: readonly string[] }) {
    this.#clock = clock
    for (const image of images) this.#images.add(image)
    this.streams = new SimulatedStreams({ clock, check: () => this.#check('stream'), find: (id) => this.#at(id) })
  }

  async findVersion(): Promise<RuntimeVersion> {
    this.#check('findVersion')
    return Promise.resolve({ name: 'simulated', version: '1', apiVersion: '1.41' })
  }

  async findImage(reference: string): Promise<ImageFacts | undefined> {
    this.#check('findImage')
    return Promise.resolve(this.#images.has(reference) ? { id: `sha256:${reference}`, tags: [reference] } : undefined)
  }

  async pullImage(reference: string): Promise<void> {
    this.#check('pullImage')
    const known = this.#registry.get(reference)
    if (known === 'denied') throw pullFailure(reference, 'pull access denied')
    if (known === undefined) throw pullFailure(reference, 'manifest unknown')
    this.#images.add(reference)
    return Promise.resolve()
  }

  async buildImage({ tag }: BuildPlan): Promise<void> {
    this.#check('buildImage')
    if (this.#buildFailure !== undefined)
      throw new RuntimeError('BuildFailed', `the build of ${tag} failed: ${this.#buildFailure}`)
    this.#images.add(tag)
    return Promise.resolve()
  }

  async createContainer(plan: ContainerPlan): Promise<{ readonly id: string }> {
    this.#check('createContainer')
    if (!this.#images.has(plan.image)) throw new RuntimeError('ImageNotFound', `no such image: ${plan.image}`)
    if (this.#find(plan.name)) throw new RuntimeError('Conflict', `the name ${plan.name} is already in use`)
    for (const { name } of plan.networks)
      if (!this.#networks.has(name)) throw new RuntimeError('NotFound', `network ${name} not found`)
    const id = String(++this.#made).padStart(12, '0')
    this.#containers.set(id, newContainer(id, plan))
    for (const { type, source } of plan.mounts) if (type === 'volume') this.#addVolume({ name: source, labels: {} })
    return Promise.resolve({ id })
  }

  async startContainer(id: string): Promise<void> {
    this.#check('startContainer')
    const container = this.#at(id)
    if (container.state === 'running') return Promise.resolve()
    const { command = [], args = [], ports } = container.plan
    const steps = parseProgram([...command, ...args])
    if (!steps)
      throw new RuntimeError('CommandNotFound', `exec: "${command[0] ?? ''}": executable file not found in $PATH`)
    const running = [...this.#containers.values()].filter(({ state }) => state === 'running')
    const taken = ports.find(({ hostPort }) =>
      running.some(({ plan }) => plan.ports.some((port) => port.hostPort === hostPort)),
    )
    if (taken) throw new RuntimeError('PortTaken', `port ${taken.hostPort}: address already in use`)
    this.#begin(container, steps)
    return Promise.resolve()
  }

  async stopContainer(id: string): Promise<void> {
    this.#check('stopContainer')
    const container = this.#at(id)
    this.#end(container, container.ignoresTerm ? 137 : (signalCodes[container.plan.stopSignal ?? 'SIGTERM'] ?? 143))
    return Promise.resolve()
  }

  async killContainer(id: string, signal: string): Promise<void> {
    this.#check('killContainer')
    const container = this.#at(id)
    if (container.state !== 'running' && container.state !== 'paused')
      throw new RuntimeError('Conflict', `container ${id} is not running`)
    if (signal === 'SIGKILL' || !container.ignoresTerm) this.#end(container, signalCodes[signal] ?? 143)
    return Promise.resolve()
  }

  async unpauseContainer(id: string): Promise<void> {
    this.#check('unpauseContainer')
    const container = this.#at(id)
    if (container.state !== 'paused') throw new RuntimeError('Conflict', `container ${id} is not paused`)
    this.setPaused(container.plan.name, false)
    return Promise.resolve()
  }

  async removeContainer(id: string): Promise<void> {
    this.#check('removeContainer')
    const container = this.#find(id)
    if (!container) return Promise.resolve()
    this.#end(container, 137)
    this.#containers.delete(container.id)
    this.#tell(container, 'destroy')
    return Promise.resolve()
  }

  async findContainer(nameOrId: string): Promise<ContainerFacts | undefined> {
    this.#check('findContainer')
    const found = this.#find(nameOrId)
    return Promise.resolve(found && factsOf(found))
  }

  async listContainers(labels: Labels): Promise<readonly ContainerSummary[]> {
    this.#check('listContainers')
    return Promise.resolve(this.containers().filter((one) => hasLabels(one.labels, labels)))
  }

  async createNetwork({ name, labels }: NetworkPlan): Promise<void> {
    this.#check('createNetwork')
    if (this.#networks.has(name)) throw new RuntimeError('Conflict', `the network ${name} already exists`)
    const subnet = `10.89.${this.#networks.size}`
    this.#networks.set(name, {
      ...{ id: `net-${name}`, name, driver: 'bridge', labels },
      ...{ subnets: [`${subnet}.0/24`], gateways: [`${subnet}.1`] },
    })
    return Promise.resolve()
  }

  async findNetwork(name: string): Promise<NetworkFacts | undefined> {
    this.#check('findNetwork')
    return Promise.resolve(this.#networks.get(name))
  }

  async listNetworks(labels: Labels): Promise<readonly NetworkFacts[]> {
    this.#check('listNetworks')
    return Promise.resolve(this.networks().filter((one) => hasLabels(one.labels, labels)))
  }

  async removeNetwork(name: string): Promise<void> {
    this.#check('removeNetwork')
    if (this.containers().some((one) => one.networks.some((network) => network.name === name)))
      throw new RuntimeError('Conflict', `the network ${name} is in use`)
    this.#networks.delete(name)
    return Promise.resolve()
  }

  async connectNetwork(name: string, id: string, aliases: readonly string[]): Promise<void> {
    this.#check('connectNetwork')
    if (!this.#networks.has(name)) throw new RuntimeError('NotFound', `network ${name} not found`)
    const { networks } = this.#at(id)
    if (!networks.some((one) => one.name === name)) networks.push({ name, aliases })
    return Promise.resolve()
  }

  async disconnectNetwork(name: string, id: string): Promise<void> {
    this.#check('disconnectNetwork')
    const networks = this.#find(id)?.networks ?? []
    const at = networks.findIndex((one) => one.name === name)
    if (at >= 0) networks.splice(at, 1)
    return Promise.resolve()
  }

  async createVolume(plan: VolumePlan): Promise<void> {
    this.#check('createVolume')
    this.#addVolume(plan)
    return Promise.resolve()
  }

  async findVolume(name: string): Promise<VolumeFacts | undefined> {
    this.#check('findVolume')
    return Promise.resolve(this.#volumes.get(name))
  }

  async listVolumes(labels: Labels): Promise<readonly VolumeFacts[]> {
    this.#check('listVolumes')
    return Promise.resolve(this.volumes().filter((one) => hasLabels(one.labels, labels)))
  }

  async removeVolume(name: string): Promise<void> {
    this.#check('removeVolume')
    const isUsed = [...this.#containers.values()].some(({ plan }) => plan.mounts.some(({ source }) => source === name))
    if (isUsed) throw new RuntimeError('Conflict', `the volume ${name} is in use`)
    this.#volumes.delete(name)
    return Promise.resolve()
  }

  /* What happens to the machine, for tests. */

  containers(): readonly ContainerFacts[] {
    return [...this.#containers.values()].map(factsOf)
  }

  networks(): readonly NetworkFacts[] {
    return [...this.#networks.values()]
  }

  volumes(): readonly VolumeFacts[] {
    return [...this.#volumes.values()]
  }

  /** What a container was created from. */
  planOf(name: string): ContainerPlan | undefined {
    return this.#find(name)?.plan
  }

  /** The names of all calls so far. */
  calls(): readonly string[] {
    return this.#calls
  }

  /** A container of another program, which runs, and a volume `theirs`. */
  addStranger(plan: ContainerPlan): void {
    const id = String(++this.#made).padStart(12, '0')
    this.#containers.set(id, { ...newContainer(id, plan), state: 'running', startedAtMs: 0 })
    this.#addVolume({ name: 'theirs', labels: {} })
  }

  /** What a registry says about an image; undefined: it does not have it. */
  setRegistry(reference: string, answer: 'present' | 'denied' | undefined): void {
    if (answer) this.#registry.set(reference, answer)
    else this.#registry.delete(reference)
  }

  setBuildFailure(output: string | undefined): void {
    this.#buildFailure = output
  }

  /** The runtime is stopped, or comes back. Containers end with it. */
  setAsleep(isAsleep: boolean): void {
    if (isAsleep) for (const container of this.#containers.values()) this.#end(container, 137)
    this.#isAsleep = isAsleep
    if (isAsleep) this.streams.breakAll()
  }

  /** Another program pauses a container, or goes on with it. */
  setPaused(name: string, isPaused: boolean): void {
    const container = this.#at(name)
    container.state = isPaused ? 'paused' : 'running'
    this.#tell(container, isPaused ? 'pause' : 'unpause')
  }

  /** The program of a container ends by itself. */
  exit(name: string, exitCode: number, { isOomKilled = false }: { readonly isOomKilled?: boolean } = {}): void {
    const container = this.#at(name)
    container.isOomKilled = isOomKilled
    this.#exit(container, exitCode)
  }

  /** Its program has ended by itself. */
  #exit(container: SimulatedContainer, exitCode: number): void {
    const { restartPolicy = 'no', command = [], args = [] } = container.plan
    this.#end(container, exitCode)
    const steps = parseProgram([...command, ...args])
    if (restartPolicy === 'no' || (restartPolicy === 'on-failure' && exitCode === 0) || !steps) return
    this.#clock.after(restartMs, () => {
      if (container.state === 'exited' && this.#containers.has(container.id)) this.#begin(container, steps)
    })
  }

  #begin(container: SimulatedContainer, steps: readonly Step[]): void {
    Object.assign(container, { state: 'running', startedAtMs: this.#clock.now(), isOomKilled: false })
    this.#tell(container, 'start')
    this.#run(container, steps)
  }

  #run(container: SimulatedContainer, [step, ...rest]: readonly Step[]): void {
    const startedAtMs = container.startedAtMs
    const isSameRun = (): boolean => container.state !== 'exited' && container.startedAtMs === startedAtMs
    if (!step) return this.#exit(container, 0)
    switch (step.do) {
      case 'echo':
        this.streams.write(container, { stream: step.stream, text: `${step.text}\n` })
        return this.#run(container, rest)
      case 'trap':
        container.ignoresTerm = true
        return this.#run(container, rest)
      case 'sleep':
        this.#clock.after(step.ms, () => {
          if (isSameRun()) this.#run(container, rest)
        })
        return undefined
      case 'wait':
        return undefined
      case 'oom':
        container.isOomKilled = true
        return this.#end(container, 137)
      case 'exit':
        return this.#exit(container, step.exitCode)
      case 'cat':
      case 'shell':
      case 'size':
        return this.#run(container, rest)
    }
  }

  #end(container: SimulatedContainer, exitCode: number): void {
    if (container.state !== 'running' && container.state !== 'paused') return
    Object.assign(container, { state: 'exited', exitCode, finishedAtMs: this.#clock.now() })
    this.streams.end(container)
    this.#tell(container, 'die')
  }

  #tell({ id, plan }: SimulatedContainer, actionName: string): void {
    this.streams.tell({ action: actionName, containerId: id, labels: plan.labels })
  }

  #addVolume({ name, labels }: VolumePlan): void {
    if (!this.#volumes.has(name)) this.#volumes.set(name, { name, driver: 'local', labels })
  }

  #find(nameOrId: string): SimulatedContainer | undefined {
    return this.#containers.get(nameOrId) ?? [...this.#containers.values()].find(({ plan }) => plan.name === nameOrId)
  }

  #at(nameOrId: string): SimulatedContainer {
    const found = this.#find(nameOrId)
    if (!found) throw new RuntimeError('NotFound', `no such container: ${nameOrId}`)
    return found
  }

  #check(call: string): void {
    this.#calls.push(call)
    if (this.#isAsleep) throw new RuntimeError('Unavailable', 'the simulated runtime is asleep. Wake it')
  }
}
