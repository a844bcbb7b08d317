/**
 * The session: every run that Evenkeel has started, and how it ends. It survives Evenkeel: another one reads the session file
 * and goes on with what still runs.
 *
 *   start ──▶ line `start` ──▶ launch ──▶ line `started` ──▶ … exit ──▶ line `ended` ──▶ descendants gone: over
 *         ↑ crash: nothing runs        ↑ crash: a process with the mark of the run is found
 *
 * After a crash a run that is alive is adopted. Its exit code is then unknown, because only a parent is told: the reason is
 * `AdoptedExitUnknown`. A run whose start has no known outcome counts as ended, never as absent: nothing is started twice.
 *
 * Invariants: an object has at most one run that is not over; `start` refuses a second one; no signal is sent to a process
 * whose identity is not that of a run. Exits of our own processes arrive as events; only adopted ones are looked for, once
 * a second.
 */
import { createLogger, sleep, type Clock, type Logger } from 'evenkeel/unstable/base'
import { RunListeners, type RunListener } from './change-feed.ts'
import { Journal, markOfRun, parseMark, type JournalLine } from './journal.ts'
import { descendantsOf } from './descendants.ts'
import { logPrefix, logsKept } from './logs/run-logs.ts'
import type { Files } from './files.ts'
import {
  formatIdentity,
  isSameProcess,
  type LaunchFailure,
  type ProcessExit,
  type ProcessHost,
  type ProcessIdentity,
} from './process-host.ts'
import {
  describeEnd,
  launchOf,
  linesOf,
  makeRun,
  replay,
  type HeldRun,
  type Run,
  type RunEnd,
  type RunFacts,
  type RunPlan,
} from './runs.ts'
import { endRun, type EndingPlan } from './run-ending.ts'
import type { Watchdog } from './watchdog.ts'
import { Termination, type StopPlan, type TerminationStep } from './termination.ts'

export interface SessionOptions {
  readonly host: ProcessHost
  readonly files: Files
  readonly clock: Clock
  /** Of the session file and the logs; an absolute path. */
  readonly folder: string
  /** Names the session in marks: unique on this machine. Ignored if the folder has a session. */
  readonly name: string
  /** This program: another one is refused while it lives. @default not checked */
  readonly self?: ProcessIdentity
  /** Starts the watchdog of this session. @default none */
  readonly startWatchdog?: (options: { readonly session: string; readonly path: string }) => Watchdog | undefined
  /** Removes the logs whose paths begin so. @default they stay */
  readonly removeLogs?: (prefix: string) => Promise<void>
  /** @default none */
  readonly log?: Logger
}

const adoptedLookMs = 1000
const earlyExitsMax = 100
/** How long the watchdog of an earlier Evenkeel may take. */
const [watchdogMs, watchdogLookMs] = [10_000, 20]
const silent = createLogger({ clock: { now: () => 0 } as Clock, sink: () => undefined })

