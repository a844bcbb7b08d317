/**
 * The controller of Processes: compares each object with its last run, takes one step, and writes what it saw.
 *
 * A reconcile never waits for a process. It signals or starts, writes the status, and runs again when the process has
 * changed: exits and probes arrive as events of a channel. At rest there is no timer and no write.
 *
 *   object ─▶ situation ─▶ decide ─▶ keep, end a step further, start, rest ─▶ status, events
 *               ▲ session: the last run      ▲ lifecycle.ts
 *               ▲ dependsOn, restart request, probes
 *
 * Invariants: values of variables are only in the spec and in the process; a restart request is recorded as handled when a run
 * that answers it has started, or when the object is stopped; the finalizer is removed when no process is left.
 */
import { action, type ControllerDeclaration, type ReconcileResult } from 'evenkeel'
import { channelSource, type ManagedContext } from 'evenkeel/controller'
import type { Clock, Logger, Random } from 'evenkeel/unstable/base'
import { ChangeFeed } from './change-feed.ts'
import { envValuesOf, referenceVerbs, type EnvValues } from './env-references.ts'
import { EnvironmentError } from './environment.ts'
import type { Files } from './files.ts'
import { passingReasons } from './launch-failure.ts'
import { decide, type Decision, type Situation } from './lifecycle.ts'
import { declareOrder, dependencyVerbs, missingOf } from './process-dependencies.ts'
import { OwnerWatch } from './owner-watch.ts'
import type { LaunchFailure, ProcessHost } from './process-host.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import type { LogKeeper } from './logs/log-keeper.ts'
import { planOf, probeTarget, runFingerprint, type SeenProcess } from './process-plan.ts'
import {
  reportClosing,
  reportLogs,
  reportRest,
  reportRun,
  reportStopping,
  shortList,
  withPastRun,
} from './process-status.ts'
import { Prober, type ProbeChecks } from './prober.ts'
import { afterEnd, type AfterEnd } from './restart-policy.ts'
import type { Run, RunOwner } from './runs.ts'
import type { PortClaims } from './services/port-claims.ts'
import type { Session } from './session.ts'
import type { ShutdownOrder } from './shutdown-order.ts'
import type { FileWatcher } from './watch/file-watcher.ts'
import { ProcessWatch } from './watch/process-watch.ts'

interface ProcessControllerOptions {
  readonly session: Session
  /** Learns what depends on what. */
  readonly order: ShutdownOrder
  readonly claims: PortClaims
  readonly files: Files
  readonly checks: ProbeChecks
  readonly keeper: LogKeeper
  readonly watcher: FileWatcher
  readonly host: ProcessHost
  readonly clock: Clock
  /** What processes inherit. */
  readonly ambient: Readonly<Record<string, string | undefined>>
  /** Where processes run, and what relative paths begin at. */
  readonly cwd: string
  /** Of the session and the logs. */
  readonly folder: string
  readonly log?: Logger
}

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Process, ManagedContext>['reconcile']>>[1]

/** When to try again what cannot be started now. A file that is missing is looked for without an attempt to start it. */
const [retryMs, portRetryMs, stopRetryMs] = [5000, 1000, 1000]
const restartMs = 10
const concurrency = 64

