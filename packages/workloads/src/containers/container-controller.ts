/**
 * The controller of Containers: compares each object with its container, takes one step, and writes what it saw.
 *
 * The runtime is the record: labels say which object, run and spec a container was made for. So a reconcile begins with a list by
 * label, and a create whose answer was lost is found by its name.
 *
 *   object ─▶ containers with its uid ─▶ decide (lifecycle.ts) ─▶ keep, end a step further, start, rest ─▶ status, events
 *   start:   image ─▶ ports ─▶ the last container goes ─▶ create ─▶ start
 *
 * Invariants: an object never has two containers that run; a container without the uid of the object in its labels is never
 * changed, stopped or removed; the finalizer is removed when no container of the object is left.
 */
import { action, type ControllerDeclaration, type ReconcileResult } from 'evenkeel'
import { channelSource, type ManagedContext } from 'evenkeel/controller'
import { ChangeFeed } from '../change-feed.ts'
import type { Files } from '../files.ts'
import { decide, type Decision, type Situation } from '../lifecycle.ts'
import { Prober, type ProbeChecks } from '../prober.ts'
import { declareOrderOf } from '../process-dependencies.ts'
import type { RunOwner } from '../runs.ts'
import type { ShutdownOrder } from '../shutdown-order.ts'
import { ContainerDependencies } from './container-dependencies.ts'
import { takeEndStep, type EndStepOptions } from './container-ending.ts'
import { Container, type ContainerObject } from './container-kind.ts'
import { labelOf, parseRunLabel } from './container-labels.ts'
import { fingerprintOfContainer } from './container-plan.ts'
import { ContainerLogs, ContainerProbes } from './container-probes.ts'
import { closedReason, lostRun, RestartTimes, RunMemories, type ContainerRun } from './container-runs.ts'
import { RuntimeError, type ContainerFacts } from './container-runtime.ts'
import {
  ContainerStarter,
  isWork,
  missingReason,
  type Pass,
  type Refusal,
  type StarterOptions,
} from './container-starter.ts'
import { reportClosing, reportRest, reportRun, reportUnavailable, withPastRun } from './container-status.ts'
import { Images } from './images.ts'
import type { RuntimeMonitor } from './runtime-monitor.ts'

interface ContainerControllerOptions extends Omit<StarterOptions, 'images' | 'memories' | 'dependencies'> {
  readonly monitor: RuntimeMonitor
  readonly checks: ProbeChecks
  /** Learns what depends on what. */
  readonly order: ShutdownOrder
}

type Context = Pass['context']

const [retryMs, goneRetryMs] = [5000, 1000]
const concurrency = 32
/** What only a person can change. */
const finalReasons: ReadonlySet<string> = new Set([
  'ImageNotFound',
  'PullDenied',
  'BuildFailed',
  'CommandNotFound',
  'InvalidEnvironment',
])
const causes: Readonly<Record<string, string>> = {
  RemovedExternally: 'its container was removed by another program',
  SessionEnded: 'its container ended with the Evenkeel that started it',
  SessionClosed: 'its container was ended with the Evenkeel that started it',
}

