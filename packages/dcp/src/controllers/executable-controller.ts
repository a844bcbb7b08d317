/**
 * The controller of Executables: each is run once, and its status says how that goes.
 *
 *   no run ──▶ may it be started? ──▶ plan: variables, arguments, ports ──status──▶ launch ──▶ Endpoints, probes
 *              └ FailedToStart          └ a Service is missing: waits for it
 *   run ────▶ its program has ended, or it is to end ──▶ no Endpoints ──▶ every process of it is ended ──▶ Finished
 *
 * A reconcile never waits for a process: exits and probes arrive as events of a channel.
 *
 * Invariants: an object has at most one run that was reported as started; the plan is in the status before the program
 * starts; the object is gone only when every process of it is.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ChangeFeed, Files, ProbeChecks, Run, Runner } from '@evenkeel/workloads'
import type { ControllerDeclaration, KubeObject, ObjectOf, ReconcileResult, Stored } from 'evenkeel'
import { watching, type ManagedContext } from 'evenkeel/controller'
import type { Clock } from 'evenkeel/unstable/base'
import { Executable } from '../kinds/executable.ts'
import { Endpoint, Service } from '../kinds/network.ts'
import { type Values } from '../rules/field-values.ts'
import { CertificateFolder } from './certificate-folder.ts'
import { clusterScoped } from './cluster-scoped.ts'
import { ensureEndpoints, removeEndpoints } from './endpoint-objects.ts'
import {
  isDone,
  reportFailed,
  reportFinished,
  reportLost,
  reportRunning,
  reportStarting,
  reportStopping,
  reportWaiting,
} from './executable-status.ts'
import { HealthProbes } from './health-probes.ts'
import { planLaunch, type LaunchPlan } from './launch-plan.ts'
import type { ObjectLog } from './object-log.ts'
import type { PortBook } from './port-book.ts'
import { refusalOf } from './refusals.ts'
import { producersOf, SpecError, type ServiceProducer } from './service-producers.ts'
import { ServiceNotReady, valueRenderer } from './value-templates.ts'

interface ExecutableControllerOptions {
  readonly runner: Runner
  readonly ports: PortBook
  readonly feed: ChangeFeed
  readonly files: Files
  readonly checks: ProbeChecks
  readonly objectLog: ObjectLog
  readonly clock: Clock
  readonly ambient: Readonly<Record<string, string | undefined>>
  /** Where programs run that name no folder. */
  readonly cwd: string
  /** Where hosts look for certificates of programs. */
  readonly sessionFolder: string
}

type ExecutableObject = Stored<ObjectOf<typeof Executable>>
type Context = Parameters<NonNullable<ControllerDeclaration<typeof Executable, ManagedContext>['reconcile']>>[1]

/** As dcp: SIGTERM, and SIGKILL after this time. */
const graceMs = 6000
const [planMs, endRetryMs, concurrency] = [1, 1000, 64]
/** Of runs: no kind of this group has a namespace. */
const namespace = 'executables'

export class ExecutableController {
  readonly #options: ExecutableControllerOptions
  readonly #probes: HealthProbes
  readonly #certificates: CertificateFolder
  /** By uid: what is about to be started. */
  readonly #plans = new Map<string, LaunchPlan>()
  /** By name: the Service that an Executable waits for; while that is not known, any. */
  readonly #waiting = new Map<string, string | undefined>()

  constructor(options: ExecutableControllerOptions) {
    const { runner, feed, clock, checks, files, sessionFolder } = options
    this.#options = options
    this.#probes = new HealthProbes({ clock, checks })
    this.#certificates = new CertificateFolder({ files, folder: sessionFolder })
    runner.session.onChange((owner, note) => {
      feed.push(owner, note)
    })
  }

