/**
 * How a run of a Container begins: image, ports, container, start. Any of these may be refused, with a reason for a condition.
 *
 * Invariants: the last container of the object goes before the next one is made; what cannot be started is removed; a container
 * with the name that is not of this object is left alone.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Clock } from 'evenkeel/unstable/base'
import { EnvironmentError } from '../environment.ts'
import type { Files } from '../files.ts'
import type { Decision, Situation } from '../lifecycle.ts'
import type { Ports } from '../ports.ts'
import type { RunOwner } from '../runs.ts'
import type { Session } from '../session.ts'
import type { ContainerDependencies } from './container-dependencies.ts'
import { Container, type ContainerObject } from './container-kind.ts'
import { formatRunLabel, labelOf, ownerLabels, parseRunLabel, type RunLabel } from './container-labels.ts'
import { buildOf, imageOf, planOfContainer } from './container-plan.ts'
import type { ContainerRun, RunMemories } from './container-runs.ts'
import { isRuntimeError, RuntimeError, type ContainerFacts, type ContainerPlan } from './container-runtime.ts'
import type { Images } from './images.ts'
import type { LiveRuntime } from './runtime-monitor.ts'

export interface StarterOptions {
  readonly session: Session
  readonly ports: Ports
  readonly files: Files
  readonly clock: Clock
  /** Where relative paths begin. */
  readonly cwd: string
  readonly images: Images
  readonly memories: RunMemories
  readonly dependencies: ContainerDependencies
  /** Called before the first container that ends with Evenkeel is made. */
  readonly beforeCreate: () => Promise<void>
}

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Container, ManagedContext>['reconcile']>>[1]

/** One reconcile. */
export interface Pass {
  readonly object: ContainerObject
  readonly context: Context
  readonly owner: RunOwner
  readonly live: LiveRuntime
  /** A container that was created and never started. */
  readonly pending?: ContainerFacts
  readonly run?: ContainerRun
}

/** Why a container cannot be started now. */
export interface Refusal {
  readonly reason: string
  readonly message: string
  /** When to try again. @default five seconds */
  readonly afterMs?: number
}

/** A network of the container, or the container itself, is gone: another program removed it. */
export const missingReason = 'PartMissing'

interface Begin {
  readonly decision: Extract<Decision, { readonly do: 'start' }>
  readonly situation: Situation
}

const closing: Refusal = {
  reason: 'ShuttingDown',
  message: 'Evenkeel is shutting down: nothing is started until it runs again',
}
const [portRetryMs, replaceMs, restartMs] = [1000, 500, 10]

export class ContainerStarter {
  readonly #options: StarterOptions
  readonly #underway = new Set<Promise<unknown>>()
  #hasAdoptedPorts = false

  constructor(options: StarterOptions) {
    this.#options = options
  }

  /** The next run, started; or why it is not. */
  async start(pass: Pass, begin: Begin): Promise<ContainerRun | Refusal> {
    const starting = this.#start(pass, begin)
    this.#underway.add(starting)
    try {
      return await starting
    } finally {
      this.#underway.delete(starting)
    }
  }

