/**
 * The seams to the machine: the processes of a host, and their exits. A real one is in `os-host.ts`, a simulated one in
 * `simulated-host.ts`; the controllers and the session know nothing else of the operating system.
 *
 * Every method takes and returns plain data, so that the Explorer can delay, fail and lose each call. A method that only
 * reads is called `find…` or `list…`.
 *
 * A pid alone is not an identity: the kernel gives it to another process later. An identity is pid, start time and boot:
 *
 *   { pid: 812, startTicks: 99120, bootId: '3f1c…' }    started 991.2 s after that boot
 *
 * Invariants of every host: a signal reaches only processes whose identity was checked in the same step; a zombie is not
 * alive; `launch` starts the program in a process group and session of its own, whose id is the pid.
 */

/** A process of this machine, and no other one that gets its pid later. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in ticks since boot. */
  readonly startTicks: number
  readonly bootId: string
}

/** A process as the process table shows it. Zombies are not listed. */
export interface ProcessEntry {
  readonly pid: number
  readonly parentPid: number
  readonly groupId: number
  readonly sessionId: number
  readonly startTicks: number
  /** The command line, shortened. */
  readonly command: string
  /** The value of `EVENKEEL_RUN` in its environment: which run it descends from. Absent if unset or not readable. */
  readonly mark?: string
}

/** What to start. */
export interface Launch {
  /** Program and arguments. A program without a slash is looked up in `PATH` of `env`. */
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Receives stdout and stderr; it is appended to. */
  readonly logFile: string
  /** Receives stderr instead. */
  readonly errorFile?: string
  /** Runs it in a terminal. @default false */
  readonly terminal?: boolean
}

/** Why a program could not be started: a reason for a condition, and a sentence. */
export interface LaunchFailure {
  readonly reason: string
  readonly message: string
}

export type LaunchResult = { readonly identity: ProcessIdentity } | { readonly failure: LaunchFailure }

/** The end of a process that this program started itself. */
export interface ProcessExit {
  readonly identity: ProcessIdentity
  readonly exitCode?: number
  readonly signal?: string
}

/** Exits of the processes that this program started, as they happen. One subscriber at a time. */
export interface ExitFeed {
  /** Replaces the earlier subscriber. Returns a function that ends the subscription. */
  subscribe(call: (exit: ProcessExit) => void): () => void
}

/** Who listens on a port. */
export interface PortHolder {
  readonly port: number
  /** Absent when it belongs to another user. */
  readonly pid?: number
  readonly command?: string
}

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGHUP' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL'

export interface ProcessHost {
  /** Never rejects for a program that cannot be started: that is a `failure`. */
  launch(launch: Launch): Promise<LaunchResult>
  /** The process, if it is alive. */
  findProcess(identity: ProcessIdentity): Promise<ProcessEntry | undefined>
  /** All processes that started at or after these ticks; it may have older ones as well. */
  listProcesses(sinceTicks: number): Promise<readonly ProcessEntry[]>
  /**
   * Sends the signal to this process, or to its whole group. False when it is gone, or when its pid belongs to another
   * process.
   */
  signalProcess(identity: ProcessIdentity, signal: SignalName, options?: { readonly group?: boolean }): Promise<boolean>
  /** Of these ports those that are taken, with the process that listens. */
  findPortHolders(ports: readonly number[]): Promise<readonly PortHolder[]>
  /** Names this boot of the machine. */
  findBootId(): Promise<string>
  readonly exits: ExitFeed
}

/** `812-99120-3f1c…`: an identity as one word, for a status and for the session file. */
export function formatIdentity({ pid, startTicks, bootId }: ProcessIdentity): string {
  return `${pid}-${startTicks}-${bootId}`
}

/** The identity that a word says; undefined for another word. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [, pid = '', startTicks = '', bootId] = /^(\d+)-(\d+)-(.+)$/.exec(text) ?? []
  return bootId === undefined ? undefined : { pid: Number(pid), startTicks: Number(startTicks), bootId }
}

/** Whether an entry of the process table is this process. The table is always one of this boot. */
export function isSameProcess(
  one: Pick<ProcessIdentity, 'pid' | 'startTicks'>,
  other: Pick<ProcessIdentity, 'pid' | 'startTicks'>,
): boolean {
  return one.pid === other.pid && one.startTicks === other.startTicks
}
