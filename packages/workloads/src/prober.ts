/**
 * Probes of running processes: when they have started, when they are ready, and when they have to be restarted.
 *
 *   startup ──succeeds──▶ readiness, liveness begin          without a startup probe: at once
 *           ──fails `failureThreshold` times──▶ restart      as liveness does
 *   readiness: Ready follows it, both ways                   without one: ready as soon as it has started
 *
 * A log line that was seen stays seen, so such a probe ends with its first success. The others look once per period, as long
 * as the run lasts; nothing is reported but changes. Until the first success of what decides about Ready there are looks in between,
 * at first soon and then less and less often, so that a program that starts fast is ready fast: one that fails does not count.
 *
 * Invariants: at most one check of a probe is under way; `forget` leaves no timer and no check.
 */
import type { Clock } from 'evenkeel/unstable/base'
import type { Files } from './files.ts'
import { LogScanner } from './logs/log-scanner.ts'

interface ProbeSettings {
  readonly http?: {
    readonly path?: string
    readonly port: string
    readonly scheme?: 'http' | 'https'
    readonly headers?: Readonly<Record<string, string>>
    readonly insecureSkipTLSVerify?: boolean
  }
  readonly tcp?: { readonly port: string }
  readonly exec?: { readonly command: readonly string[] }
  readonly logLine?: { readonly contains: string }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly successThreshold?: number
  readonly failureThreshold?: number
}

type ProbeName = 'startup' | 'readiness' | 'liveness'
type ProbeSet = { readonly [Name in ProbeName]?: ProbeSettings }

/** One look at a process, as plain data. */
export type ProbeCheck = { readonly timeoutMs: number } & (
  | {
      readonly type: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      readonly isInsecure: boolean
    }
  | { readonly type: 'tcp'; readonly port: number }
  | {
      readonly type: 'exec'
      readonly command: readonly string[]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
    }
)

export interface ProbeOutcome {
  readonly isOk: boolean
  /** What was seen, for people. */
  readonly output: string
}

/** The seam to whatever is probed. */
export interface ProbeChecks {
  /** Never rejects for a probe that fails: that is an outcome. */
  findHealth(check: ProbeCheck, options?: { readonly signal?: AbortSignal }): Promise<ProbeOutcome>
}

