/**
 * Commands beside a process: the seam for `exec` and `attach`.
 *
 * A command has a mark of its own below that of the run, `…/3/exec-1`: it ends with the run, by the watchdog as well, and
 * can be ended alone with everything that it started.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { ApiError } from 'evenkeel'
import type { ConnectRequest, ConnectResult } from 'evenkeel/server'
import { onAbort, sleep, type Clock } from 'evenkeel/unstable/base'
import { explainFailure, findProgram } from './launch-failure.ts'
import { OpenTerminal } from './open-terminal.ts'
import type { Launch, LaunchFailure, ProcessHost, ProcessIdentity } from './process-host.ts'
import { markVariable, type ProcessTable } from './process-table.ts'
import type { Terminals } from './terminal.ts'
import { Termination } from './termination.ts'

/** What to run, and for which run. */
export interface CommandLaunch extends Pick<Launch, 'command' | 'cwd' | 'env'> {
  /** Of the run that it belongs to. */
  readonly mark: string
}

export interface Commands {
  /**
   * Runs a command until it has ended, or the signal of the request aborts. Nothing of it is left afterwards.
   *
   * @throws {ApiError} `BadRequest` when it cannot be started
   */
  run(launch: CommandLaunch, request: ConnectRequest): Promise<ConnectResult>
  /** The terminal of a process that was started with one; undefined for any other. */
  terminalOf(identity: ProcessIdentity): OpenTerminal | undefined
}

interface OsCommandsOptions {
  readonly host: ProcessHost & Pick<Commands, 'terminalOf'>
  readonly table: ProcessTable
  readonly terminals: Terminals
  readonly clock: Clock
}

/** How long a command may take to end when its client has left. */
const hangUpMs = 2000

export class OsCommands implements Commands {
  readonly #options: OsCommandsOptions
  #count = 0

  constructor(options: OsCommandsOptions) {
    this.#options = options
  }

  terminalOf(identity: ProcessIdentity): OpenTerminal | undefined {
    return this.#options.host.terminalOf(identity)
  }

  async run(launch: CommandLaunch, request: ConnectRequest): Promise<ConnectResult> {
    const { table } = this.#options
    const mark = `${launch.mark}/exec-${++this.#count}`
    const child = this.#start({ ...launch, env: { ...launch.env, [markVariable]: mark } }, request)
    const { pid } = child
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error]
      throw refusal(explainFailure(error, launch))
    }
    const identity = { pid, startTicks: table.startTicks(pid) ?? 0, bootId: table.bootId() }
    const ended = exitOf(child)
    const stop = onAbort(request.signal, () => {
      void this.#end(identity, mark)
    })
    try {
      const output = this.#connect(child, request)
      const exitCode = await ended
      // What it started in the background holds its output open, and must not stay.
      await this.#end(identity, mark)
      await output
      return { exitCode }
    } finally {
      stop()
    }
  }

  #start(launch: Pick<Launch, 'command' | 'cwd' | 'env'>, { tty }: ConnectRequest): ChildProcess {
    const found = findProgram({ ...launch, logFile: '' })
    if ('failure' in found) throw refusal(found.failure)
    const wrapped = tty ? this.#options.terminals.wrap(launch) : launch
    if ('failure' in wrapped) throw refusal(wrapped.failure)
    const { command, env } = wrapped
    const [argv0 = '', ...args] = command
    try {
      return spawn(tty ? argv0 : found.path, args, {
        ...(!tty && { argv0 }),
        cwd: launch.cwd,
        env,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', tty ? 'pipe' : 'ignore'],
      })
    } catch (error) {
      throw refusal(explainFailure(error, launch))
    }
  }

  /** Resolves when all output was passed on. */
  async #connect(child: ChildProcess, request: ConnectRequest): Promise<void> {
    const { stdin, stdout, stderr, resizes, tty } = request
    const terminal = new OpenTerminal(child, { terminals: this.#options.terminals })
    void pump(stdin, (bytes) => terminal.write(bytes)).then(() => {
      terminal.end()
    })
    if (tty) void pump(resizes, (size) => terminal.resize(size))
    await Promise.all([
      pump(child.stdout, (bytes) => stdout.write(bytes)),
      pump(child.stderr, (bytes) => (tty ? Promise.resolve() : stderr.write(bytes))),
    ])
  }

  async #end(identity: ProcessIdentity, mark: string): Promise<void> {
    const { host, clock } = this.#options
    const termination = new Termination({ host, clock, run: { identity, mark } })
    for (;;) {
      const { isOver, afterMs } = await termination.step({ signal: 'SIGHUP', graceMs: hangUpMs })
      if (isOver) return
      await sleep(clock, Math.min(afterMs, 100))
    }
  }
}

/** Passes everything on, until one side has ended. */
async function pump<T>(source: AsyncIterable<T> | null, write: (piece: T) => Promise<void>): Promise<void> {
  try {
    for await (const piece of source ?? []) await write(piece)
  } catch {
    // The other side has left: its signal ends the command.
  }
}

async function exitOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}

function refusal({ reason, message }: LaunchFailure): ApiError {
  return new ApiError('BadRequest', `the command cannot be started (${reason}): ${message}`)
}
