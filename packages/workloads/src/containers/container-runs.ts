/**
 * Runs of Containers as the lifecycle knows them, read from the container and its labels: nothing else records them.
 *
 * Worked example: object web has run 3 in its status. In the runtime there is
 *
 *   a container with run 3, exited 1     the run is over with exit code 1: the restart policy decides
 *   a container with run 3, running      the run is alive
 *   nothing, and we have seen it alive   another program removed it: RemovedExternally, made again at once
 *   nothing, and we have not             it ended with an earlier Evenkeel: SessionEnded, made again
 *   a container with run 4, created      a start that was cut short: it is started now, or removed
 */
import type { Clock, Random } from 'evenkeel/unstable/base'
import { parseTime } from 'evenkeel/unstable/api'
import { afterEnd, type AfterEnd } from '../restart-policy.ts'
import type { Run, RunOwner } from '../runs.ts'
import type { ContainerObject } from './container-kind.ts'
import { parseRunLabel, type RunLabel } from './container-labels.ts'
import type { ContainerFacts } from './container-runtime.ts'

/** A run, and its container as long as there is one. */
export interface ContainerRun extends Run {
  readonly container?: ContainerFacts
  readonly label: RunLabel
}

/** What the controller remembers of a run between two reconciles; lost with Evenkeel, and then found out again. */
interface RunMemory {
  readonly number: number
  readonly startedMs: number
  endedMs?: number
  wasAlive: boolean
  stopReason?: string
  /** By the monotonic clock: when it was signalled. */
  stoppingSinceMs?: number
  isKilled?: boolean
}

/** Of a run that was ended with the program: it may run again. */
export const closedReason = 'SessionClosed'
const stopReasons: ReadonlySet<string> = new Set([
  closedReason,
  'Deleted',
  'Stopped',
  'RestartRequested',
  'SpecChanged',
  'ProbeFailed',
  'DependencyLost',
])

/** By which a run is known to the prober. */
function markOf({ uid }: RunOwner, number: number): string {
  return `${uid}/${number}`
}

/** What is remembered about a run that is seen for the first time. */
function remember(
  { container, number }: { readonly container: ContainerFacts; readonly number: number },
  { object, clock }: { readonly object: ContainerObject; readonly clock: Clock },
): RunMemory {
  const { startedAtMs, finishedAtMs, state } = container
  const now = clock.monotonic()
  const isOver = state === 'exited' || state === 'removing'
  const ranMs = Math.max(0, (isOver ? (finishedAtMs ?? clock.now()) : clock.now()) - (startedAtMs ?? clock.now()))
  const reason = object.status?.run?.number === number ? object.status.run.reason : undefined
  return {
    number,
    startedMs: now - ranMs,
    ...(isOver && { endedMs: now }),
    wasAlive: !isOver,
    ...(reason !== undefined && stopReasons.has(reason) && { stopReason: reason }),
  }
}

/** The run of a container that was started. */
function runOfContainer(
  container: ContainerFacts,
  { owner, memory, clock }: { readonly owner: RunOwner; readonly memory: RunMemory; readonly clock: Clock },
): ContainerRun | undefined {
  const label = parseRunLabel(container.labels)
  if (!label) return undefined
  const { state, exitCode, finishedAtMs, isOomKilled, startedAtMs } = container
  const isOver = state === 'exited'
  const signal = signalOf(exitCode, isOomKilled)
  return {
    ...label,
    label,
    owner,
    mark: markOf(owner, label.number),
    logFile: container.id,
    isAdopted: false,
    startedAtMs: startedAtMs ?? clock.now(),
    startedMonotonicMs: memory.startedMs,
    ...(memory.endedMs !== undefined && { endedMonotonicMs: memory.endedMs }),
    ...(memory.stopReason !== undefined && { stopReason: memory.stopReason }),
    ...(isOver && {
      end: {
        atMs: finishedAtMs ?? clock.now(),
        ...(exitCode !== undefined && { exitCode }),
        ...(signal !== undefined && { signal }),
        reason: isOomKilled ? 'OOMKilled' : 'Exited',
      },
    }),
    isOver,
    container,
  }
}

const signals: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
}
const signalBase = 128

/** Runtimes have exit codes only: 128 and the number of the signal. A program may exit with such a code by itself. */
function signalOf(exitCode: number | undefined, isOomKilled: boolean): string | undefined {
  if (isOomKilled) return 'SIGKILL'
  return exitCode === undefined ? undefined : signals[exitCode - signalBase]
}

