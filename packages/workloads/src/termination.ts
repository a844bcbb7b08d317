/**
 * The end of a run: the signal to its group, a grace period, SIGKILL to every descendant, and then proof that all are gone.
 *
 *   step        who is left              what it does
 *   1           the group                the stop signal, once to each
 *   2…          still some               waits for the exit, or looks again soon
 *   after grace the group, descendants   SIGKILL to the group and to each of them, and again until nothing is left
 *   last        nothing                  over
 *
 * A step never waits: a reconcile takes one, and comes back when a process has ended or after `afterMs`. So an object can be
 * changed or deleted in between, and a thousand runs that end slowly hold up nothing else.
 *
 * Processes that left the group get the stop signal when the group is gone: a server often stops its own helpers first.
 *
 * Invariant: a process gets the stop signal at most once, unless Evenkeel is killed in between.
 */
import type { Clock } from 'evenkeel/unstable/base'
import { descendantsOf, findIn, withoutForwarded, withoutTerminals, type RunSigns } from './descendants.ts'
import {
  formatIdentity,
  type ProcessEntry,
  type ProcessHost,
  type ProcessIdentity,
  type SignalName,
} from './process-host.ts'

interface TerminationOptions {
  readonly host: ProcessHost
  readonly clock: Clock
  readonly run: RunSigns & { readonly identity: ProcessIdentity }
}

/** How a run should end. */
export interface StopPlan {
  readonly signal: SignalName
  readonly graceMs: number
}

/** What is left after a step. */
export interface TerminationStep {
  readonly isOver: boolean
  /** Processes that are still alive. */
  readonly survivors: readonly ProcessEntry[]
  /** Those that were sent SIGKILL, in all steps. */
  readonly killed: readonly ProcessEntry[]
  /** When to look again. */
  readonly afterMs: number
}

/** How soon to look again for processes whose end is not reported to us. */
const [lookMsMin, lookMsMax] = [20, 500]

export class Termination {
  readonly #options: TerminationOptions
  readonly #signalled = new Set<string>()
  readonly #killed = new Map<string, ProcessEntry>()
  /** Every descendant that was seen, by its identity. */
  readonly #known = new Map<string, ProcessEntry>()
  #beganAtMs: number | undefined
  #lookMs = lookMsMin

  constructor(options: TerminationOptions) {
    this.#options = options
  }

  get hasBegun(): boolean {
    return this.#beganAtMs !== undefined
  }

  /** Takes the next step. @throws what the host throws; the step can be taken again. */
  async step({ signal, graceMs }: StopPlan): Promise<TerminationStep> {
    const { clock } = this.#options
    const survivors = await this.#survivors()
    if (survivors.length === 0) return this.#result([], 0)
    this.#beganAtMs ??= clock.monotonic()
    const leftMs = this.#beganAtMs + graceMs - clock.monotonic()
    if (leftMs <= 0) await this.#kill(survivors)
    else await this.#signal(survivors, signal)
    // The exit of the first process is reported; that of another one is not. A terminal whose program has not begun is
    // looked at again: nothing was signalled yet.
    const isLeaderAlive = survivors.some(({ pid }) => pid === this.#options.run.identity.pid)
    const isReported = isLeaderAlive && this.#signalled.size > 0
    this.#lookMs = Math.min(lookMsMax, this.#lookMs * 2)
    return this.#result(survivors, leftMs > 0 ? Math.min(leftMs, isReported ? leftMs : this.#lookMs) : this.#lookMs)
  }

  async #survivors(): Promise<readonly ProcessEntry[]> {
    const { host, run } = this.#options
    const entries = await host.listProcesses(run.identity.startTicks)
    const found = new Set(descendantsOf(run, entries))
    // One that is about to end has lost its environment, and so its mark, before its files are closed.
    for (const known of this.#known.values()) {
      const entry = findIn(entries, known)
      if (entry) found.add(entry)
    }
    for (const entry of found) this.#known.set(formatIdentity(this.#identityOf(entry)), entry)
    return [...found]
  }

  async #signal(survivors: readonly ProcessEntry[], signal: SignalName): Promise<void> {
    const programs = withoutTerminals(survivors)
    const group = programs.filter(({ groupId }) => groupId === this.#options.run.identity.pid)
    const members = withoutForwarded(group.length > 0 ? group : programs)
    for (const entry of members) {
      const identity = this.#identityOf(entry)
      if (this.#signalled.has(formatIdentity(identity))) continue
      await this.#options.host.signalProcess(identity, signal)
      this.#signalled.add(formatIdentity(identity))
    }
  }

  /** The whole group at once, so that nothing in it can start another process meanwhile; then each descendant. */
  async #kill(survivors: readonly ProcessEntry[]): Promise<void> {
    const { host, run } = this.#options
    const ofGroup = survivors.find(({ groupId }) => groupId === run.identity.pid)
    for (const entry of survivors) this.#killed.set(formatIdentity(this.#identityOf(entry)), entry)
    if (ofGroup) await host.signalProcess(this.#identityOf(ofGroup), 'SIGKILL', { group: true })
    for (const entry of survivors)
      if (entry.groupId !== run.identity.pid) await host.signalProcess(this.#identityOf(entry), 'SIGKILL')
  }

  #identityOf({ pid, startTicks }: ProcessEntry): ProcessIdentity {
    return { pid, startTicks, bootId: this.#options.run.identity.bootId }
  }

  #result(survivors: readonly ProcessEntry[], afterMs: number): TerminationStep {
    return { isOver: survivors.length === 0, survivors, killed: [...this.#killed.values()], afterMs }
  }
}
