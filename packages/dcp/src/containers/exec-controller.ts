/**
 * The controller of ContainerExecs: each is a program that runs once in the container of a Container.
 *
 *   the Container does not run yet ──▶ Starting, waits ──▶ Running ──▶ Finished, with its exit code
 *   it has ended ──▶ FailedToStart          dcp was started again meanwhile, or the answer to the start was lost: Unknown
 *
 * Its output goes to files, each line with its time in front.
 *
 * Invariants: a program is started at most once for an object, also when dcp is killed: `Running` is written before the start; a reconcile
 * never waits for one.
 */
import { RuntimeError, type Exec, type ExecPlan, type Files, type RunOwner } from '@evenkeel/workloads'
import type { ControllerDeclaration, KubeObject, ObjectOf, ReconcileResult, Stored } from 'evenkeel'
import { watching, type ManagedContext } from 'evenkeel/controller'
import { formatMicroTime } from 'evenkeel/unstable/api'
import type { Clock } from 'evenkeel/unstable/base'
import { clusterScoped } from '../controllers/cluster-scoped.ts'
import { SpecError } from '../controllers/service-producers.ts'
import { valueRenderer, ServiceNotReady } from '../controllers/value-templates.ts'
import { Container, ContainerExec } from '../kinds/container.ts'
import { Service } from '../kinds/network.ts'
import type { Values } from '../rules/field-values.ts'
import { variablesOf } from './container-plan.ts'
import { plainName } from './container-starter.ts'
import type { PartOptions } from './network-controller.ts'

interface ExecControllerOptions extends PartOptions {
  readonly files: Files
  readonly clock: Clock
  readonly cwd: string
  /** Where the output goes. */
  readonly folder: string
}

type ExecObject = Stored<ObjectOf<typeof ContainerExec>>
type ContainerObject = Stored<ObjectOf<typeof Container>>
type Context = Parameters<NonNullable<ControllerDeclaration<typeof ContainerExec, ManagedContext>['reconcile']>>[1]

/** A program that was started by this dcp. */
interface Execution {
  readonly stopping: AbortController
  readonly startedAt: string
  readonly plan: ExecPlan
  finishedAt?: string
  exitCode?: number
}

/** How a program is started, and what is started. */
interface Starting {
  readonly plan: ExecPlan
  readonly start: (options: ExecPlan) => Promise<Exec>
}

const finalStates: ReadonlySet<string> = new Set(['Finished', 'FailedToStart', 'Unknown'])

export class ExecController {
  readonly #options: ExecControllerOptions
  readonly #executions = new Map<string, Execution>()
  /** Programs that are about to start: their state is written, and nothing else has happened. */
  readonly #announced = new Set<string>()
  /** By name: the Container that it waits for. */
  readonly #waiting = new Map<string, string>()

