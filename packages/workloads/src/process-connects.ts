/**
 * `exec` and `attach` of a Process: the handlers of its subresources.
 *
 * `exec` runs a command beside the process, with its working directory and its environment. `attach` connects a person with the
 * terminal of the process itself: what is typed goes to the program, and what it shows comes back.
 *
 * Invariants: both need a run that is alive, and end with it; whoever leaves ends the command of `exec`, and never the process.
 */
import { ApiError } from 'evenkeel'
import type { ConnectHandler, ConnectRequest, ConnectResult } from 'evenkeel/server'
import type { Commands } from './commands.ts'
import type { Files } from './files.ts'
import type { ProcessObject } from './process-kind.ts'
import { planOf, type SeenProcess } from './process-plan.ts'
import type { ProcessIdentity } from './process-host.ts'
import type { Run } from './runs.ts'
import type { Session } from './session.ts'

interface ProcessConnectsOptions {
  readonly session: Session
  readonly commands: Commands
  readonly files: Pick<Files, 'findText'>
  readonly ambient: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** An object as its controller saw it last, with the values that its variables have elsewhere. */
  lastSeen(uid: string): SeenProcess | undefined
}

type AliveRun = Run & { readonly identity: ProcessIdentity }

/** The subresources of a Process for `customResources`. */
export function processConnects(options: ProcessConnectsOptions): Readonly<Record<'exec' | 'attach', ConnectHandler>> {
  const connects = new ProcessConnects(options)
  // Objects that the server hands out fit the schema of their kind.
  return {
    exec: (object, request) => connects.exec(object as unknown as ProcessObject, request),
    attach: (object, request) => connects.attach(object as unknown as ProcessObject, request),
  }
}

class ProcessConnects {
  readonly #options: ProcessConnectsOptions

  constructor(options: ProcessConnectsOptions) {
    this.#options = options
  }

  async exec(process: ProcessObject, request: ConnectRequest): Promise<ConnectResult> {
    const { commands, files, ambient, cwd } = this.#options
    if (request.command.length === 0)
      throw new ApiError('BadRequest', 'exec needs a command: add it to the query as command=PROGRAM&command=ARGUMENT')
    const run = await this.#aliveRun(process)
    const seen = this.#options.lastSeen(process.metadata.uid)
    if (!seen)
      throw new ApiError('ServiceUnavailable', `process ${process.metadata.name} has just been found: try again`)
    const { plan } = await planOf(seen.process, { files, ambient, cwd, ports: run.ports, values: seen.values })
    const over = this.#endOf(run)
    try {
      return await commands.run(
        { command: request.command, cwd: plan.cwd, env: plan.env, mark: run.mark },
        { ...request, signal: AbortSignal.any([request.signal, over.signal]) },
      )
    } finally {
      over.done()
    }
  }

  async attach(process: ProcessObject, request: ConnectRequest): Promise<ConnectResult> {
    const { name } = process.metadata
    const run = await this.#aliveRun(process)
    const terminal = this.#options.commands.terminalOf(run.identity)
    if (!terminal)
      throw new ApiError(
        'BadRequest',
        run.isAdopted && process.spec.terminal === true
          ? `process ${name} was started by an earlier Evenkeel, and its terminal ended with that: restart the process`
          : `process ${name} has no terminal: set spec.terminal to true, or use exec or the log`,
      )
    const { stdin, stdout, resizes, signal } = request
    const over = this.#endOf(run)
    try {
      void typeInto(stdin, (bytes) => terminal.write(bytes))
      void typeInto(resizes, (size) => terminal.resize(size))
      for await (const bytes of terminal.output({ signal })) await stdout.write(bytes)
      return { exitCode: signal.aborted ? 0 : await over.exitCode }
    } finally {
      over.done()
    }
  }

  /** @throws {ApiError} `BadRequest`, when there is no process. */
  async #aliveRun({ metadata: { uid, name }, status }: ProcessObject): Promise<AliveRun> {
    const { session } = this.#options
    await session.open()
    const run = session.runOf(uid)
    if (run?.identity && !run.end && run.stopReason === undefined) return { ...run, identity: run.identity }
    throw new ApiError('BadRequest', `process ${name} does not run (${status?.phase ?? 'not started'}): start it first`)
  }

  /** Aborts when the run has ended. */
  #endOf({ owner, mark }: Run): { signal: AbortSignal; exitCode: Promise<number>; done: () => void } {
    const { session } = this.#options
    const over = new AbortController()
    let report: (exitCode: number) => void = () => undefined
    const exitCode = new Promise<number>((resolve) => {
      report = resolve
    })
    const look = (): void => {
      const run = session.runOf(owner.uid)
      if (run?.mark === mark && !run.end) return
      report(run?.end?.exitCode ?? unknownExit)
      over.abort(new Error('the process has ended'))
    }
    const done = session.onChange(look, { uid: owner.uid })
    look()
    return { signal: over.signal, exitCode, done }
  }
}

/** What is reported for a process whose exit code is not known, as shells do for SIGKILL. */
const unknownExit = 137

async function typeInto<T>(source: AsyncIterable<T>, write: (piece: T) => Promise<void>): Promise<void> {
  try {
    for await (const piece of source) await write(piece)
  } catch {
    // The person has left.
  }
}