  declaration(): ControllerDeclaration<typeof Executable, ManagedContext> {
    return {
      for: Executable,
      concurrency,
      owns: [Endpoint],
      watches: [watching(Service, { map: ({ metadata }) => this.#waitersFor(metadata.name) })],
      sources: [clusterScoped('runs', this.#options.feed)],
      reconcile: (executable, context) => this.#reconcile(executable, context),
      cleanup: (executable, context) => this.#cleanup(executable, context),
    }
  }

  close(): void {
    this.#probes.close()
  }

  #waitersFor(service: string): { readonly name: string }[] {
    return [...this.#waiting].flatMap(([name, wanted]) =>
      wanted === undefined || wanted === service ? [{ name }] : [],
    )
  }

  async #reconcile(executable: ExecutableObject, context: Context): Promise<ReconcileResult | undefined> {
    const { session } = this.#options.runner
    const { uid } = executable.metadata
    if (session.isClosing) return { park: 'dcp is stopping' }
    await session.open()
    await session.settle(uid)
    const run = session.runOf(uid)
    if (!run || wasNotStarted(run)) return this.#begin(executable, context)
    if (run.end || run.stopReason !== undefined || executable.spec?.stop === true)
      return this.#end(run, { executable, context, reason: run.end ? 'Ended' : 'Stopped' })
    return this.#report(run, executable, context)
  }

  async #cleanup(executable: ExecutableObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner, ports } = this.#options
    const { uid, name } = executable.metadata
    await runner.session.open()
    await runner.session.settle(uid)
    const run = runner.session.runOf(uid)
    if (run && !run.isOver) {
      const result = await this.#end(run, { executable, context, reason: 'Deleted' })
      if (!runner.session.runOf(uid)?.isOver) return result
    }
    await removeEndpoints(executable, context)
    this.#forgetRun(run, uid)
    await this.#certificates.remove(executable)
    await runner.session.forget(uid)
    ports.release(uid)
    this.#plans.delete(uid)
    this.#waiting.delete(name)
    return undefined
  }

  #forgetRun(run: Run | undefined, uid: string): void {
    this.#probes.forget(uid)
    if (run) this.#options.runner.releaseLog(run)
  }

  /* Before the run. */

  async #begin(executable: ExecutableObject, context: Context): Promise<ReconcileResult | undefined> {
    const { uid } = executable.metadata
    const { status } = executable
    if (isDone(status)) {
      await removeEndpoints(executable, context)
      return undefined
    }
    // The program was started, and the record of it is lost.
    if (status?.state === 'Running' || status?.state === 'Stopping') {
      await removeEndpoints(executable, context)
      reportLost(context.status, context.clock.now())
      return undefined
    }
    if (executable.spec?.start === false && executable.spec.stop !== true) return undefined
    const refusal = refusalOf((executable.spec ?? {}) as Values)
    if (refusal !== undefined) return this.#fail(refusal, executable, context)
    const plan = this.#plans.get(uid) ?? (await this.#plan(executable, context))
    if (!plan) return undefined
    const isReported =
      status?.state === 'Starting' &&
      isDeepStrictEqual([status.effectiveEnv ?? [], status.effectiveArgs ?? []], [plan.env, plan.args])
    if (isReported) return this.#launch(executable, plan, context)
    reportStarting(context.status, plan)
    return { afterMs: planMs }
  }

