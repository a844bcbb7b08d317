/**
 * Runs: one start of one object's program each, numbered, and how they are read from the session file.
 *
 * Worked example: the lines `start …/3`, `started …/3`, `stopping …/3 Stopped`, `ended …/3` are run 3, which was stopped and whose
 * process has ended; a later `start …/4` replaces it. Only the last run of an object is kept: the ones before are history, in
 * the status of the object.
 */
import type { Clock } from 'evenkeel/unstable/base'
import { parseMark, type JournalLine, type Lifetime } from './journal.ts'
import type { NamedPort } from './ports.ts'
import type { Launch, ProcessIdentity } from './process-host.ts'
import { markVariable } from './process-table.ts'
import type { Termination } from './termination.ts'

/** The object that a run belongs to. */
export interface RunOwner {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** What to run. */
export interface RunPlan extends Omit<Launch, 'logFile' | 'errorFile'> {
  readonly owner: RunOwner
  /** Stderr has a file of its own. @default false */
  readonly separateStderr?: boolean
  readonly lifetime: Lifetime
  /** What it was started from: a run with another one is out of date. */
  readonly fingerprint: string
  /** The token of the restart request that it answers. */
  readonly token?: string | undefined
  /** Why it is started, for people. */
  readonly cause: string
  /** How often in a row the runs before it failed. */
  readonly failures: number
  /** How often the object was restarted without a request. */
  readonly restarts: number
  readonly ports: readonly NamedPort[]
  /** The names of its variables. */
  readonly variables: readonly string[]
}

/** How the first process of a run ended. */
export interface RunEnd {
  readonly atMs: number
  readonly exitCode?: number
  readonly signal?: string
  /** `Exited`, `Signaled`, or why the exit code is not known: `AdoptedExitUnknown`, `StartUnknown`. */
  readonly reason: string
}

/** A run as others see it. */
export interface Run {
  readonly owner: RunOwner
  readonly number: number
  readonly mark: string
  readonly fingerprint: string
  readonly token?: string
  readonly logFile: string
  /** Of stderr, if it has one of its own. */
  readonly errorFile?: string
  readonly isAdopted: boolean
  readonly startedAtMs: number
  /** By the monotonic clock; of an adopted run the time of the adoption. */
  readonly startedMonotonicMs: number
  readonly endedMonotonicMs?: number
  readonly cause: string
  readonly failures: number
  readonly restarts: number
  readonly ports: readonly NamedPort[]
  readonly variables: readonly string[]
  readonly identity?: ProcessIdentity
  /** Why we end it. */
  readonly stopReason?: string
  readonly end?: RunEnd
  /** Its first process has ended, and no descendant is left. */
  readonly isOver: boolean
}

/** What a line `start` says about a run. */
export interface RunFacts extends Pick<
  Run,
  | 'owner'
  | 'fingerprint'
  | 'token'
  | 'logFile'
  | 'errorFile'
  | 'cause'
  | 'failures'
  | 'restarts'
  | 'ports'
  | 'variables'
> {
  readonly atMs: number
}

/** A run as the session keeps it. */
export interface HeldRun extends Run {
  identity?: ProcessIdentity
  stopReason?: string
  endedMonotonicMs?: number
  end?: RunEnd
  isOver: boolean
  termination?: Termination
}

/** A run that is about to start, or was started by an earlier Evenkeel. */
export function makeRun(
  mark: string,
  {
    number,
    facts,
    isAdopted,
    clock,
  }: {
    readonly number: number
    readonly facts: RunFacts
    readonly isAdopted: boolean
    readonly clock: Clock
  },
): HeldRun {
  const { atMs, ...rest } = facts
  return {
    ...rest,
    number,
    mark,
    isAdopted,
    startedAtMs: atMs,
    startedMonotonicMs: clock.monotonic(),
    isOver: false,
  }
}

/** How the program of a run is started: with its mark in the environment. */
export function launchOf({ mark, logFile, errorFile }: Run, { command, cwd, env, terminal }: RunPlan): Launch {
  return {
    command,
    cwd,
    env: { ...env, [markVariable]: mark },
    logFile,
    ...(errorFile !== undefined && { errorFile }),
    ...(terminal && { terminal }),
  }
}

/** The last run of every object, by its uid, from the lines of a session file. */
export function replay(lines: readonly JournalLine[], clock: Clock): Map<string, HeldRun> {
  const runs = new Map<string, HeldRun>()
  for (const { event, mark, identity, facts } of lines) {
    const parsed = parseMark(mark)
    if (!parsed) continue
    const { uid, number } = parsed
    if (event === 'start')
      runs.set(uid, makeRun(mark, { number, facts: facts as unknown as RunFacts, isAdopted: true, clock }))
    const run = runs.get(uid)
    if (run?.mark !== mark) continue
    if (event === 'started' && identity) run.identity = identity
    if (event === 'stopping' && typeof facts['reason'] === 'string') run.stopReason = facts['reason']
    if (event === 'ended') run.end = facts as unknown as RunEnd
    if (event === 'refused' || event === 'forget') runs.delete(uid)
  }
  return runs
}

/** The lines that a run needs in a new session file. */
export function linesOf(run: HeldRun): JournalLine[] {
  const { owner, fingerprint, token, logFile, errorFile, cause, failures, restarts, ports, variables } = run
  const { mark, identity, end, stopReason, startedAtMs: atMs } = run
  const facts = { owner, fingerprint, token, logFile, errorFile, cause, failures, restarts, ports, variables, atMs }
  return [
    { event: 'start', mark, facts },
    ...(identity ? [{ event: 'started', mark, identity, facts: {} } as const] : []),
    ...(stopReason === undefined ? [] : [{ event: 'stopping', mark, facts: { reason: stopReason } } as const]),
    ...(end ? [{ event: 'ended', mark, ...(identity && { identity }), facts: { ...end } } as const] : []),
  ]
}

/** `exited with code 3`: how a run ended, for people. */
export function describeEnd({ end, stopReason }: Pick<Run, 'end' | 'stopReason'>): string {
  const why = stopReason === undefined ? '' : ` (${stopReason})`
  if (end?.signal !== undefined) return `was ended by ${end.signal}${why}`
  if (end?.exitCode !== undefined) return `exited with code ${end.exitCode}${why}`
  return `ended with an unknown exit code (${end?.reason ?? 'not reported'})`
}