  constructor(options: ExecControllerOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof ContainerExec, ManagedContext> {
    return {
      for: ContainerExec,
      watches: [
        watching(Container, { map: ({ metadata }) => this.#waitersFor(metadata.name) }),
        watching(Service, { map: () => [...this.#waiting.keys()].map((name) => ({ name })) }),
      ],
      sources: [clusterScoped('executions', this.#options.feed)],
      reconcile: (exec, context) => this.#reconcile(exec, context),
      cleanup: (exec) => this.#cleanup(exec),
    }
  }

  close(): void {
    for (const { stopping } of this.#executions.values()) stopping.abort(new Error('dcp is stopping'))
  }

  #waitersFor(container: string): readonly { readonly name: string }[] {
    return [...this.#waiting].flatMap(([name, wanted]) => (wanted === container ? [{ name }] : []))
  }

  async #reconcile(exec: ExecObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner } = this.#options
    const { status } = exec
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    if (finalStates.has(status?.state ?? '')) return undefined
    const running = this.#executions.get(exec.metadata.uid)
    if (running) return this.#report(running, exec, context)
    if (status?.state === 'Running' && !this.#announced.has(exec.metadata.uid))
      return this.#lose('dcp was started again', exec, context)
    const wanted = plainName(exec.spec?.containerName ?? '')
    this.#waiting.set(exec.metadata.name, wanted)
    const { items } = await context.client.list(Container)
    const container = items.find(({ metadata }) => metadata.name === wanted)
    if (container?.status?.finishTimestamp) return this.#fail('its Container has ended', exec, context)
    if (container?.status?.state !== 'Running') {
      context.status.set({ state: 'Starting' })
      return undefined
    }
    return this.#begin(container, exec, context)
  }

  async #begin(container: ContainerObject, exec: ExecObject, context: Context): Promise<undefined> {
    const id = container.status?.containerId ?? ''
    try {
      const plan = await this.#planOf(container, exec, context)
      const runtime = await this.#options.containers.findRuntime()
      // A runtime that sleeps is found out before anything is announced.
      await runtime.findContainer(id)
      await this.#announce(exec, context)
      return await this.#start({ plan, start: (options) => runtime.streams.exec(id, options) }, exec, context)
    } catch (error) {
      if (error instanceof ServiceNotReady) {
        context.status.set({ state: 'Starting' })
        return undefined
      }
      if (!(error instanceof SpecError)) throw error
      return this.#fail(error.message, exec, context)
    }
  }

  async #announce({ metadata, ...exec }: ExecObject, { client, signal }: Context): Promise<void> {
    this.#announced.add(metadata.uid)
    await client.subresource('status').patch({ ...exec, metadata }, { status: { state: 'Running' } }, { signal })
  }

  async #start({ plan, start }: Starting, exec: ExecObject, context: Context): Promise<undefined> {
    const execution = { plan, stopping: new AbortController(), startedAt: formatMicroTime(context.clock.now()) }
    // From here on it may have been started, whatever the answer is.
    this.#announced.delete(exec.metadata.uid)
    this.#waiting.delete(exec.metadata.name)
    try {
      const started = await start({ ...plan, signal: execution.stopping.signal })
      this.#executions.set(exec.metadata.uid, execution)
      // Its failure is a part of its end.
      void this.#follow(started, execution, exec)
    } catch (error) {
      const isRefused = error instanceof RuntimeError && error.code !== 'Unavailable'
      const { message } = error as Error
      return isRefused ? this.#fail(message, exec, context) : this.#lose(message, exec, context)
    }
    return this.#report(execution, exec, context)
  }

  async #planOf(container: ContainerObject, exec: ExecObject, { client }: Context): Promise<ExecPlan> {
    const { files, cwd, objectLog } = this.#options
    const { items } = await client.list(Service)
    const { command, args, workingDirectory } = exec.spec ?? {}
    const onProblem = (message: string): void => void objectLog.write(exec, message)
    const findService = (name: string): KubeObject | undefined => items.find(({ metadata }) => metadata.name === name)
    const render = valueRenderer({ object: container, producers: [], chosenPorts: new Map(), findService }, onProblem)
    return {
      command: [command ?? '', ...(args ?? []).map(render)],
      env: await variablesOf((exec.spec ?? {}) as Values, { files, cwd, render }),
      ...(workingDirectory && { workingDir: workingDirectory }),
    }
  }

  /** Reads its output to the end, also when that cannot be written: its exit code is known only then. */
  async #follow({ output, findExitCode }: Exec, execution: Execution, exec: ExecObject): Promise<void> {
    const { clock, feed, objectLog } = this.#options
    const logs = this.#filesOf(exec)
    let problem: unknown
    const note = (error: unknown): void => {
      problem ??= error
    }
    try {
      const writers = { stdout: this.#writer(logs.stdOutFile), stderr: this.#writer(logs.stdErrFile) }
      for await (const { stream, bytes } of output) await writers[stream].write(bytes).catch(note)
      for (const { end } of Object.values(writers)) await end().catch(note)
      execution.exitCode = await findExitCode()
    } catch (error) {
      note(error)
    }
    if (problem !== undefined)
      await objectLog.write(
        exec,
        `its output is not complete: ${problem instanceof Error ? problem.message : String(problem)}`,
      )
    execution.finishedAt = formatMicroTime(clock.now())
    feed.push(ownerOf(exec), 'its program has ended')
  }

  /** Writes whole lines, each with the time at which it was complete. */
  #writer(path: string) {
    const { files, clock } = this.#options
    const decoder = new TextDecoder()
    let rest = ''
    const append = async (lines: readonly string[]): Promise<void> => {
      const now = formatMicroTime(clock.now())
      if (lines.length > 0) await files.appendText(path, lines.map((line) => `${now} ${line}\n`).join(''))
    }
    return {
      async write(bytes: Uint8Array): Promise<void> {
        const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
        rest = lines.pop() ?? ''
        await append(lines)
      },
      end: () => append(rest === '' ? [] : [rest]),
    }
  }

  #report({ plan, startedAt, finishedAt, exitCode }: Execution, exec: ExecObject, { status }: Context): undefined {
    status.set({
      state: finishedAt === undefined ? 'Running' : 'Finished',
      startupTimestamp: startedAt,
      ...(finishedAt !== undefined && { finishTimestamp: finishedAt }),
      ...(exitCode !== undefined && { exitCode }),
      ...this.#filesOf(exec),
      effectiveEnv: Object.entries(plan.env ?? {}).map(([name, value]) => ({ name, value })),
      effectiveArgs: plan.command.slice(1),
    })
    return undefined
  }

  async #fail(why: string, exec: ExecObject, { status, clock }: Context): Promise<undefined> {
    await this.#options.objectLog.write(exec, `it cannot be started: ${why}`)
    this.#waiting.delete(exec.metadata.name)
    status.set({ state: 'FailedToStart', finishTimestamp: formatMicroTime(clock.now()) })
  }

  /** It may have run, and its end is not known. */
  async #lose(why: string, exec: ExecObject, { status, clock }: Context): Promise<undefined> {
    await this.#options.objectLog.write(exec, `it is not known how it ended: ${why}`)
    status.set({ state: 'Unknown', finishTimestamp: formatMicroTime(clock.now()) })
  }

  #filesOf({ metadata: { uid } }: ExecObject) {
    const prefix = `${this.#options.folder}/exec-${uid}`
    return { stdOutFile: `${prefix}.out.log`, stdErrFile: `${prefix}.err.log` }
  }

  async #cleanup(exec: ExecObject): Promise<undefined> {
    const { uid, name } = exec.metadata
    this.#executions.get(uid)?.stopping.abort(new Error('its object is being deleted'))
    this.#executions.delete(uid)
    this.#announced.delete(uid)
    this.#waiting.delete(name)
    for (const path of Object.values(this.#filesOf(exec))) await this.#options.files.removeFile(path)
  }
}

function ownerOf({ metadata: { uid, name } }: ExecObject): RunOwner {
  return { uid, namespace: 'executions', name }
}
