/**
 * The processes of this machine.
 *
 * A program starts in a process group and a session of its own. Its stdout and stderr are its log file, not a pipe: it
 * writes without us, so a slow Evenkeel does not slow it, and a killed one does not end it by SIGPIPE. With a terminal it
 * writes to that, and we pass on to the log file what it shows: such a program ends with Evenkeel.
 *
 * A start takes milliseconds in which nothing else runs: of many that are wanted together each gets a turn of its own, so that exits,
 * probes and stops are not held up by them.
 *
 * Invariants: the identity of a new process is read before the kernel can reap it, in the same turn; a signal is sent in
 * the same turn as the check of the identity; a list includes everything that happened before it was asked for. Lists
 * that are asked for while one is made share the next one: 50 processes that end together cost two lists, not 50.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { nextTurn, SystemClock, type Clock } from 'evenkeel/unstable/base'
import { explainFailure, findProgram } from './launch-failure.ts'
import { OpenTerminal } from './open-terminal.ts'
import { findHolders, readListeners, type Listener } from './port-table.ts'
import {
  formatIdentity,
  isSameProcess,
  type ExitFeed,
  type Launch,
  type LaunchResult,
  type PortHolder,
  type ProcessEntry,
  type ProcessExit,
  type ProcessHost,
  type ProcessIdentity,
  type SignalName,
} from './process-host.ts'
import type { ProcessTable } from './process-table.ts'
import { ScriptTerminals, type Terminals } from './terminal.ts'

interface OsHostOptions {
  readonly table: ProcessTable
  /** @default the clock of this machine */
  readonly clock?: Clock
  /** @default those of the program `script` */
  readonly terminals?: Terminals
}

export class OsProcessHost implements ProcessHost {
  readonly #table: ProcessTable
  readonly #clock: Clock
  readonly #terminals: Terminals
  readonly #openTerminals = new Map<string, OpenTerminal>()
  #subscriber: ((exit: ProcessExit) => void) | undefined
  /** Settles when the list that is being made is complete. */
  #list: Promise<void> | undefined
  /** The list that has not begun. */
  #nextList: Promise<readonly ProcessEntry[]> | undefined
  #nextSinceTicks = Infinity
  /** The table of ports that is about to be read: those who ask in one turn share it. */
  #nextListeners: Promise<readonly Listener[] | undefined> | undefined
  /** Settles when the turn of the last start that is wanted begins. */
  #launches: Promise<void> = Promise.resolve()

  constructor({ table, clock = new SystemClock(), terminals = new ScriptTerminals() }: OsHostOptions) {
    this.#terminals = terminals
    this.#table = table
    this.#clock = clock
  }

  get exits(): ExitFeed {
    return {
      subscribe: (call) => {
        this.#subscriber = call
        return () => {
          if (this.#subscriber === call) this.#subscriber = undefined
        }
      },
    }
  }

  async launch(launch: Launch): Promise<LaunchResult> {
    this.#launches = this.#launches.then(() => nextTurn(this.#clock))
    await this.#launches
    const program = findProgram(launch)
    if ('failure' in program) return program
    const wrapped = launch.terminal ? this.#terminals.wrap(launch) : undefined
    if (wrapped && 'failure' in wrapped) return wrapped
    let child: ChildProcess
    try {
      child = wrapped ? spawnInTerminal({ ...launch, ...wrapped }) : this.#spawn(launch, program.path)
    } catch (error) {
      // Node throws some errors here, and emits others.
      return { failure: explainFailure(error, launch) }
    }
    const { pid } = child
    if (pid === undefined)
      return new Promise((resolve) => {
        child.once('error', (error) => {
          resolve({ failure: explainFailure(error, launch) })
        })
      })
    const identity = { pid, startTicks: this.#table.startTicks(pid) ?? 0, bootId: this.#table.bootId() }
    if (wrapped) this.#openTerminal(child, { launch, identity })
    child.once('exit', (exitCode, signal) => {
      this.#openTerminals.delete(formatIdentity(identity))
      this.#subscriber?.({ identity, ...(exitCode !== null && { exitCode }), ...(signal !== null && { signal }) })
    })
    return { identity }
  }

  /** The terminal of a process that was started with one. */
  terminalOf(identity: ProcessIdentity): OpenTerminal | undefined {
    return this.#openTerminals.get(formatIdentity(identity))
  }

  #openTerminal(
    child: ChildProcess,
    { launch, identity }: { readonly launch: Launch; readonly identity: ProcessIdentity },
  ): void {
    const terminal = new OpenTerminal(child, { terminals: this.#terminals })
    terminal.logTo(launch.logFile)
    this.#openTerminals.set(formatIdentity(identity), terminal)
  }

  #spawn({ command: [argv0 = '', ...args], cwd, env, logFile, errorFile }: Launch, path: string): ChildProcess {
    mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 })
    const log = openSync(logFile, 'a', 0o600)
    const errors = errorFile === undefined ? log : openSync(errorFile, 'a', 0o600)
    try {
      // `unref`: a process that is meant to outlive us does not hold us back.
      const child = spawn(path, args, { argv0, cwd, env, detached: true, stdio: ['ignore', log, errors] })
      child.unref()
      return child
    } finally {
      closeSync(log)
      if (errors !== log) closeSync(errors)
    }
  }

  findProcess(identity: ProcessIdentity): Promise<ProcessEntry | undefined> {
    return Promise.resolve(this.#find(identity))
  }

  #find(identity: ProcessIdentity): ProcessEntry | undefined {
    const entry = identity.bootId === this.#table.bootId() ? this.#table.find(identity.pid) : undefined
    return entry && isSameProcess(entry, identity) ? entry : undefined
  }

  listProcesses(sinceTicks: number): Promise<readonly ProcessEntry[]> {
    this.#nextSinceTicks = Math.min(this.#nextSinceTicks, sinceTicks)
    // One list for all, older processes included: who shares it shares what is made of it.
    return (this.#nextList ??= (this.#list ?? Promise.resolve()).then(() => this.#beginList()))
  }

  /** Waits a turn, so that all who ask in this one share the list. */
  async #beginList(): Promise<readonly ProcessEntry[]> {
    await nextTurn(this.#clock)
    const sinceTicks = this.#nextSinceTicks
    this.#nextList = undefined
    this.#nextSinceTicks = Infinity
    const reading = this.#table.list(sinceTicks, () => nextTurn(this.#clock))
    this.#list = reading.then(
      () => undefined,
      () => undefined,
    )
    return reading
  }

  signalProcess(
    identity: ProcessIdentity,
    signal: SignalName,
    { group = false }: { readonly group?: boolean } = {},
  ): Promise<boolean> {
    const entry = this.#find(identity)
    if (!entry) return Promise.resolve(false)
    return Promise.resolve(send(group && entry.groupId > 1 ? -entry.groupId : entry.pid, signal))
  }

  findBootId(): Promise<string> {
    return Promise.resolve(this.#table.bootId())
  }

  async findPortHolders(ports: readonly number[]): Promise<readonly PortHolder[]> {
    if (ports.length === 0) return []
    this.#nextListeners ??= nextTurn(this.#clock).then(() => {
      this.#nextListeners = undefined
      return readListeners()
    })
    return findHolders(ports, await this.#nextListeners, (pid) => this.#table.find(pid))
  }
}

/** Its output is a pipe; the device is reported on another one. */
function spawnInTerminal({ command: [program = '', ...args], cwd, env, logFile }: Launch): ChildProcess {
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 })
  return spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'ignore', 'pipe'] })
}

function send(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
