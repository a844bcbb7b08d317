/**
 * `evenkeel run`: runs a whole application on this machine, from files or a module, and ends it in order.
 *
 *   files, modules ─▶ objects ─▶ a plane of this folder ─▶ applied, removed what left the files ─▶ live view ─▶ ordered shutdown
 *
 * The package `@evenkeel/workloads` is that of the project; without it this command cannot run.
 */
import { join } from 'node:path'
import type { Ready } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { FileObject, WorkloadsRunnable } from '@evenkeel/workloads'
import { createLogger, deferred, keepHeapHeadroom, onAbort, prettyLines, type Logger } from 'evenkeel/unstable/base'
import type { Command, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { loadProjectWorkloads, type WorkloadsPackage } from '../modules.ts'
import { durationOf } from '../parse.ts'
import { hasWorkloads, loadApplication, type LoadedApplication } from '../run/application.ts'
import { copyOf } from '../run/copy.ts'
import { detach, inheritedEnv, isDetachedChild } from '../run/detach.ts'
import { applyAgain, applyAll } from '../run/inventory.ts'
import { takeLeftovers, type Doubtful } from '../run/leftovers.ts'
import { JsonOutput, PlainOutput, type RunOutput } from '../run/run-output.ts'
import {
  copyNameOf,
  copyOption,
  dataFolderOf,
  refuseSecond,
  removeRecord,
  writeRecord,
  type RunRecord,
} from '../run/run-record.ts'
import { RunSession, type RunEnding } from '../run/run-session.ts'
import { RunView, type RunKey } from '../run/run-view.ts'
import { refOf, type WorkloadRow } from '../run/workload-row.ts'
import { requestWorkloadAction } from '../run/workload-lookup.ts'
import { portOf, serveOptions } from './serve.ts'
import { clientOf, optionsOfPrograms, serveModules } from './up.ts'

const { audit: _, port: _port, ...folderOptions } = serveOptions

export const run: Command = {
  name: 'run',
  about: 'run an application of this folder: processes, tasks, containers',
  usage: '[FILE ...]',
  words: { least: 0, most: Infinity },
  completes: 'files',
  options: {
    ...folderOptions,
    port: { type: 'string', value: 'NUMBER', about: 'the port of the API server (default: 0, any)' },
    namespace: { type: 'string', short: 'n', value: 'NAME', about: 'where the objects are (default: default)' },
    ...copyOption,
    only: { type: 'string', value: 'NAMES', about: 'only these, separated by commas, and what they depend on' },
    detach: { type: 'boolean', short: 'd', about: 'run in the background; evenkeel down stops it' },
    wait: { type: 'boolean', about: 'stop with exit code 1 unless everything is ready in time' },
    timeout: { type: 'string', value: 'TIME', about: 'for --wait: how long (default: 60s)' },
    'exit-on': { type: 'string', value: 'NAME', about: 'stop when this one ends, or when one fails: failure' },
    'shutdown-timeout': { type: 'string', value: 'TIME', about: 'kill what is left after this time (default: 30s)' },
    plain: { type: 'boolean', about: 'print log lines instead of the live view' },
  },
  details:
    'FILE is evenkeel.yaml, app.ts, process-compose.yaml, compose.yaml or Procfile; without one, the first of them that exists. Ctrl-C stops consumers before providers; a second one kills.',
  examples: [
    'evenkeel run',
    'evenkeel run Procfile --plain',
    'evenkeel run --only api',
    'evenkeel run -d --wait',
    'evenkeel run --copy blue',
  ],
  async run(call) {
    const over = deferred<void>()
    const { values, io } = call
    try {
      const workloads = await loadProjectWorkloads(io.cwd)
      const folder = dataFolderOf(values, io.cwd)
      await refuseSecond(folder, workloads)
      const settings = settingsOf(call, folder.path)
      const application = await loadApplication({ call, workloads, until: over.promise })
      if (values.flag('detach')) return await detach(call, { folder, workloads, waits: settings.waitMs !== undefined })
      const exitCode = await new ApplicationRun(call, { ...settings, workloads, application }).run()
      over.resolve()
      await Promise.all(application.modules.map(({ finished }) => finished))
      return exitCode
    } finally {
      over.resolve()
    }
  },
}

interface RunSettings {
  readonly folder: string
  readonly namespace: string
  readonly copy: string | undefined
  readonly port: number
  readonly waitMs: number | undefined
  readonly shutdownMs: number
}

/** @throws {Failure} `usage` */
function settingsOf({ values }: Invocation, folder: string): RunSettings {
  const copy = copyNameOf(values)
  if (copy !== undefined && values.text('namespace') !== undefined)
    throw new Failure('usage', '--copy has a namespace of its own: leave out --namespace')
  if (values.text('timeout') !== undefined && !values.flag('wait'))
    throw new Failure('usage', '--timeout is for --wait', { hint: '--wait --timeout 30s' })
  return {
    folder,
    copy,
    namespace: copy ?? values.text('namespace') ?? 'default',
    port: portOf(values.text('port') ?? '0'),
    waitMs: values.flag('wait') ? durationOf('timeout', values.text('timeout') ?? '60s') : undefined,
    shutdownMs: durationOf('shutdown-timeout', values.text('shutdown-timeout') ?? '30s'),
  }
}

interface ApplicationOptions extends RunSettings {
  readonly workloads: WorkloadsPackage
  readonly application: LoadedApplication
}

class ApplicationRun {
  readonly #call: Invocation
  readonly #options: ApplicationOptions
  readonly #output: RunOutput
  readonly #log: Logger
  readonly #controllersStop = new AbortController()
  readonly #urgent = new AbortController()
  /** `q` is a Ctrl-C. */
  readonly #quit = new AbortController()
  readonly #stops: (() => unknown)[] = []
  #session: RunSession | undefined
  #client: Client | undefined
  #ended: Promise<number> | undefined
  #doubtful: Doubtful = new Map()

  constructor(call: Invocation, options: ApplicationOptions) {
    this.#call = call
    this.#options = options
    this.#output = this.#chooseOutput()
    const { stderr, clock } = call.io
    const printed = prettyLines((text) => stderr.write(text), { color: stderr.isTTY === true })
    this.#log = createLogger({
      clock,
      sink: (record) => {
        if (this.#output instanceof RunView) this.#output.record(record)
        else if (record.level === 'error' || record.level === 'warn') printed(record)
      },
    })
  }

  async run(): Promise<number> {
    const { io } = this.#call
    const { folder } = this.#options
    const endHeadroom = keepHeapHeadroom(io.clock)
    const removeListener = onAbort(io.signal, () => {
      // Nothing was started yet.
      if (!this.#session) this.#controllersStop.abort(io.signal.reason)
    })
    io.onSecondSignal?.(() => {
      this.#urgent.abort(new Error('a second Ctrl-C'))
    })
    try {
      await this.#runControllers()
      return (await this.#ended) ?? 130
    } catch (error) {
      if (isDetachedChild(io.env)) await this.#record({ state: 'failed', message: (error as Error).message })
      throw error
    } finally {
      removeListener()
      endHeadroom()
      await Promise.allSettled(this.#stops.map(async (stop) => stop()))
      if (!isDetachedChild(io.env) || this.#ended) await removeRecord(folder)
    }
  }

  async #runControllers(): Promise<void> {
    const {
      call: { values, io },
    } = { call: this.#call }
    const { application, workloads, folder, port } = this.#options
    const { modules } = application
    const programs = modules.flatMap(({ program }) => program ?? [])
    const given = modules.flatMap(({ controllers }) => controllers)
    const own = hasWorkloads(given)
      ? undefined
      : workloads.workloads({
          folder: join(folder, 'workloads'),
          cwd: io.cwd,
          env: inheritedEnv(io.env),
          log: this.#log,
        })
    const runnables = [...(own?.runnables ?? []), ...modules.flatMap((module) => module.runnables)]
    const { customResources = [], ...programOptions } = optionsOfPrograms(programs)
    const { runControllers } = await import('evenkeel')
    await runControllers(this.#controllersStop.signal, {
      leaderElection: false,
      ...programOptions,
      customResources: [...(own?.customResources ?? []), ...customResources],
      controllers: [...((own?.controllers ?? []) as readonly unknown[] as readonly ControllerDeclaration[]), ...given],
      kinds: modules.flatMap(({ kinds }) => kinds),
      runnables,
      clock: io.clock,
      log: this.#log,
      embedded: true,
      port,
      data: folder,
      // The file store does not support Windows.
      memory: values.flag('memory') || process.platform === 'win32',
      onReady: async (ready) => {
        await this.#begin(ready)
        for (const program of programs) await program.onReady?.(ready)
        this.#ended = this.#follow(runnables.filter(isWorkloads)).finally(() => {
          this.#controllersStop.abort(new Error('the run is over'))
        })
        // It is awaited when the controllers have stopped.
        this.#ended.catch(() => undefined)
      },
    })
  }

  /** Applies the objects, before a controller sees the ones of the last run. */
  async #begin(ready: Ready): Promise<void> {
    const { io } = this.#call
    const { application, namespace, copy, workloads } = this.#options
    const client = clientOf(ready)
    this.#client = client
    await this.#record({ state: 'starting' })
    const { objects, warnings } =
      copy === undefined ? { objects: application.objects, warnings: [] } : copyOf(application.objects, copy)
    for (const warning of warnings) io.stderr.write(`Warning: ${warning}\n`)
    const isPart = this.#call.values.text('only') !== undefined
    const persistent = isPart ? await persistentNames(client, { namespace, signal: io.signal }) : new Set<string>()
    const { removed, deleting } = await applyAll(client, objects, {
      namespace,
      signal: io.signal,
      keep: ({ kind, name }) => persistent.has(`${kind}/${name}`),
    })
    const again = { signal: this.#controllersStop.signal, clock: io.clock }
    for (const one of deleting)
      applyAgain(client, one, again).catch((error: unknown) => {
        if (!again.signal.aborted) this.#output.say((error as Error).message)
      })
    this.#doubtful = await takeLeftovers(client, { namespace, signal: io.signal, workloads })
    const served = await serveModules(ready, application.modules, {
      client,
      stops: this.#stops,
      signal: this.#controllersStop.signal,
    })
    this.#output.begin(this.#heading(ready, served), namesOf(objects))
    for (const { kind, name } of removed)
      this.#output.say(`${kind.toLowerCase()}/${name} is no longer in the files: removing it`)
  }

  #heading({ url, embedded }: Ready, pages: readonly { readonly name: string; readonly url: string }[]): string {
    const { application, namespace, copy } = this.#options
    if (this.#output instanceof JsonOutput)
      this.#output.event({
        event: 'started',
        files: application.files,
        namespace,
        url,
        kubeconfig: embedded?.kubeconfig,
        pid: process.pid,
      })
    const where =
      copy === undefined ? (namespace === 'default' ? '' : ` in namespace ${namespace}`) : ` as copy ${copy}`
    return [
      `Evenkeel runs ${application.files.join(', ')}${where}. Ctrl-C stops it.`,
      ...pages.map((page) => `  ${page.name}  ${page.url}`),
    ].join('\n')
  }

  /** Until the end, and then the shutdown. Returns the exit code. */
  async #follow(parts: readonly WorkloadsRunnable[]): Promise<number> {
    const { values, io } = this.#call
    const { namespace, waitMs, shutdownMs } = this.#options
    const client = this.#client
    if (!client) throw new Error('the application has not started')
    const session = new RunSession({
      client,
      namespace,
      clock: io.clock,
      output: this.#output,
      signal: AbortSignal.any([io.signal, this.#quit.signal]),
      exitOn: values.text('exit-on'),
      waitMs,
      doubtful: this.#doubtful,
      followsLogs: !isDetachedChild(io.env),
      onReady: async () => {
        await this.#record({ state: 'ready' })
        this.#output.say(`All ${session.rows().length} workloads are ready.`)
      },
    })
    this.#session = session
    const endKeys =
      this.#output instanceof RunView ? io.terminal?.readKeys(this.#output.press.bind(this.#output)) : undefined
    let ending: RunEnding | Error
    try {
      ending = await session.run()
    } catch (error) {
      ending = error as Error
    }
    this.#output.say('Stopping. A second Ctrl-C kills what is left.')
    const reports = await session.shutDown(
      parts.map((part) => part.shutdown),
      { timeoutMs: shutdownMs, urgent: this.#urgent.signal },
    )
    endKeys?.()
    if (ending instanceof Error) throw ending
    const isClean = reports.every(({ outcomes }) => outcomes.every(({ outcome }) => outcome !== 'Survived'))
    if (ending.exitCode !== 0) {
      this.#output.say(ending.why)
      if (isDetachedChild(io.env)) throw new Failure('timeout', ending.why)
    }
    const exitCode = isClean ? ending.exitCode : 1
    this.#output.end(exitCode)
    return exitCode
  }

  #chooseOutput(): RunOutput {
    const { values, io, json } = this.#call
    const { stdout, clock, terminal, env } = io
    if (json) return new JsonOutput(stdout)
    if (stdout.isTTY !== true || values.flag('plain') || !terminal)
      return new PlainOutput(stdout, { hasColour: stdout.isTTY === true && env['NO_COLOR'] === undefined })
    return new RunView({
      stdout,
      clock,
      rows: () => this.#session?.rows() ?? [],
      onKey: (key, row) => {
        this.#press(key, row)
      },
    })
  }

  #press(key: RunKey, row: WorkloadRow | undefined): void {
    const { terminal } = this.#call.io
    if (key === 'suspend')
      terminal?.suspend(() => {
        if (this.#output instanceof RunView) this.#output.resume()
      })
    else if (key === 'quit') {
      if (this.#quit.signal.aborted) this.#urgent.abort(new Error('a second Ctrl-C'))
      this.#quit.abort(new Error('the user stopped it'))
    } else if (row) void this.#act(key, row)
  }

  async #act(key: 'restart' | 'toggle', row: WorkloadRow): Promise<void> {
    const action = key === 'restart' ? 'restart' : row.isWanted ? 'stop' : 'start'
    try {
      if (this.#client) await requestWorkloadAction(this.#client, { ...row, action, signal: this.#call.io.signal })
      this.#output.say(`${action} of ${refOf(row)} requested`)
    } catch (error) {
      this.#output.say((error as Error).message)
    }
  }

  async #record(facts: Pick<RunRecord, 'state' | 'message'>): Promise<void> {
    const { workloads, folder, namespace } = this.#options
    const { pid } = process
    await writeRecord(folder, { pid, startTicks: workloads.systemTable().startTicks(pid) ?? 0, namespace, ...facts })
  }
}

function isWorkloads(runnable: object): runnable is WorkloadsRunnable {
  return 'shutdown' in runnable && typeof runnable.shutdown === 'function'
}

function namesOf(objects: readonly FileObject[]): readonly string[] {
  return objects.map(({ object }) => object.metadata.name)
}

/** Those that go on although a part of the application runs without them. */
async function persistentNames(
  client: Client,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const kind = { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process' }
  const { items } = await client.list(kind, { namespace, signal })
  const persistent = items.filter((item) => (item as { spec?: { lifetime?: string } }).spec?.lifetime === 'Persistent')
  return new Set(persistent.map(({ metadata }) => `Process/${metadata.name ?? ''}`))
}
