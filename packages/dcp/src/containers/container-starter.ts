/**
 * How the container of an object comes to be: one that is there already, or a new one.
 *
 *   mode existing, cleanup ──▶ the container with the name; none: NotFound, looked for again
 *   mode persistent ─────────▶ one that runs and was made from the same spec; another one of ours is replaced
 *   otherwise ───────────────▶ plan ──▶ image ──▶ create ──▶ start
 *                              └ a Service, a network or a volume is missing: waits for it
 *
 * Invariants: an object has at most one container that was made for it; what cannot be started is removed; a container that was
 * not made here is never changed or removed, whatever its name.
 */
import {
  Images,
  isRuntimeError,
  RuntimeError,
  type ContainerFacts,
  type ContainerPlan,
  type ContainerRunner,
  type Files,
  type LiveRuntime,
  type RunOwner,
} from '@evenkeel/workloads'
import type { ControllerDeclaration, KubeObject, ReconcileResult } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Clock } from 'evenkeel/unstable/base'
import type { ObjectLog } from '../controllers/object-log.ts'
import type { PortBook } from '../controllers/port-book.ts'
import { SpecError } from '../controllers/service-producers.ts'
import { ServiceNotReady } from '../controllers/value-templates.ts'
import { ContainerVolume, type Container } from '../kinds/container.ts'
import { ContainerNetwork, Service } from '../kinds/network.ts'
import type { Values } from '../rules/field-values.ts'
import { effectiveMode } from '../rules/modes.ts'
import {
  lifecycleLabel,
  planContainer,
  unsupportedIn,
  type ContainerObject,
  type PlannedContainer,
} from './container-plan.ts'
import { reportBefore, reportFailed } from './container-status.ts'
import type { StartupLog } from './startup-log.ts'

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Container, ManagedContext>['reconcile']>>[1]

/** One reconcile. */
export interface ContainerPass {
  readonly container: ContainerObject
  readonly context: Context
  readonly owner: RunOwner
  readonly live: LiveRuntime
}

interface StarterOptions {
  readonly containers: ContainerRunner
  readonly ports: PortBook
  readonly files: Files
  readonly objectLog: ObjectLog
  readonly startupLog: StartupLog
  readonly clock: Clock
  readonly cwd: string
  readonly onChange: (owner: RunOwner, note: string) => void
}

/** The present container, or what the object waits for, which its status already names. */
type Started = { readonly facts: ContainerFacts } | Waiting
interface Waiting {
  readonly wait: ReconcileResult | undefined
}

export const stopGraceMs = 10_000
const lookMs = 2000
/** A network or a volume that a container needs is not there yet. */
class PartNotReady extends Error {
  readonly part: string

  constructor(part: string) {
    super(`the ${part} is not ready`)
    this.part = part
  }
}

export class ContainerStarter {
  readonly #options: StarterOptions
  readonly #images: Images
  /** By name: what a Container waits for; while that is not known, anything. */
  readonly #waiting = new Map<string, string | undefined>()

  constructor(options: StarterOptions) {
    const { clock, onChange, startupLog } = options
    this.#options = options
    this.#images = new Images({ clock, onChange, onNote: (owner, note) => void startupLog.write(owner.uid, note) })
  }

  /** The Containers that may wait for this object. */
  waitersFor({ kind, metadata: { name } }: KubeObject): readonly { readonly name: string }[] {
    return [...this.#waiting].flatMap(([waiter, part]) =>
      part === undefined || part === `${kind} ${name}` ? [{ name: waiter }] : [],
    )
  }

  forget({ uid, name }: RunOwner): void {
    this.#images.forget(uid)
    this.#waiting.delete(name)
  }

  close(): void {
    this.#images.close()
  }

  async begin(pass: ContainerPass): Promise<Started> {
    const { container, context, live } = pass
    const spec = (container.spec ?? {}) as Values
    const { containerName = '', stop = false, start = true } = container.spec ?? {}
    const mode = effectiveMode(spec)
    const existing = mode === 'session' ? undefined : await live.runtime.findContainer(containerName ?? '')
    if (existing && (mode !== 'persistent' || stop || existing.labels[lifecycleLabel] === undefined))
      return { facts: existing }
    if (!existing && (mode === 'existing' || mode === 'cleanup')) {
      reportBefore(context.status, 'NotFound')
      return { wait: { afterMs: lookMs } }
    }
    if (stop) return this.#fail('spec.stop is true, and it has not run yet', pass)
    if (start === false && !existing) return { wait: undefined }
    const problem = unsupportedIn(spec)
    if (problem !== undefined) return this.#fail(problem, pass)
    const planned = await this.#plan(pass)
    if ('wait' in planned) return planned
    if (existing && existing.state === 'running' && existing.labels[lifecycleLabel] === planned.lifecycleKey)
      return { facts: existing }
    if (start === false) return { wait: undefined }
    return this.#make(planned, pass, existing)
  }