/** What to probe. */
export interface ProbeTarget {
  readonly mark: string
  readonly logFile: string
  readonly errorFile?: string | undefined
  readonly ports: readonly { readonly name: string; readonly port: number }[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface ProbeState {
  readonly hasStarted: boolean
  readonly isReady: boolean
  /** The probe that asks for a restart. */
  readonly failed?: { readonly probe: ProbeName; readonly output: string }
  /** The last failure of a probe that has not asked for a restart. */
  readonly waitsFor?: { readonly probe: ProbeName; readonly output: string }
}

interface ProberOptions {
  readonly clock: Clock
  readonly files: Files
  readonly checks: ProbeChecks
  /** Where a log begins. @default 0 */
  readonly findLogStart?: (path: string) => Promise<number>
}

/** The probes of one run. */
interface Watched {
  readonly target: ProbeTarget
  readonly probes: ProbeSet
  readonly stopping: AbortController
  readonly cancels: Map<ProbeName, () => void>
  readonly onChange: (note: string) => void
  state: ProbeState
}

/** How much of the output of a failed probe is kept. */
const outputLength = 1024

export class Prober {
  readonly #options: ProberOptions
  readonly #watched = new Map<string, Watched>()

  constructor(options: ProberOptions) {
    this.#options = options
  }

  /** Begins to probe a run; does nothing for a run that is probed already. */
  watch(
    target: ProbeTarget,
    { probes, onChange }: { readonly probes: ProbeSet; readonly onChange: (note: string) => void },
  ): void {
    if (this.#watched.has(target.mark)) return
    const hasStarted = probes.startup === undefined
    const watched: Watched = {
      target,
      probes,
      onChange,
      stopping: new AbortController(),
      cancels: new Map(),
      state: { hasStarted, isReady: hasStarted && probes.readiness === undefined },
    }
    this.#watched.set(target.mark, watched)
    if (hasStarted) this.#beginOthers(watched)
    else this.#begin(watched, 'startup')
  }

  /** The state of a run; undefined if it is not probed. */
  stateOf(mark: string): ProbeState | undefined {
    return this.#watched.get(mark)?.state
  }

  /** Ends all probes of a run. */
  forget(mark: string): void {
    const watched = this.#watched.get(mark)
    this.#watched.delete(mark)
    watched?.stopping.abort(new Error('the run is over'))
    for (const cancel of watched?.cancels.values() ?? []) cancel()
  }

  close(): void {
    for (const mark of [...this.#watched.keys()]) this.forget(mark)
  }

  #beginOthers(watched: Watched): void {
    this.#begin(watched, 'readiness')
    this.#begin(watched, 'liveness')
  }

  #begin(watched: Watched, name: ProbeName): void {
    const settings = watched.probes[name]
    if (!settings) return
    const { initialDelaySeconds = 0 } = settings
    const scanner = settings.logLine && this.#scannerOf(watched, settings.logLine)
    const counts = { successes: 0, failures: 0 }
    const pace = new ProbePace(this.#options.clock, {
      periodMs: (settings.periodSeconds ?? 1) * 1000,
      isEager: name !== 'liveness',
    })
    const look = async (): Promise<void> => {
      const outcome = await this.#check(watched, { settings, scanner })
      if (watched.stopping.signal.aborted) return
      const { counts: isCounted, afterMs } = pace.next(outcome.isOk)
      if (isCounted) {
        counts.successes = outcome.isOk ? counts.successes + 1 : 0
        counts.failures = outcome.isOk ? 0 : counts.failures + 1
        if (this.#apply(watched, { name, settings, counts, outcome })) return
      }
      this.#after(watched, { name, afterMs, look })
    }
    this.#after(watched, { name, afterMs: initialDelaySeconds * 1000, look })
  }

  /** Looks at both outputs of a run that has two. */
  #scannerOf({ target }: Watched, logLine: { readonly contains: string }): Pick<LogScanner, 'scan'> {
    const { files, findLogStart } = this.#options
    const [first, second] = [target.logFile, target.errorFile].flatMap((path) =>
      path === undefined
        ? []
        : new LogScanner({ files, path, ...logLine, ...(findLogStart && { findStart: () => findLogStart(path) }) }),
    )
    return {
      scan: async () => {
        const found = await first?.scan()
        return found && (found.isOk || !second) ? found : await (second as LogScanner).scan()
      },
    }
  }

  #after(
    watched: Watched,
    { name, afterMs, look }: { readonly name: ProbeName; readonly afterMs: number; readonly look: () => Promise<void> },
  ): void {
    const cancel = this.#options.clock.after(afterMs, () => {
      // `look` handles every failure as an outcome.
      void look()
    })
    watched.cancels.set(name, cancel)
  }

  async #check(
    { target, stopping }: Watched,
    { settings, scanner }: { readonly settings: ProbeSettings; readonly scanner: Pick<LogScanner, 'scan'> | undefined },
  ): Promise<ProbeOutcome> {
    try {
      if (scanner) return await scanner.scan()
      const check = checkOf(settings, target)
      return 'problem' in check
        ? { isOk: false, output: check.problem }
        : await this.#options.checks.findHealth(check, { signal: stopping.signal })
    } catch (error) {
      return { isOk: false, output: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Counts an outcome. Returns whether the probe has nothing more to find out. */
  #apply(watched: Watched, { name, settings, counts, outcome }: Counted): boolean {
    const { successThreshold = 1, failureThreshold = 3 } = settings
    const output = outcome.output.slice(-outputLength)
    if (outcome.isOk && counts.successes >= successThreshold) return this.#succeed(watched, { name, settings })
    if (outcome.isOk || counts.failures < failureThreshold) {
      // Not ready yet is no failure, but people want to know what a process waits for.
      if (!outcome.isOk && counts.failures === 1 && !isDone(name, watched.state))
        this.#set(watched, { ...watched.state, waitsFor: { probe: name, output } })
      return false
    }
    if (name === 'readiness') {
      if (watched.state.isReady)
        this.#set(watched, { ...watched.state, isReady: false, waitsFor: { probe: name, output } })
      return false
    }
    this.#set(watched, { ...watched.state, isReady: false, failed: { probe: name, output } })
    return true
  }

  #succeed(
    watched: Watched,
    { name, settings }: { readonly name: ProbeName; readonly settings: ProbeSettings },
  ): boolean {
    const { waitsFor: _, ...state } = watched.state
    if (name === 'startup') {
      this.#set(watched, { ...state, hasStarted: true, isReady: watched.probes.readiness === undefined })
      this.#beginOthers(watched)
      return true
    }
    if (name === 'readiness' && !state.isReady) this.#set(watched, { ...state, isReady: true })
    return settings.logLine !== undefined
  }

  #set(watched: Watched, state: ProbeState): void {
    watched.state = state
    const { failed, isReady } = state
    watched.onChange(failed ? `its ${failed.probe} probe failed` : isReady ? 'it became ready' : 'a probe changed')
  }
}