  /** Resolves when no start is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underway)
  }

  async #start(pass: Pass, begin: Begin): Promise<ContainerRun | Refusal> {
    const { object, context, live, owner } = pass
    const label = labelOfNext(pass, begin)
    const image = await this.#options.images.ensure(live.runtime, {
      owner,
      image: imageOf(object),
      build: buildOf(object, this.#options),
      pullPolicy: object.spec.pullPolicy ?? 'IfNotPresent',
      isRestart: begin.decision.restarts > (pass.run?.restarts ?? 0),
      key: `${label.number} ${label.fingerprint} ${label.token ?? ''} ${object.spec.pullPolicy}`,
    })
    if (image.state !== 'ready') {
      context.status.condition('ImageReady', false, { reason: image.reason, message: image.message })
      return image
    }
    context.status.condition('ImageReady', true, { reason: 'Present', message: image.id })
    // A container that was made before a crash has its ports already.
    this.#options.ports.adopt(owner.uid, label.ports)
    const ports = await this.#allocate(object, context)
    if ('reason' in ports) return { ...ports, afterMs: portRetryMs }
    return this.#createAndStart({ ...label, ports: ports.ports }, pass)
  }

  async #createAndStart(label: RunLabel, pass: Pass): Promise<ContainerRun | Refusal> {
    const {
      object,
      owner,
      live: { runtime },
    } = pass
    const { memories, session } = this.#options
    // The end of the program may have begun while the image was pulled.
    if (session.isClosing) return closing
    try {
      const container = await this.#create(label, pass)
      if ('reason' in container) return container
      memories.begin(owner.uid, label.number)
      await runtime.startContainer(container.id)
      const facts = await runtime.findContainer(container.id)
      const run =
        facts &&
        memories.runOf({ ...facts, state: facts.state === 'created' ? 'running' : facts.state }, { object, owner })
      return (
        run ?? {
          reason: 'RemovedExternally',
          message: 'its container was removed while it started',
          afterMs: restartMs,
        }
      )
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      // What cannot be started is not left behind.
      for (const { id, state } of await runtime.listContainers({ [labelOf.uid]: owner.uid }))
        if (state !== 'running') await runtime.removeContainer(id)
      return refusal
    }
  }

  /** The container of the next run, created and not started. The last one goes first: they have one name. */
  async #create(label: RunLabel, pass: Pass): Promise<{ readonly id: string } | Refusal> {
    const {
      context,
      pending,
      run: last,
      live: { runtime },
    } = pass
    if (pending && parseRunLabel(pending.labels)?.number === label.number) return pending
    const { plan, duplicates } = await this.#plan(label, pass)
    if (duplicates.length > 0)
      context.event({
        type: 'Warning',
        reason: 'DuplicateVariables',
        note: `given twice, the last one counts: ${duplicates.join(', ')}`,
      })
    if (pending) await runtime.removeContainer(pending.id)
    if (last?.container) await runtime.removeContainer(last.container.id)
    const before = await runtime.findContainer(plan.name)
    if (before) return onNameTaken(plan, { found: before, uid: pass.owner.uid })
    await this.#options.beforeCreate()
    try {
      return await runtime.createContainer(plan)
    } catch (error) {
      const found = isRuntimeError(error, 'Conflict') && (await runtime.findContainer(plan.name))
      if (!found) throw error
      return onNameTaken(plan, { found, uid: pass.owner.uid })
    }
  }

  async #plan(label: RunLabel, { object, context, owner, live }: Pass) {
    const { session, files, cwd } = this.#options
    const lifetime = object.spec.lifetime === 'Persistent' ? 'persistent' : 'session'
    const { values } = await this.#options.dependencies.values(object, context, live.version)
    return planOfContainer(object, {
      files,
      cwd,
      ports: label.ports,
      runtime: live.version.name,
      values,
      ...(await this.#options.dependencies.names(context)),
      labels: { ...ownerLabels(owner, { session: session.name, lifetime }), ...formatRunLabel(label) },
    })
  }

  async #allocate(
    { spec, metadata: { uid } }: ContainerObject,
    context: Context,
  ): Promise<{ readonly ports: RunLabel['ports'] } | Refusal> {
    const wanted = spec.ports ?? []
    if (wanted.length === 0) return { ports: [] }
    const { ports } = this.#options
    if (!this.#hasAdoptedPorts) {
      const { items } = await context.client.list(Container)
      for (const { metadata, status } of items)
        if (metadata.uid !== undefined) ports.adopt(metadata.uid, status?.run?.ports ?? [])
      this.#hasAdoptedPorts = true
    }
    const result = await ports.allocate(
      uid,
      wanted.map(({ name, hostPort = 0 }) => ({ name, port: hostPort })),
    )
    if ('ports' in result)
      return {
        ports: result.ports.map((port) => ({
          ...port,
          containerPort: wanted.find(({ name }) => name === port.name)?.containerPort ?? 0,
        })),
      }
    if (!('taken' in result))
      return { reason: 'PortTaken', message: `port ${result.port} belongs to another workload: choose another port` }
    const { port, pid, command } = result.taken
    const holder =
      pid === undefined ? 'a process of another user, or another container' : `process ${pid} (${command ?? 'unknown'})`
    return { reason: 'PortTaken', message: `port ${port} is taken by ${holder}: end it, or choose another hostPort` }
  }
}

/** A create whose answer was lost has made our container; any other one with the name belongs to another program. */
function onNameTaken(
  { name, labels }: ContainerPlan,
  { found, uid }: { readonly found: ContainerFacts; readonly uid: string },
): { readonly id: string } | Refusal {
  const isOurs = found.labels[labelOf.uid] === uid
  if (isOurs && found.labels[labelOf.run] === labels[labelOf.run]) return found
  if (isOurs) return { reason: 'Replacing', message: 'the container before it is being removed', afterMs: replaceMs }
  return {
    reason: 'NameTaken',
    message: `the name ${name} is taken by the container ${found.id.slice(0, 12)} with the image ${found.image}, which is not ours: remove it, or change spec.containerName`,
  }
}

/** What the labels of the next container say. */
function labelOfNext({ object, run, pending }: Pass, { decision, situation }: Begin): RunLabel {
  const { cause, failures, restarts } = decision
  const { fingerprint, request } = situation
  const before = pending && parseRunLabel(pending.labels)
  const token = request?.token ?? run?.token
  // It was made by a start that was cut short: that start goes on.
  if (before?.fingerprint === fingerprint && before.token === token) return before
  return {
    number: 1 + Math.max(run?.number ?? 0, object.status?.run?.number ?? 0),
    fingerprint,
    ...(token !== undefined && { token }),
    ...{ cause, failures, restarts, ports: [], graceSeconds: object.spec.stop?.gracePeriodSeconds ?? 10 },
    variables: [...new Set((object.spec.env ?? []).map(({ name }) => name))].sort(),
  }
}

/** Failures that are about this object; others are about the runtime, or ours. */
function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof EnvironmentError) return { reason: 'InvalidEnvironment', message: error.message }
  if (!(error instanceof RuntimeError) || error.code === 'Unavailable') return undefined
  const reasons: Partial<Record<RuntimeError['code'], string>> = { Failed: 'StartFailed', NotFound: missingReason }
  const reason = reasons[error.code] ?? error.code
  return { reason, message: error.message }
}

/** It is on its way: an event says when it is done. */
export function isWork({ reason }: Pick<Refusal, 'reason'>): boolean {
  return reason === 'Pulling' || reason === 'Building'
}