export class ContainerController {
  readonly prober: Prober
  readonly images: Images
  readonly #options: ContainerControllerOptions
  readonly #feed = new ChangeFeed()
  readonly #onChange = (owner: RunOwner, note: string): void => {
    this.#feed.push(owner, note)
  }
  readonly #logs: ContainerLogs
  readonly #memories: RunMemories
  readonly #starter: ContainerStarter
  readonly #restarts: RestartTimes
  readonly #ending: EndStepOptions
  /** By uid: why the last attempt to start failed, and when the next one is due. */
  readonly #refused = new Map<string, { readonly key: string; readonly untilMs: number; readonly refusal: Refusal }>()
  readonly #dependencies = new ContainerDependencies()
  readonly #start = action('start', {
    form: 'state',
    about: 'Runs the container.',
    patch: { spec: { running: true } },
    enabledWhen: '!object.spec.running',
  })
  readonly #stop = action('stop', {
    form: 'state',
    about: 'Ends the container; the object stays.',
    patch: { spec: { running: false } },
    enabledWhen: 'object.spec.running',
  })
  readonly #restart = action('restart', { form: 'token', about: 'Ends the container and starts another one.' })
  #isClosing = false

  constructor(options: ContainerControllerOptions) {
    const { clock, files, checks, monitor } = options
    const runtime = () => monitor.live?.runtime
    this.#options = options
    this.images = new Images({ clock, onChange: this.#onChange })
    this.#memories = new RunMemories(clock)
    this.#restarts = new RestartTimes(clock)
    this.#starter = new ContainerStarter({
      ...options,
      images: this.images,
      memories: this.#memories,
      dependencies: this.#dependencies,
    })
    this.#logs = new ContainerLogs(runtime)
    this.prober = new Prober({
      clock,
      files: Object.assign(Object.create(files) as Files, { findBytes: this.#logs.findBytes.bind(this.#logs) }),
      checks: new ContainerProbes({ checks, clock, runtime }),
    })
    this.#ending = { clock, prober: this.prober, memories: this.#memories }
  }

  declaration(): ControllerDeclaration<typeof Container, ManagedContext> {
    return {
      for: Container,
      concurrency,
      sources: [channelSource({ name: 'containers', events: ({ signal }) => this.#feed.events(signal) })],
      verbs: [...this.#dependencies.verbs, this.#start, this.#stop, this.#restart],
      reconcile: (object, context) => this.#reconcile(object, context),
      cleanup: (object, context) => this.#cleanup(object, context),
    }
  }

  /** Resolves when no container is being made. With a session that is closing, none is begun any more. */
  settled(): Promise<void> {
    return this.#starter.settled()
  }

  /** The program ends it. */
  noteClosing(uid: string): void {
    const memory = this.#memories.get(uid)
    if (memory) memory.stopReason ??= closedReason
  }

  close(): void {
    this.#isClosing = true
    this.images.close()
    this.prober.close()
    this.#logs.close()
  }

  async #reconcile(object: ContainerObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session, monitor, order } = this.#options
    if (this.#isClosing || session.isClosing) return this.#reportClosing(object, context)
    declareOrderOf({ ...object, kind: 'Container' }, order)
    await session.open()
    const owner = ownerOf(object)
    const live = await monitor.acquire(owner, this.#onChange)
    if ('problem' in live) return this.#reportGone(live.problem, { object, context })
    try {
      context.status.condition('RuntimeReady', true, {
        reason: live.version.name,
        message: `version ${live.version.version}`,
      })
      const pass = await this.#look({ object, context, owner, live })
      const situation = await this.#situation(pass)
      const result = await this.#perform(decide(situation), pass, situation)
      await this.#answerRequest(situation, pass)
      return result
    } catch (error) {
      if (!monitor.isGone(error)) throw error
      return this.#reportGone(error.message, { object, context })
    }
  }

  /** The program ends: what does not run says why it is not started. */
  async #reportClosing(object: ContainerObject, context: Context): Promise<ReconcileResult> {
    const stopping = { park: 'the program is stopping' }
    const live = this.#isClosing ? undefined : this.#options.monitor.live
    try {
      const run = live && (await this.#look({ object, context, owner: ownerOf(object), live })).run
      if (!this.#isClosing && (!run || run.isOver)) reportClosing(context.status, { object, run })
    } catch (error) {
      // It is being removed meanwhile.
      if (!(error instanceof RuntimeError)) throw error
    }
    return stopping
  }

  async #cleanup(object: ContainerObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session, ports, monitor, order } = this.#options
    await session.open()
    const owner = ownerOf(object)
    this.images.forget(owner.uid)
    const live = await monitor.acquire(owner, this.#onChange)
    // Without a run there is nothing to remove: the object need not wait for a runtime that may never come.
    const wasStarted = object.status?.run !== undefined || this.#memories.has(owner.uid)
    if ('problem' in live && wasStarted)
      return { park: `the container runtime, to remove the container: ${live.problem}` }
    if (!('problem' in live)) {
      try {
        const result = await this.#removeAll(await this.#look({ object, context, owner, live }))
        if (result) return result
      } catch (error) {
        if (!monitor.isGone(error)) throw error
        if (wasStarted) return { park: `the container runtime, to remove the container: ${error.message}` }
      }
    }
    this.#memories.delete(owner.uid)
    this.#refused.delete(owner.uid)
    monitor.release(owner.uid)
    ports.release(owner.uid)
    order.forget(owner.uid)
    return undefined
  }

  /** Ends the container in order, then removes it. */
  async #removeAll(pass: Pass): Promise<ReconcileResult | undefined> {
    const { run, live, owner } = pass
    if (run?.container && !run.isOver) {
      const decision = { reason: 'Deleted', cause: 'the object is being deleted' }
      return takeEndStep(run, { ...pass, decision }, this.#ending)
    }
    if (run) this.#forgetRun(run)
    for (const { id } of await live.runtime.listContainers({ [labelOf.uid]: owner.uid }))
      await live.runtime.removeContainer(id)
    const left = await live.runtime.listContainers({ [labelOf.uid]: owner.uid })
    return left.length > 0 ? { afterMs: goneRetryMs } : undefined
  }

  /* What there is. */

  /** The containers of the object: the last run, and a start that was cut short. Any other one of ours goes. */
  async #look({ object, context, owner, live }: Omit<Pass, 'run' | 'pending'>): Promise<Pass> {
    const { clock } = this.#options
    const { runtime } = live
    const listed = await runtime.listContainers({ [labelOf.uid]: owner.uid })
    const found = (await Promise.all(listed.map(({ id }) => runtime.findContainer(id))))
      .flatMap((facts) => facts ?? [])
      .filter(({ labels, state }) => labels[labelOf.uid] === owner.uid && state !== 'removing')
      .toSorted((a, b) => numberOf(a) - numberOf(b))
    const last = found.findLast(({ state }) => state !== 'created')
    const created = found.findLast((one) => one.state === 'created')
    const pending = created && numberOf(created) > (last ? numberOf(last) : 0) ? created : undefined
    for (const { id } of found.filter((one) => one !== last && one !== pending)) await runtime.removeContainer(id)
    const run = last
      ? this.#memories.runOf(last, { object, owner })
      : lostRun(object, { memory: this.#memories.get(owner.uid), clock })
    return { object, context, owner, live, ...(pending && { pending }), ...(run && { run }) }
  }

  async #situation({ object, context, run, live }: Pass): Promise<Situation> {
    const env = await this.#dependencies.values(object, context, live.version)
    const { missing, isLost } = await this.#dependencies.missing(object, context)
    const request = this.#restart.requested(context)
    const failed = run && this.prober.stateOf(run.mark)?.failed
    return {
      isWanted: object.spec.running ?? true,
      isDeleting: false,
      run,
      fingerprint: fingerprintOfContainer(object, env, run),
      request: request && { token: request.token, by: request.by ?? 'an unknown user' },
      dependencies: { missing: missing ?? env.missing, isLost },
      failedProbe: failed,
      afterEnd: (ended) =>
        this.#restarts.afterEnd(ended, { settings: object.spec.restart ?? {}, random: context.random }),
    }
  }

  /* What to do. */

  async #perform(decision: Decision, pass: Pass, situation: Situation): Promise<ReconcileResult | undefined> {
    const { run, pending, live, context } = pass
    if (pending && decision.do !== 'start') await live.runtime.removeContainer(pending.id)
    if (decision.do !== 'start') this.images.forget(pass.owner.uid)
    switch (decision.do) {
      case 'keep':
        if (run) this.#report(run, pass)
        return undefined
      case 'end':
        return run && takeEndStep(run, { ...pass, decision }, this.#ending)
      case 'start':
        return this.#startRun({ ...decision, cause: causes[run?.stopReason ?? ''] ?? decision.cause }, pass, situation)
      case 'rest': {
        if (run) this.#forgetRun(run)
        // Whether the image is there is found out by the next start.
        context.status.removeCondition('ImageReady')
        const dueAt = run && this.#restarts.dueAt(run)
        reportRest(context.status, { run, decision, ...(decision.phase === 'BackOff' && { nextRestartAtMs: dueAt }) })
        return decision.afterMs === undefined ? undefined : { afterMs: decision.afterMs }
      }
    }
  }

  #forgetRun(run: ContainerRun): void {
    this.prober.forget(run.mark)
    if (run.container) this.#logs.forget(run.container.id)
  }

  async #startRun(
    decision: Extract<Decision, { readonly do: 'start' }>,
    pass: Pass,
    situation: Situation,
  ): Promise<ReconcileResult | undefined> {
    const { object, context, owner, run: last } = pass
    const key = `${situation.fingerprint} ${situation.request?.token ?? ''} ${object.spec.pullPolicy}`
    const refused = this.#refused.get(owner.uid)
    const leftMs = (refused?.untilMs ?? 0) - this.#options.clock.monotonic()
    // The events of an attempt that failed must not be the cause of the next one.
    if (refused?.key === key && leftMs > 0) return this.#refuse({ ...refused.refusal, afterMs: leftMs }, pass)
    const started = await this.#starter.start(pass, { decision, situation })
    this.#refused.delete(owner.uid)
    if ('reason' in started) {
      const untilMs = this.#options.clock.monotonic() + (started.afterMs ?? retryMs)
      if (!isWork(started)) this.#refused.set(owner.uid, { key, untilMs, refusal: started })
      return this.#refuse(started, pass)
    }
    if (last) {
      this.#forgetRun(last)
      this.#restarts.forget(last)
    }
    this.images.forget(owner.uid)
    withPastRun(context.status, { object, last })
    context.event({ reason: 'Started', note: `run ${started.number} was started: ${started.cause}` })
    this.#report(started, pass)
    return undefined
  }

  /** It cannot be started now. */
  #refuse({ reason, message, afterMs = retryMs }: Refusal, { object, context, run }: Pass): ReconcileResult {
    const isNews = object.status?.conditions?.find(({ type }) => type === 'Started')?.reason !== reason
    if (isNews && reason === missingReason) this.#options.monitor.tellAll('a network or a volume may be missing')
    if (isNews)
      context.event({ type: isWork({ reason }) ? 'Normal' : 'Warning', reason, note: message.slice(-eventLength) })
    const phase = finalReasons.has(reason) ? 'Failed' : 'Waiting'
    reportRest(context.status, { run, decision: { do: 'rest', phase, reason, message } })
    return isWork({ reason }) ? { park: message } : { afterMs }
  }

  /** The status of a run that is alive; its probes begin. A container that is paused cannot be probed. */
  #report(run: ContainerRun, { object, context }: Pick<Pass, 'object' | 'context'>): void {
    if (run.container?.state === 'paused') this.#forgetRun(run)
    else if (!this.prober.stateOf(run.mark))
      this.prober.watch(
        // The prober passes these on: see container-probes.ts.
        { mark: run.mark, logFile: run.container?.id ?? '', ports: run.ports, cwd: run.container?.id ?? '', env: {} },
        {
          probes: object.spec.probes ?? {},
          onChange: (note) => {
            this.#onChange(run.owner, note)
          },
        },
      )
    reportRun(context.status, { run, state: this.prober.stateOf(run.mark) })
  }

  #reportGone(problem: string, { object, context }: Pick<Pass, 'object' | 'context'>): ReconcileResult {
    const known = object.status?.conditions?.find(({ type }) => type === 'RuntimeReady')
    if (known?.status !== 'False') context.event({ type: 'Warning', reason: 'RuntimeUnavailable', note: problem })
    reportUnavailable(context.status, problem)
    return { park: 'the container runtime' }
  }

  /** A request is handled when a run answers it. A stopped object stays stopped. */
  async #answerRequest({ request, isWanted }: Situation, { owner, context, live }: Pass): Promise<void> {
    if (!request) return
    const listed = isWanted ? await live.runtime.listContainers({ [labelOf.uid]: owner.uid }) : []
    const isAnswered = listed.some(({ labels }) => parseRunLabel(labels)?.token === request.token)
    if (isWanted && !isAnswered) return
    await this.#restart.handle(context, () => {
      if (!isWanted)
        context.event({
          type: 'Warning',
          reason: 'RestartIgnored',
          note: 'it is stopped: set spec.running to true to start it',
        })
    })
  }
}

/** An event has room for 1 KiB. */
const eventLength = 1000

function ownerOf({ metadata: { uid, name, namespace = 'default' } }: ContainerObject): RunOwner {
  return { uid, name, namespace }
}

function numberOf({ labels }: Pick<ContainerFacts, 'labels'>): number {
  return parseRunLabel(labels)?.number ?? 0
}