  /** Undefined when it has to wait, or has failed. */
  async #plan(executable: ExecutableObject, context: Context): Promise<LaunchPlan | undefined> {
    const { files, ambient, cwd, objectLog, ports } = this.#options
    const { uid, name } = executable.metadata
    const waitedFor = this.#waiting.get(name)
    // From before the Services are read: what changes later is an event.
    this.#waiting.set(name, undefined)
    try {
      await this.#certificates.write(executable)
      const plan = await planLaunch(executable, {
        ...{ files, ambient, cwd },
        choosePorts: (services) => ports.choose(uid, services, context.client),
        findService: await serviceFinder(context),
        onProblem: (message) => void objectLog.write(executable, message),
      })
      this.#waiting.delete(name)
      this.#plans.set(uid, plan)
      return plan
    } catch (error) {
      if (error instanceof ServiceNotReady) {
        if (waitedFor !== error.service) await objectLog.write(executable, `waits: ${error.message}`)
        this.#waiting.set(name, error.service)
        reportWaiting(context.status)
        return undefined
      }
      if (error instanceof SpecError) return this.#fail(error.message, executable, context)
      throw error
    }
  }

  async #launch(
    executable: ExecutableObject,
    plan: LaunchPlan,
    context: Context,
  ): Promise<ReconcileResult | undefined> {
    const { runner, cwd, objectLog } = this.#options
    const { uid, name } = executable.metadata
    const { executablePath, workingDirectory } = executable.spec ?? {}
    const started = await runner.session.start(
      {
        owner: { uid, namespace, name },
        command: [executablePath ?? '', ...plan.args],
        cwd: workingDirectory || cwd,
        env: Object.fromEntries(plan.env.map(({ name: variable, value }) => [variable, value])),
        lifetime: 'session',
        separateStderr: true,
        fingerprint: '',
        cause: 'it was created',
        failures: 0,
        restarts: 0,
        ports: plan.ports,
        variables: plan.env.map((one) => one.name),
      },
      { number: 1 + (runner.session.runOf(uid)?.number ?? 0) },
    )
    if ('reason' in started) return this.#fail(started.message, executable, context)
    this.#plans.delete(uid)
    await objectLog.write(
      executable,
      `its program was started with the process id ${started.identity?.pid ?? 'unknown'}`,
    )
    return this.#report(started, executable, context)
  }

  async #fail(why: string, executable: ExecutableObject, { status, clock }: Context): Promise<undefined> {
    await this.#options.objectLog.write(executable, `it cannot be started: ${why}`)
    this.#plans.delete(executable.metadata.uid)
    this.#waiting.delete(executable.metadata.name)
    reportFailed(status, clock.now())
  }

  /* The run. */

  async #report(run: Run, executable: ExecutableObject, context: Context): Promise<undefined> {
    const { runner, objectLog, feed } = this.#options
    const { uid } = executable.metadata
    const probes = executable.spec?.healthProbes ?? []
    const chosenPorts = new Map(run.ports.map(({ name, port }) => [name, port]))
    const producers = await this.#producers(executable)
    runner.keepLog(run)
    if (probes.length > 0)
      this.#probes.watch(uid, {
        spec: (executable.spec ?? {}) as Values,
        render: valueRenderer(
          { object: executable, producers, chosenPorts, findService: await serviceFinder(context) },
          (message) => void objectLog.write(executable, message),
        ),
        onChange: (note) => {
          feed.push(run.owner, note)
        },
      })
    reportRunning(context.status, run, { hasProbes: probes.length > 0, results: this.#probes.resultsOf(uid) })
    await ensureEndpoints(executable, { producers, chosenPorts }, context)
  }

  /** None for an annotation that cannot be read: its program runs all the same. */
  async #producers(executable: KubeObject): Promise<readonly ServiceProducer[]> {
    try {
      return producersOf(executable)
    } catch (error) {
      if (!(error instanceof SpecError)) throw error
      await this.#options.objectLog.write(executable, error.message)
      return []
    }
  }

  async #end(
    run: Run,
    {
      executable,
      context,
      reason,
    }: { readonly executable: ExecutableObject; readonly context: Context; readonly reason: string },
  ): Promise<ReconcileResult | undefined> {
    const { runner, objectLog } = this.#options
    const { uid } = executable.metadata
    this.#probes.forget(uid)
    await removeEndpoints(executable, context)
    const step = await runner.session.end(uid, { signal: 'SIGTERM', graceMs, reason })
    const now = runner.session.runOf(uid) ?? run
    if (!now.end) reportStopping(context.status, now)
    else if (!isDone(executable.status)) {
      await objectLog.write(executable, describeEnd(now))
      reportFinished(context.status, now)
    }
    if (!step.isOver) return { afterMs: step.survivors.length > 0 ? step.afterMs : endRetryMs }
    runner.releaseLog(now)
    return undefined
  }
}

/** A crash came before its program was started, or nothing of it is left: no client has seen it run. */
function wasNotStarted({ end, isOver }: Run): boolean {
  return isOver && end?.reason === 'StartUnknown'
}

async function serviceFinder({ client }: Context): Promise<(name: string) => KubeObject | undefined> {
  const { items } = await client.list(Service)
  return (wanted) => items.find(({ metadata }) => metadata.name === wanted)
}

function describeEnd({ end }: Run): string {
  if (end?.signal !== undefined) return `its program was ended by ${end.signal}`
  return end?.exitCode === undefined
    ? 'its program has ended, with an unknown exit code'
    : `its program has ended with the exit code ${end.exitCode}`
}
