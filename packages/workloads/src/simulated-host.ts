/**
 * A machine in memory: processes that do what a script says, in simulated time, and files. For tests and for the Explorer.
 *
 * The first word of a command says how a process behaves; everything else about the machine is as in `os-host.ts`:
 *
 *   serve                 runs until it is signalled
 *   stubborn              ignores everything but SIGKILL
 *   exit CODE AFTER_MS    exits by itself
 *   fork                  starts a child in its group, which survives it
 *   daemon                starts a child in a session of its own, which survives it and ignores SIGTERM
 *   missing, busy, limit  cannot be started
 *
 * Every method returns at once or in simulated time. Exits are reported to the subscriber that was there when the process
 * was started, as a kernel reports them to the parent only.
 */
import type { Clock } from 'evenkeel/unstable/base'
import type { Files } from './files.ts'
import type {
  ExitFeed,
  Launch,
  LaunchFailure,
  LaunchResult,
  PortHolder,
  ProcessEntry,
  ProcessExit,
  ProcessHost,
  ProcessIdentity,
  SignalName,
} from './process-host.ts'
import { markVariable } from './process-table.ts'

interface SimulatedProcess extends ProcessEntry {
  readonly ignoresTerm: boolean
  readonly launch?: Launch
  readonly parent?: (exit: ProcessExit) => void
}

const bootId = 'simulated-boot'
const [pidMin, pidCount] = [1000, 30_000]

const failures: Readonly<Record<string, LaunchFailure>> = {
  missing: { reason: 'NotFound', message: 'missing is in no folder of PATH: /bin. Correct the command' },
  busy: { reason: 'TextFileBusy', message: 'busy: the file is open for writing (ETXTBSY)' },
  limit: { reason: 'ProcessLimit', message: 'limit: the limit of processes of this user is reached (EAGAIN)' },
}

export class SimulatedHost implements ProcessHost {
  readonly #clock: Clock
  readonly #processes = new Map<number, SimulatedProcess>()
  readonly #signals: (readonly [pid: number, signal: SignalName])[] = []
  readonly #listeners = new Map<number, PortHolder>()
  readonly #failures = new Map<string, LaunchFailure>(Object.entries(failures))
  #subscriber: ((exit: ProcessExit) => void) | undefined