/**
 * When a probe looks.
 *
 *   period 1 s    0, 20, 48, 87 ms …, 1 s, 2 s, 3 s     a failure counts at 0, 1 s, 2 s; the first success ends the looks in between
 */
class ProbePace {
  readonly #clock: Clock
  readonly #periodMs: number
  #isEager: boolean
  #soonMs = soonMsMin
  /** When the next failure counts. */
  #dueMs = -Infinity

  constructor(clock: Clock, { periodMs, isEager }: { readonly periodMs: number; readonly isEager: boolean }) {
    this.#clock = clock
    this.#periodMs = periodMs
    this.#isEager = isEager
  }

  /** After a look: whether it counts, and when the next one is due. */
  next(isOk: boolean): { readonly counts: boolean; readonly afterMs: number } {
    const nowMs = this.#clock.monotonic()
    const counts = isOk || nowMs >= this.#dueMs
    if (counts) this.#dueMs = nowMs + this.#periodMs
    if (isOk) this.#isEager = false
    const leftMs = this.#dueMs - nowMs
    if (!this.#isEager) return { counts, afterMs: leftMs }
    const soonMs = this.#soonMs
    this.#soonMs = Math.min(this.#periodMs, soonMs * soonGrowth)
    return { counts, afterMs: Math.min(soonMs, leftMs) }
  }
}

const [soonMsMin, soonGrowth] = [20, 1.4]

interface Counted {
  readonly name: ProbeName
  readonly settings: ProbeSettings
  readonly counts: { readonly successes: number; readonly failures: number }
  readonly outcome: ProbeOutcome
}

function isDone(name: ProbeName, state: ProbeState): boolean {
  return name === 'startup' ? state.hasStarted : name === 'readiness' ? state.isReady : true
}

function checkOf(settings: ProbeSettings, { ports, cwd, env }: ProbeTarget): ProbeCheck | { readonly problem: string } {
  const timeoutMs = (settings.timeoutSeconds ?? 1) * 1000
  if (settings.exec) return { type: 'exec', command: settings.exec.command, cwd, env, timeoutMs }
  const wanted = settings.http?.port ?? settings.tcp?.port ?? ''
  const port = ports.find(({ name }) => name === wanted)?.port ?? Number(wanted)
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    return {
      problem: `the probe names the port ${JSON.stringify(wanted)}, which is neither a number nor in spec.ports`,
    }
  if (!settings.http) return { type: 'tcp', port, timeoutMs }
  const { scheme = 'http', path = '/', headers = {}, insecureSkipTLSVerify = false } = settings.http
  return {
    type: 'http',
    url: `${scheme}://127.0.0.1:${port}${path}`,
    headers,
    isInsecure: insecureSkipTLSVerify,
    timeoutMs,
  }
}