export class Session {
  readonly #options: SessionOptions
  readonly #journal: Journal
  readonly #log: Logger
  readonly #runs = new Map<string, HeldRun>()
  /** By the identity of its first process, when that is known: exits name no object. */
  readonly #byIdentity = new Map<string, HeldRun>()
  readonly #earlyExits = new Map<string, ProcessExit>()
  readonly #listeners = new RunListeners()
  #name: string
  #stopExits: (() => void) | undefined
  #stopLooking: (() => void) | undefined
  #opening: Promise<void> | undefined
  #watchdog: Watchdog | undefined
  #isClosing = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.#name = options.name
    this.#log = options.log ?? silent
    this.#journal = new Journal({ files: options.files, path: this.path })
  }

  /** The session file. */
  get path(): string {
    return `${this.#options.folder}/session`
  }

  get name(): string {
    return this.#name
  }

  /** Nothing is started any more: the program ends. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Opens the session, once: adopts what an earlier Evenkeel left. @throws when another one has it open, or a call fails. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /**
   * Ends every run that does not outlive Evenkeel, then the watchdog. Nothing is started from now on.
   *
   * @param endAll ends these runs in an order of its own. @default all at once
   * @returns runs that could not be ended
   */
  async close(endAll: (runs: readonly Run[]) => Promise<readonly Run[]> = (runs) => this.#endAtOnce(runs)) {
    this.#isClosing = true
    await this.#opening?.catch(() => undefined)
    const mine = [...this.#runs.values()].filter(({ mark }) => parseMark(mark)?.lifetime === 'session')
    const survivors = await endAll(mine)
    this.#stopExits?.()
    this.#stopLooking?.()
    this.#stopLooking = undefined
    // With survivors the watchdog is left to do what we could not: it ends with us.
    if (survivors.length === 0) await this.#watchdog?.stop()
    return survivors
  }

  async #endAtOnce(runs: readonly Run[]): Promise<readonly Run[]> {
    const left = await Promise.all(runs.map((run) => this.endFully(run, { reason: 'SessionClosed' })))
    return left.flatMap((run) => run ?? [])
  }

  /** Ends a run, however many steps that takes. Returns it when it cannot be ended. */
  endFully(run: Run, plan: EndingPlan): Promise<Run | undefined> {
    return endRun(this, run, { ...plan, clock: this.#options.clock })
  }

  /** Calls back when something about the runs of an object has changed. @param options.uid of this one only */
  onChange(call: RunListener, { uid }: { readonly uid?: string } = {}): () => void {
    return this.#listeners.add(call, uid)
  }

  /** The last run of an object. */
  runOf(uid: string): Run | undefined {
    return this.#runs.get(uid)
  }

  /** The last run of every object. */
  runs(): readonly Run[] {
    return [...this.#runs.values()]
  }

  /**
   * Starts the next run of an object.
   *
   * @throws {Error} when the last one is not over, or when it is not known whether the program was started.
   */
  async start(plan: RunPlan, { number }: { readonly number: number }): Promise<Run | LaunchFailure> {
    const { owner, lifetime, fingerprint, token, cause, failures, restarts, ports, variables } = plan
    const prefix = logPrefix(this.#options.folder, owner, number)
    const last = this.#runs.get(owner.uid)
    if (this.#isClosing) throw new Error('the session is closing: nothing is started any more')
    if (last && !last.isOver)
      throw new Error(`run ${last.number} of ${owner.namespace}/${owner.name} is not over: end it first`)
    const mark = markOfRun(this.#name, { lifetime, uid: owner.uid, number })
    const facts: RunFacts = {
      owner,
      fingerprint,
      ...(token !== undefined && { token }),
      logFile: `${prefix}log`,
      ...(plan.separateStderr && { errorFile: `${prefix}stderr.log` }),
      cause,
      failures,
      restarts,
      ports,
      variables,
      atMs: this.#options.clock.now(),
    }
    await this.#journal.append({ event: 'start', mark, facts: { ...facts } })
    const run = makeRun(mark, { number, facts, isAdopted: false, clock: this.#options.clock })
    this.#runs.set(owner.uid, run)
    return this.#launch(run, { plan, last })
  }

  async #launch(
    run: HeldRun,
    { plan, last }: { readonly plan: RunPlan; readonly last: HeldRun | undefined },
  ): Promise<Run | LaunchFailure> {
    const { mark, owner, number } = run
    const result = await this.#options.host.launch(launchOf(run, plan)).catch(async (error: unknown) => {
      await this.#settle(run)
      if (!run.identity) throw error
      return { identity: run.identity }
    })
    if ('failure' in result) {
      if (last) this.#runs.set(owner.uid, last)
      else this.#runs.delete(owner.uid)
      this.#record({ event: 'refused', mark, facts: {} })
      return result.failure
    }
    this.#identify(run, result.identity)
    this.#record({ event: 'started', mark, identity: result.identity, facts: {} })
    const early = this.#earlyExits.get(formatIdentity(result.identity))
    if (early) this.#onExit(early)
    if (number > logsKept)
      void this.#options.removeLogs?.(logPrefix(this.#options.folder, owner, number - logsKept)).catch(() => undefined)
    return run
  }

  /** Finds out whether the last run of an object was started, if that is not known. */
  async settle(uid: string): Promise<void> {
    const run = this.#runs.get(uid)
    if (run && !run.isOver && !run.identity) await this.#settle(run)
  }

  async #settle(run: HeldRun): Promise<void> {
    const { host, clock } = this.#options
    // On this machine a launch cannot fail after the start: this is what a crash, or a host that is elsewhere, leaves.
    const entries = await host.listProcesses(0)
    const marked = entries.filter(({ mark }) => mark === run.mark)
    const [leader] = marked.toSorted((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)
    if (leader) {
      const identity = { pid: leader.pid, startTicks: leader.startTicks, bootId: await host.findBootId() }
      this.#identify(run, identity)
      this.#record({ event: 'started', mark: run.mark, identity, facts: {} })
      return
    }
    this.#end(run, { atMs: clock.now(), reason: 'StartUnknown' })
    run.isOver = true
  }

  /** Takes the next step to end the run of an object: see {@link Termination}. `reason` says why, in one word. */
  async end(uid: string, { reason, ...plan }: StopPlan & { readonly reason: string }): Promise<TerminationStep> {
    const run = this.#runs.get(uid)
    if (!run?.identity || run.isOver) return { isOver: true, survivors: [], killed: [], afterMs: 0 }
    const { host, clock } = this.#options
    if (run.stopReason === undefined && !run.end) {
      // Before the signal: after a crash the end must not look like a failure of the program.
      await this.#journal.append({ event: 'stopping', mark: run.mark, facts: { reason } })
      run.stopReason = reason
    }
    run.termination ??= new Termination({ host, clock, run: { identity: run.identity, mark: run.mark } })
    const step = await run.termination.step(plan)
    if (!step.isOver) return step
    // The list has no zombies: the exit itself is reported a moment later, but that of an adopted process never.
    if (!run.end && !run.isAdopted) return { ...step, isOver: false, afterMs: adoptedLookMs }
    if (!run.end) this.#end(run, { atMs: clock.now(), reason: 'AdoptedExitUnknown' })
    run.isOver = true
    return step
  }

  /** Forgets an object whose runs are over. */
  async forget(uid: string): Promise<void> {
    const run = this.#runs.get(uid)
    if (!run) return
    await this.#options.removeLogs?.(logPrefix(this.#options.folder, run.owner))
    await this.#journal.append({ event: 'forget', mark: run.mark, facts: {} })
    this.#runs.delete(uid)
    if (run.identity) this.#byIdentity.delete(formatIdentity(run.identity))
  }

  async #open(): Promise<void> {
    const { host, clock, self } = this.#options
    const lines = await this.#journal.read()
    const owner = lines.findLast(({ event }) => event === 'session')
    if (owner) this.#name = owner.mark
    await this.#refuseSecond(owner)
    await this.#waitForWatchdog(owner)
    for (const [uid, run] of replay(lines, clock)) this.#runs.set(uid, run)
    const entries = this.#runs.size > 0 ? await host.listProcesses(0) : []
    for (const run of this.#runs.values()) await this.#adopt(run, entries)
    const session = { event: 'session', mark: this.#name, ...(self && { identity: self }) } as const
    await this.#journal.rewrite([
      { ...session, facts: { atMs: clock.now() } },
      ...[...this.#runs.values()].flatMap(linesOf),
    ])
    this.#stopExits = host.exits.subscribe((exit) => {
      this.#onExit(exit)
    })
    this.#lookAfterAdopted()
    // An attempt that failed after this has left it: there is one for each program.
    this.#watchdog ??= this.#options.startWatchdog?.({ session: this.#name, path: this.path })
    const watchdog = this.#watchdog?.identity
    if (watchdog) await this.#journal.append({ ...session, facts: { atMs: clock.now(), watchdog } })
  }

  /** The watchdog of a killed Evenkeel is about to end its runs: what it leaves is what there is. */
  async #waitForWatchdog(owner: JournalLine | undefined): Promise<void> {
    const { host, clock } = this.#options
    const watchdog = owner?.facts['watchdog'] as ProcessIdentity | undefined
    // Ours: the session was opened in part, and this is the next attempt.
    if (!watchdog || (this.#watchdog && isSameProcess(watchdog, this.#watchdog.identity))) return
    const untilMs = clock.monotonic() + watchdogMs
    while ((await host.findProcess(watchdog)) && clock.monotonic() < untilMs) await sleep(clock, watchdogLookMs)
  }

  async #refuseSecond(owner: JournalLine | undefined): Promise<void> {
    const { self, host, folder } = this.#options
    if (!self || !owner?.identity || isSameProcess(owner.identity, self)) return
    if (await host.findProcess(owner.identity))
      throw new Error(
        `the session in ${folder} is open in Evenkeel with pid ${owner.identity.pid}: stop that one, or use another folder`,
      )
  }

  /** Compares a run of an earlier Evenkeel with the processes that exist. */
  async #adopt(run: HeldRun, entries: Awaited<ReturnType<ProcessHost['listProcesses']>>): Promise<void> {
    const { host, clock } = this.#options
    if (!run.identity) {
      await this.#settle(run)
      return
    }
    const { identity, mark } = run
    const isAlive = (await host.findProcess(identity)) !== undefined
    if (!isAlive && !run.end) this.#end(run, { atMs: clock.now(), reason: 'AdoptedExitUnknown' })
    const isThisBoot = identity.bootId === (await this.#options.host.findBootId())
    run.isOver = !isAlive && (!isThisBoot || descendantsOf({ identity, mark }, entries).length === 0)
    this.#log.info('process of an earlier session', {
      object: run.owner.name,
      namespace: run.owner.namespace,
      pid: identity.pid,
      isAlive,
    })
  }

  #identify(run: HeldRun, identity: ProcessIdentity): void {
    run.identity = identity
    this.#byIdentity.set(formatIdentity(identity), run)
  }

  #onExit(exit: ProcessExit): void {
    const { identity, exitCode, signal } = exit
    const word = formatIdentity(identity)
    const run = this.#byIdentity.get(word)
    this.#byIdentity.delete(word)
    if (!run) {
      // Its launch has not returned yet.
      this.#earlyExits.set(word, exit)
      for (const oldest of [...this.#earlyExits.keys()].slice(0, -earlyExitsMax)) this.#earlyExits.delete(oldest)
      return
    }
    if (run.end) return
    this.#end(run, {
      atMs: this.#options.clock.now(),
      ...(exitCode !== undefined && { exitCode }),
      ...(signal !== undefined && { signal }),
      reason: signal === undefined ? 'Exited' : 'Signaled',
    })
  }

  #end(run: HeldRun, end: RunEnd): void {
    run.end = end
    run.endedMonotonicMs = this.#options.clock.monotonic()
    this.#record({ event: 'ended', mark: run.mark, ...(run.identity && { identity: run.identity }), facts: { ...end } })
    this.#listeners.call(run.owner, `its program ${describeEnd(run)}`)
  }

  /** Only a parent is told about an exit: adopted processes are looked for, as long as there are any. */
  #lookAfterAdopted(): void {
    const { clock, host } = this.#options
    const adopted = [...this.#runs.values()].filter((run) => run.isAdopted && run.identity && !run.end)
    if (adopted.length === 0) return
    this.#stopLooking = clock.after(adoptedLookMs, () => {
      void (async () => {
        for (const run of adopted) {
          if (run.end || !run.identity) continue
          const found = await host.findProcess(run.identity).catch(() => run)
          if (!found && !run.end) this.#end(run, { atMs: clock.now(), reason: 'AdoptedExitUnknown' })
        }
        if (this.#stopLooking) this.#lookAfterAdopted()
      })()
    })
  }

  /** Writes a line that is not waited for: if that fails, it is written with the next one. */
  #record(line: JournalLine): void {
    this.#journal.record(line).catch((error: unknown) => {
      this.#log.warn('cannot write the session file', { path: this.path, error })
    })
  }
}