export class ProcessController {
  readonly prober: Prober
  readonly watch: ProcessWatch
  readonly owners: OwnerWatch
  readonly #options: ProcessControllerOptions
  readonly #feed = new ChangeFeed()
  /** By mark: when a run that ended is due to be followed. */
  readonly #due = new Map<string, AfterEnd & { readonly dueMs: number; readonly dueAt: number }>()
  /** By uid: what the last reconcile saw. */
  readonly #seen = new Map<string, SeenProcess>()
  readonly #start = action('start', {
    form: 'state',
    about: 'Runs the program.',
    patch: { spec: { running: true } },
    enabledWhen: '!object.spec.running',
  })
  readonly #stop = action('stop', {
    form: 'state',
    about: 'Ends the program; the object stays.',
    patch: { spec: { running: false } },
    enabledWhen: 'object.spec.running',
  })
  readonly #restart = action('restart', { form: 'token', about: 'Ends the program and starts it again.' })
  readonly #dependencies = dependencyVerbs(({ spec }: ProcessObject) => spec.dependsOn)
  readonly #references = referenceVerbs()

  constructor(options: ProcessControllerOptions) {
    const { session, clock, files, checks, keeper } = options
    this.#options = options
    this.prober = new Prober({ clock, files, checks, findLogStart: (path) => keeper.findStart(path) })
    const onChange = (owner: RunOwner, note: string): void => {
      this.#feed.push(owner, note)
    }
    this.watch = new ProcessWatch({ ...options, onChange })
    this.owners = new OwnerWatch({ ...options, onChange })
    session.onChange(onChange)
  }

  /** An object as the last reconcile saw it; undefined before the first one. */
  lastSeen(uid: string): SeenProcess | undefined {
    return this.#seen.get(uid)
  }

  declaration(): ControllerDeclaration<typeof Process, ManagedContext> {
    return {
      for: Process,
      concurrency,
      sources: [channelSource({ name: 'processes', events: ({ signal }) => this.#feed.events(signal) })],
      verbs: [...this.#dependencies, ...Object.values(this.#references), this.#start, this.#stop, this.#restart],
      reconcile: (process, context) => this.#reconcile(process, context),
      cleanup: (process, context) => this.#cleanup(process, context),
    }
  }

  async #reconcile(process: ProcessObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session, order } = this.#options
    if (session.isClosing) {
      reportClosing(context.status, { process, run: session.runOf(process.metadata.uid) })
      return { park: 'the program is stopping' }
    }
    declareOrder(process, order)
    await session.open()
    await session.settle(process.metadata.uid)
    const situation = await this.#situation(process, context)
    const decision = decide(situation)
    const result = await this.#perform(decision, { process, context, situation })
    await this.#answerRequest(situation, { uid: process.metadata.uid, context })
    return result
  }

  async #cleanup(process: ProcessObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session } = this.#options
    await session.open()
    const { uid } = process.metadata
    await session.settle(uid)
    const run = session.runOf(uid)
    if (run && !run.isOver) {
      const result = await this.#end(run, {
        process,
        context,
        decision: { reason: 'Deleted', cause: 'the object is being deleted' },
      })
      if (!session.runOf(uid)?.isOver) return result
    }
    if (run) this.#forgetRun(run)
    this.watch.forget(uid)
    this.owners.forget(uid)
    await session.forget(uid)
    this.#seen.delete(uid)
    this.#options.claims.release(uid)
    this.#options.order.forget(uid)
    return undefined
  }

  /* What there is. */

  async #situation(process: ProcessObject, context: Context): Promise<Seen> {
    const { session } = this.#options
    const run = session.runOf(process.metadata.uid)
    const env = await envValuesOf(process, { verbs: this.#references, context })
    this.#seen.set(process.metadata.uid, { process, values: env.values })
    const dependencies = await missingOf(process.spec.dependsOn, { verbs: this.#dependencies, context })
    const request = this.#restart.requested(context)
    return {
      isWanted: process.spec.running ?? true,
      isDeleting: false,
      run,
      ownerGone: await this.owners.look(process, context.status),
      env,
      fingerprint: runFingerprint(process, env, run),
      request: request && { token: request.token, by: request.by ?? 'an unknown user' },
      dependencies: { ...dependencies, missing: dependencies.missing ?? env.missing },
      wish: this.watch.look(process, run),
      failedProbe: run && this.prober.stateOf(run.mark)?.failed,
      afterEnd: (ended) => this.#afterEnd(ended, process, context.random),
    }
  }

  /** The wait is drawn once, so that a reconcile in between does not move it. */
  #afterEnd(run: Run, { spec }: ProcessObject, random: Random): AfterEnd & { readonly leftMs: number } {
    const { clock } = this.#options
    let due = this.#due.get(run.mark)
    if (!due) {
      const after = afterEnd(run, spec.restart ?? {}, random)
      const waitMs = after.then === 'restart' ? after.waitMs : 0
      const ranOutMs = clock.monotonic() - (run.endedMonotonicMs ?? clock.monotonic())
      due = { ...after, dueMs: clock.monotonic() + waitMs - ranOutMs, dueAt: clock.now() + waitMs - ranOutMs }
      this.#due.set(run.mark, due)
    }
    // The policy may have changed since.
    const { then } = afterEnd(run, spec.restart ?? {}, { uint32: () => 0 })
    if (then !== due.then) {
      this.#due.delete(run.mark)
      return this.#afterEnd(run, { spec } as ProcessObject, random)
    }
    return { ...due, leftMs: Math.max(0, due.dueMs - clock.monotonic()) }
  }

  async #perform(
    decision: Decision,
    {
      process,
      context,
      situation,
    }: { readonly process: ProcessObject; readonly context: Context; readonly situation: Seen },
  ): Promise<ReconcileResult | undefined> {
    const { run } = situation
    switch (decision.do) {
      case 'keep':
        if (run) await this.#report(run, process, context)
        return undefined
      case 'end':
        return run && this.#end(run, { process, context, decision })
      case 'start':
        return this.#startRun(decision, { process, context, situation })
      case 'rest': {
        const dueAt = run && this.#due.get(run.mark)?.dueAt
        reportRest(context.status, {
          process,
          run,
          decision,
          ...(decision.phase === 'BackOff' && { nextRestartAtMs: dueAt }),
        })
        return decision.afterMs === undefined ? undefined : { afterMs: decision.afterMs }
      }
    }
  }

  async #end(
    run: Run,
    {
      process,
      context,
      decision,
    }: {
      readonly process: ProcessObject
      readonly context: Context
      readonly decision: { readonly reason: string; readonly cause: string }
    },
  ): Promise<ReconcileResult | undefined> {
    const { signal = 'SIGTERM', gracePeriodSeconds = 10 } = process.spec.stop ?? {}
    const hadBegun = run.stopReason !== undefined || run.end !== undefined
    const failed = this.prober.stateOf(run.mark)?.failed
    if (!hadBegun) context.event({ reason: 'Stopping', note: `run ${run.number} is stopped: ${decision.cause}` })
    const step = await this.#options.session.end(run.owner.uid, {
      signal,
      graceMs: gracePeriodSeconds * 1000,
      reason: decision.reason,
    })
    if (step.killed.length > 0 && step.isOver)
      context.event({
        type: 'Warning',
        reason: 'Killed',
        note: `run ${run.number} did not end within ${gracePeriodSeconds} s: killed ${shortList(step.killed)}`,
      })
    reportStopping(context.status, { process, run, survivors: step.survivors, ...(failed && { failed }) })
    if (!step.isOver) return { afterMs: step.survivors.length > 0 ? step.afterMs : stopRetryMs }
    this.#forgetRun(run)
    return { afterMs: restartMs }
  }

  #forgetRun(run: Run): void {
    this.prober.forget(run.mark)
    this.#options.keeper.forget(run.mark)
  }

  async #startRun(
    { cause, failures, restarts }: Extract<Decision, { readonly do: 'start' }>,
    {
      process,
      context,
      situation,
    }: { readonly process: ProcessObject; readonly context: Context; readonly situation: Seen },
  ): Promise<ReconcileResult | undefined> {
    const { session, files, ambient, cwd } = this.#options
    const { uid, name, namespace = 'default' } = process.metadata
    const requests = (process.spec.ports ?? []).map((one) => ({ name: one.name, port: one.port ?? 0 }))
    const ports = await this.#options.claims.allocate(uid, requests, context)
    if ('reason' in ports) return this.#refuse(ports, { process, context, afterMs: portRetryMs })
    try {
      const { plan, duplicates } = await planOf(process, {
        files,
        ambient,
        cwd,
        ports: ports.ports,
        values: situation.env.values,
      })
      if (duplicates.length > 0)
        context.event({
          type: 'Warning',
          reason: 'DuplicateVariables',
          note: `given twice, the last one counts: ${duplicates.join(', ')}`,
        })
      const last = situation.run
      const started = await session.start(
        {
          ...plan,
          owner: { uid, namespace, name },
          fingerprint: situation.fingerprint,
          token: situation.request?.token ?? last?.token,
          cause,
          failures,
          restarts,
          ports: ports.ports,
          variables: [...new Set((process.spec.env ?? []).map((one) => one.name))].sort(),
        },
        { number: 1 + Math.max(last?.number ?? 0, process.status?.run?.number ?? 0) },
      )
      if ('reason' in started) return this.#refuse(started, { process, context, afterMs: retryMs })
      if (last) this.#due.delete(last.mark)
      withPastRun(context.status, { process, last })
      this.watch.started(process, situation.wish, situation.wish ? (await context.client.list(Process)).items : [])
      context.event({ reason: 'Started', note: `run ${started.number} was started: ${cause}` })
      await this.#report(started, process, context)
      return undefined
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error
      return this.#refuse(
        { reason: 'InvalidEnvironment', message: error.message },
        { process, context, afterMs: retryMs },
      )
    }
  }

  /** It cannot be started now. What only a person can change is looked at again rarely, and without an attempt. */
  #refuse(
    { reason, message }: LaunchFailure,
    {
      process,
      context,
      afterMs,
    }: { readonly process: ProcessObject; readonly context: Context; readonly afterMs: number },
  ): ReconcileResult {
    const isNews = process.status?.conditions?.find(({ type }) => type === 'Started')?.reason !== reason
    if (isNews) context.event({ type: 'Warning', reason, note: message })
    const phase = passingReasons.has(reason) || reason === 'PortTaken' ? 'Waiting' : 'Failed'
    const run = this.#options.session.runOf(process.metadata.uid)
    reportRest(context.status, { process, run, decision: { do: 'rest', phase, reason, message } })
    return { afterMs }
  }

  /** The status of a run that is alive; its probes begin. */
  async #report(run: Run, process: ProcessObject, context: Context): Promise<void> {
    const { keeper } = this.#options
    keeper.keep(run.mark, run, {
      maxBytes: process.spec.log?.maxBytes,
      onChange: () => void this.#feed.push(run.owner, 'its log'),
    })
    if (!this.prober.stateOf(run.mark)) await this.#probe(run, process)
    const state = this.prober.stateOf(run.mark)
    if (state) reportRun(context.status, { process, run, state })
    if (state?.isReady) this.watch.ready(run.owner.uid)
    reportLogs(context.status, keeper.problemsOf(run.mark))
    this.watch.report(context.status, run.owner.uid)
  }

  async #probe(run: Run, process: ProcessObject): Promise<void> {
    const { files, ambient, cwd } = this.#options
    const values = this.#seen.get(process.metadata.uid)?.values ?? new Map<number, string>()
    this.prober.watch(await probeTarget(run, process, { files, ambient, cwd, ports: run.ports, values }), {
      probes: process.spec.probes ?? {},
      onChange: (note) => {
        this.#feed.push(run.owner, note)
      },
    })
  }

  /** A request is handled when a run answers it. A stopped object stays stopped. */
  async #answerRequest(
    { request, isWanted }: Situation,
    { uid, context }: { readonly uid: string; readonly context: Context },
  ): Promise<void> {
    if (!request || (isWanted && this.#options.session.runOf(uid)?.token !== request.token)) return
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

/** A situation, with the values for its next run. */
type Seen = Situation & { readonly env: EnvValues }