  constructor({ clock }: { readonly clock: Clock }) {
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

  launch(launch: Launch): Promise<LaunchResult> {
    const [program = ''] = launch.command
    const failure = this.#failures.get(program)
    if (failure) return Promise.resolve({ failure })
    const pid = this.#add({ launch, command: launch.command.join(' '), ignoresTerm: program === 'stubborn' })
    if (program === 'fork') this.#add({ launch, command: 'child', parentPid: pid, groupId: pid, sessionId: pid })
    if (program === 'daemon') this.#add({ launch, command: 'daemon child', ignoresTerm: true })
    const { startTicks } = this.#at(pid)
    if (program === 'exit')
      this.#clock.after(Number(launch.command[2] ?? 0), () => {
        this.exit(pid, { exitCode: Number(launch.command[1]) })
      })
    return Promise.resolve({ identity: { pid, startTicks, bootId } })
  }

  findProcess(identity: ProcessIdentity): Promise<ProcessEntry | undefined> {
    const found = this.#live(identity)
    return Promise.resolve(found && entryOf(found))
  }

  listProcesses(sinceTicks: number): Promise<readonly ProcessEntry[]> {
    return Promise.resolve(this.processes().filter(({ startTicks }) => startTicks >= sinceTicks))
  }

  signalProcess(
    identity: ProcessIdentity,
    signal: SignalName,
    { group = false }: { readonly group?: boolean } = {},
  ): Promise<boolean> {
    const target = this.#live(identity)
    if (!target) return Promise.resolve(false)
    const targets = [...this.#processes.values()].filter(({ pid, groupId }) =>
      group ? groupId === target.groupId : pid === target.pid,
    )
    for (const one of targets) this.#receive(one, signal)
    return Promise.resolve(true)
  }

  findPortHolders(ports: readonly number[]): Promise<readonly PortHolder[]> {
    return Promise.resolve(ports.flatMap((port) => this.#listeners.get(port) ?? []))
  }

  findBootId(): Promise<string> {
    return Promise.resolve(bootId)
  }

  /* What happens to the machine, for tests. */

  /** The processes that are alive. */
  processes(): readonly ProcessEntry[] {
    return [...this.#processes.values()].map(entryOf)
  }

  /** What a process was started with. */
  launchOf(pid: number): Launch | undefined {
    return this.#processes.get(pid)?.launch
  }

  /** The signals that a process got, in order. */
  signalsOf(pid: number): readonly SignalName[] {
    return this.#signals.filter(([to]) => to === pid).map(([, signal]) => signal)
  }

  /** A process ends by itself. */
  exit(pid: number, end: { readonly exitCode?: number; readonly signal?: string }): void {
    const ended = this.#processes.get(pid)
    if (!ended) return
    this.#processes.delete(pid)
    // As the kernel does: children get process 1 as their parent.
    for (const child of this.#processes.values())
      if (child.parentPid === pid) this.#processes.set(child.pid, { ...child, parentPid: 1 })
    if (ended.parent === this.#subscriber)
      ended.parent?.({ identity: { pid, startTicks: ended.startTicks, bootId }, ...end })
  }

  /** A process that is not ours takes a pid; what had it is gone without a report. */
  takePid(pid: number): void {
    this.#processes.set(pid, {
      pid,
      parentPid: 1,
      groupId: pid,
      sessionId: pid,
      startTicks: this.#ticks() + 1,
      command: 'stranger',
      ignoresTerm: false,
    })
  }

  /** From now on a program listens on a port, or none does. */
  setListener(port: number, holder: Omit<PortHolder, 'port'> | undefined): void {
    if (holder) this.#listeners.set(port, { port, ...holder })
    else this.#listeners.delete(port)
  }

  /** From now on a program cannot be started, or can. */
  setFailure(program: string, failure: LaunchFailure | undefined): void {
    if (failure) this.#failures.set(program, failure)
    else this.#failures.delete(program)
  }

  #add(given: Pick<SimulatedProcess, 'command'> & Partial<SimulatedProcess> & { readonly launch: Launch }): number {
    const mark = given.launch.env[markVariable]
    const pid = this.#choosePid(mark ?? '')
    const isLeader = given.parentPid === undefined && given.command !== 'daemon child'
    this.#processes.set(pid, {
      pid,
      parentPid: 1,
      groupId: pid,
      sessionId: pid,
      startTicks: this.#ticks(),
      ignoresTerm: false,
      ...(mark !== undefined && { mark }),
      ...(isLeader && this.#subscriber && { parent: this.#subscriber }),
      ...given,
    })
    return pid
  }

  /** Follows from the mark: pids differ between sessions, and are the same when a schedule is repeated. */
  #choosePid(mark: string): number {
    let pid = pidMin + ([...mark].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7) % pidCount)
    while (this.#processes.has(pid)) pid++
    return pid
  }

  #receive(target: SimulatedProcess, signal: SignalName): void {
    this.#signals.push([target.pid, signal])
    if (signal === 'SIGKILL' || !target.ignoresTerm) this.exit(target.pid, { signal })
  }

  #live({ pid, startTicks }: ProcessIdentity): SimulatedProcess | undefined {
    const found = this.#processes.get(pid)
    return found?.startTicks === startTicks ? found : undefined
  }

  #at(pid: number): SimulatedProcess {
    const found = this.#processes.get(pid)
    if (!found) throw new RangeError(`there is no process ${pid}`)
    return found
  }

  #ticks(): number {
    return Math.floor(this.#clock.monotonic() / 10)
  }
}

/** What the table shows of a process. */
function entryOf({ launch: _, parent: __, ignoresTerm: ___, ...entry }: SimulatedProcess): ProcessEntry {
  return entry
}

/** Files in memory. */
export class SimulatedFiles implements Files {
  readonly contents: Record<string, string> = {}

  findText(path: string): Promise<string | undefined> {
    return Promise.resolve(this.contents[path])
  }

  findBytes(path: string, { offset, length }: { readonly offset: number; readonly length: number }) {
    const text = this.contents[path]
    return Promise.resolve(
      text === undefined ? undefined : new TextEncoder().encode(text).subarray(offset, offset + length),
    )
  }

  appendText(path: string, text: string): Promise<void> {
    this.contents[path] = (this.contents[path] ?? '') + text
    return Promise.resolve()
  }

  replaceText(path: string, text: string): Promise<void> {
    this.contents[path] = text
    return Promise.resolve()
  }

  removeFile(path: string): Promise<void> {
    delete this.contents[path]
    return Promise.resolve()
  }
}