  /** Starts a container that was made for the object. */
  async run(id: string, pass: ContainerPass): Promise<Started> {
    const { runtime } = pass.live
    try {
      await runtime.startContainer(id)
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code === 'Unavailable') throw error
      await runtime.removeContainer(id)
      return this.#fail(error.message, pass)
    }
    const facts = await runtime.findContainer(id)
    if (!facts) return this.#fail('its container was removed while it started', pass)
    // Some runtimes show the state of before for a moment.
    return { facts: facts.state === 'created' ? { ...facts, state: 'running' } : facts }
  }

  async #fail(why: string, { container, context, owner }: ContainerPass): Promise<Waiting> {
    await this.#options.objectLog.write(container, `it cannot be started: ${why}`)
    await this.#options.startupLog.fail(owner.uid, why)
    this.forget(owner)
    reportFailed(context.status, why, context.clock.now())
    return { wait: undefined }
  }

  /* What to make. */

  async #plan(pass: ContainerPass): Promise<PlannedContainer | Waiting> {
    const { container, context, owner, live } = pass
    const { files, cwd, ports, objectLog, containers } = this.#options
    const waitedFor = this.#waiting.get(owner.name)
    // From before the others are read: what changes later is an event.
    this.#waiting.set(owner.name, undefined)
    const { items } = await context.client.list(Service)
    const isPersistent = effectiveMode((container.spec ?? {}) as Values) === 'persistent'
    try {
      await this.#checkVolumes(pass)
      const planned = await planContainer(container, {
        ...{ files, cwd },
        findService: (wanted) => items.find(({ metadata }) => metadata.name === wanted),
        networks: await networksOf(pass),
        extraHosts: live.version.name === 'docker' ? ['host.docker.internal:host-gateway'] : [],
        choosePorts: (names) => ports.choose(owner.uid, names, context.client),
        labels: containers.labelsFor(owner, isPersistent ? 'persistent' : 'session'),
        onProblem: (message) => void objectLog.write(container, message),
      })
      this.#waiting.delete(owner.name)
      return planned
    } catch (error) {
      if (error instanceof SpecError) return this.#fail(error.message, pass)
      if (!(error instanceof ServiceNotReady) && !(error instanceof PartNotReady)) throw error
      const part = error instanceof PartNotReady ? error.part : `${Service.kind} ${error.service}`
      if (waitedFor !== part) await objectLog.write(container, `waits: ${error.message}`)
      this.#waiting.set(owner.name, part)
      reportBefore(context.status, 'Starting')
      return { wait: undefined }
    }
  }

  /** A volume that has an object is made by the controller of volumes: it would not be known as ours otherwise. */
  async #checkVolumes({ container, context }: ContainerPass): Promise<void> {
    const { items } = await context.client.list(ContainerVolume)
    for (const { type, source } of container.spec?.volumeMounts ?? []) {
      const volume = items.find(({ spec }) => type !== 'bind' && spec?.name === source)
      if (volume && volume.status?.state !== 'Ready')
        throw new PartNotReady(`${ContainerVolume.kind} ${volume.metadata.name}`)
    }
  }

  /* Making it. */

  async #make(
    { plan, build }: PlannedContainer,
    pass: ContainerPass,
    existing: ContainerFacts | undefined,
  ): Promise<Started> {
    const { container, context, owner, live } = pass
    const { objectLog, startupLog, containers } = this.#options
    const image = await this.#images.ensure(live.runtime, {
      ...{ owner, build, image: plan.image },
      pullPolicy: pullPolicies[container.spec?.pullPolicy ?? ''] ?? 'IfNotPresent',
      isRestart: false,
      key: owner.uid,
    })
    if (image.state === 'working') {
      reportBefore(context.status, build ? 'Building' : 'Starting', startupLog.filesOf(owner.uid))
      return { wait: undefined }
    }
    if (image.state === 'failed') {
      this.#images.forget(owner.uid)
      if (image.reason === 'Unavailable') throw new RuntimeError('Unavailable', image.message)
      return this.#fail(image.message, pass)
    }
    if (existing) {
      await objectLog.write(container, 'the container of before is replaced: it has ended, or its spec was another one')
      await live.runtime.stopContainer(existing.id, { graceMs: stopGraceMs })
      await live.runtime.removeContainer(existing.id)
    }
    try {
      let id = ''
      await containers.make(async () => {
        id = (await live.runtime.createContainer(plan)).id
      })
      return await this.run(id, pass)
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code === 'Unavailable') throw error
      return await this.#fail(await this.#explain(error, plan, pass), pass)
    } finally {
      this.#images.forget(owner.uid)
    }
  }

  async #explain(error: RuntimeError, { name }: ContainerPlan, { live }: ContainerPass): Promise<string> {
    const other = isRuntimeError(error, 'Conflict') ? await live.runtime.findContainer(name) : undefined
    if (!other) return error.message
    return `the name ${name} is taken by the container ${other.id.slice(0, 12)}: remove it, or change spec.containerName`
  }
}

const pullPolicies: Readonly<Record<string, 'Always' | 'IfNotPresent' | 'Never'>> = {
  always: 'Always',
  missing: 'IfNotPresent',
  never: 'Never',
}

/** @throws {PartNotReady} for a network that does not run yet */
async function networksOf({ container, context }: ContainerPass): Promise<ContainerPlan['networks']> {
  const { items } = await context.client.list(ContainerNetwork)
  return (container.spec?.networks ?? []).map(({ name, aliases }) => {
    const found = items.find(({ metadata }) => metadata.name === plainName(name ?? ''))
    if (found?.status?.state !== 'Running' || !found.status.networkName)
      throw new PartNotReady(`${ContainerNetwork.kind} ${plainName(name ?? '')}`)
    return { name: found.status.networkName, aliases: aliases ?? [] }
  })
}

/** `NAMESPACE/NAME` is the object NAME: no kind of this group has a namespace. */
export function plainName(text: string): string {
  return text.slice(text.indexOf('/') + 1)
}