/** The last run in the status, of which there is no container any more. */
export function lostRun(
  { metadata, status }: ContainerObject,
  { memory, clock }: { readonly memory: RunMemory | undefined; readonly clock: Clock },
): ContainerRun | undefined {
  const last = status?.run
  if (last?.number === undefined) return undefined
  const { number, specHash = '', token, cause = '', ports = [], env = [] } = last
  const { uid, name, namespace = 'default' } = metadata
  const finishedAtMs = last.finishedAt === undefined ? undefined : parseTime(last.finishedAt)
  const wasSeen = memory?.number === number && memory.wasAlive
  const stopReason =
    finishedAtMs === undefined
      ? (memory?.stopReason ?? (wasSeen ? 'RemovedExternally' : 'SessionEnded'))
      : stopReasons.has(last.reason ?? '')
        ? last.reason
        : undefined
  const label: RunLabel = {
    ...{
      number,
      fingerprint: specHash,
      cause,
      failures: 0,
      restarts: status?.restarts ?? 0,
      graceSeconds: 10,
      variables: env,
    },
    ...(token !== undefined && { token }),
    ports: ports.map(({ name: portName, port, containerPort = 0 }) => ({ name: portName, port, containerPort })),
  }
  return {
    ...label,
    label,
    owner: { uid, name, namespace },
    mark: markOf({ uid, name, namespace }, number),
    logFile: '',
    isAdopted: false,
    startedAtMs: (last.startedAt === undefined ? undefined : parseTime(last.startedAt)) ?? clock.now(),
    startedMonotonicMs: memory?.startedMs ?? clock.monotonic(),
    endedMonotonicMs: memory?.endedMs ?? clock.monotonic(),
    ...(stopReason !== undefined && { stopReason }),
    end: {
      atMs: finishedAtMs ?? clock.now(),
      ...(last.exitCode !== undefined && { exitCode: last.exitCode }),
      ...(last.signal !== undefined && { signal: last.signal }),
      reason: last.reason ?? 'RemovedExternally',
    },
    isOver: true,
  }
}

/** What is remembered about the last run of each object. */
export class RunMemories {
  readonly #clock: Clock
  readonly #memories = new Map<string, RunMemory>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(uid: string): RunMemory | undefined {
    return this.#memories.get(uid)
  }

  has(uid: string): boolean {
    return this.#memories.has(uid)
  }

  delete(uid: string): void {
    this.#memories.delete(uid)
  }

  /** A run that is about to start. */
  begin(uid: string, number: number): void {
    this.#memories.set(uid, { number, startedMs: this.#clock.monotonic(), wasAlive: true })
  }

  /** The run of a container, with what is remembered about it; undefined for a container that has no run in its labels. */
  runOf(
    container: ContainerFacts,
    { object, owner }: { readonly object: ContainerObject; readonly owner: RunOwner },
  ): ContainerRun | undefined {
    const clock = this.#clock
    const number = parseRunLabel(container.labels)?.number ?? 0
    let memory = this.#memories.get(owner.uid)
    if (memory?.number !== number) memory = remember({ container, number }, { object, clock })
    if (container.state === 'exited') memory.endedMs ??= clock.monotonic()
    else memory.wasAlive = true
    this.#memories.set(owner.uid, memory)
    return runOfContainer(container, { owner, memory, clock })
  }
}

/** When runs that ended are due to be followed. The wait is drawn once, so that a reconcile in between does not move it. */
export class RestartTimes {
  readonly #clock: Clock
  readonly #due = new Map<string, AfterEnd & { readonly dueMs: number; readonly dueAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  afterEnd(
    run: Run,
    { settings, random }: { readonly settings: Parameters<typeof afterEnd>[1]; readonly random: Random },
  ): AfterEnd & { readonly leftMs: number } {
    const clock = this.#clock
    // The policy may have changed since.
    const { then } = afterEnd(run, settings, { uint32: () => 0 })
    let due = this.#due.get(run.mark)
    if (due?.then !== then) {
      const after = afterEnd(run, settings, random)
      const waitMs = after.then === 'restart' ? after.waitMs : 0
      const ranOutMs = clock.monotonic() - (run.endedMonotonicMs ?? clock.monotonic())
      due = { ...after, dueMs: clock.monotonic() + waitMs - ranOutMs, dueAt: clock.now() + waitMs - ranOutMs }
      this.#due.set(run.mark, due)
    }
    return { ...due, leftMs: Math.max(0, due.dueMs - clock.monotonic()) }
  }

  /** By the wall clock, for people. */
  dueAt({ mark }: Run): number | undefined {
    return this.#due.get(mark)?.dueAt
  }

  forget({ mark }: Run): void {
    this.#due.delete(mark)
  }
}
