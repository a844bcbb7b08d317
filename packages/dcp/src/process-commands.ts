/**
 * The commands about single processes: `fork-process`, which starts one outside of our tree, and `stop-process-tree`.
 *
 *   fork-process [--monitor PID] -- PROGRAM ARGS…       prints the process id; with a monitor it waits for either end
 *   stop-process-tree --pid N [--process-start-time T] [--skip-descendants]
 *     SIGTERM to the process ──6 s──▶ SIGKILL to it ──▶ SIGKILL to the descendants that are left
 *
 * Invariant: no process is signalled but the one of that start time, and its descendants.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { systemTable, type ProcessEntry, type ProcessTable } from '@evenkeel/workloads'
import { parseTime } from 'evenkeel/unstable/api'
import { nextTurn, sleep, type Clock } from 'evenkeel/unstable/base'
import { waitForEnd } from './monitored-process.ts'
import { UsageError } from './usage-error.ts'

interface ForkOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string): unknown }
  readonly clock: Clock
  /** The command ends with this process, and leaves the program. */
  readonly monitorPid: number | undefined
  readonly signal: AbortSignal
}

/** Returns the exit code of the command. @throws {UsageError} for a program that cannot be started */
export async function forkProcess([program, ...args]: readonly string[], options: ForkOptions): Promise<number> {
  const { env, stdout, clock, monitorPid, signal } = options
  if (program === undefined) throw new UsageError('fork-process needs a program: fork-process -- PROGRAM ARGS')
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env })
  // Also when the command has ended before.
  child.on('error', () => undefined)
  try {
    await once(child, 'spawn', { signal })
  } catch (error) {
    throw new UsageError(`${program} cannot be started: ${(error as Error).message}`)
  }
  stdout.write(`${child.pid}\n`)
  if (monitorPid === undefined) {
    child.unref()
    return 0
  }
  const code = await firstEnd(child, { clock, monitorPid, signal })
  child.unref()
  return code
}

/** The exit code of the child; 0 when the monitored process has ended first. */
async function firstEnd(
  child: ChildProcess,
  { clock, monitorPid, signal }: Pick<ForkOptions, 'clock' | 'signal'> & { readonly monitorPid: number },
): Promise<number> {
  const over = new AbortController()
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => (typeof code === 'number' ? code : -1))
  const monitored = waitForEnd(monitorPid, { clock, signal: AbortSignal.any([signal, over.signal]) }).then(() => 0)
  try {
    return await Promise.race([ended, monitored])
  } finally {
    over.abort(new Error('one of them has ended'))
    await Promise.allSettled([ended, monitored])
  }
}

interface StopTreeOptions {
  readonly pid: number
  /** As dcp writes it: the time since the start of the machine, counted from the year 1. */
  readonly startTime: string | undefined
  readonly skipsDescendants: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  /** @default those of this machine */
  readonly table?: ProcessTable
}

const [graceMs, lookMs] = [6000, 20]
const [ticksPerSecond, toleranceMs] = [100, 10]

/** Resolves when they have ended. @throws {UsageError} when there is no such process; {@link Error} when some are left */
export async function stopProcessTree(options: StopTreeOptions): Promise<void> {
  const { pid, startTime, skipsDescendants, table = systemTable() } = options
  const root = table.find(pid)
  if (!root) throw new UsageError(`there is no process ${pid}`)
  checkStart(root, startTime)
  const tree = skipsDescendants
    ? []
    : descendants(root, await table.list(root.startTicks, () => nextTurn(options.clock)))
  if (!(await endEach([root], 'SIGTERM', { ...options, table })))
    await endEach([root], 'SIGKILL', { ...options, table })
  await endEach(tree, 'SIGKILL', { ...options, table })
  const left = [root, ...tree].filter((entry) => isAlive(entry, table))
  if (left.length > 0)
    throw new Error(
      `these processes could not be ended: ${left.map((one) => `${one.pid} (${one.command})`).join(', ')}`,
    )
}

/** @throws {UsageError} for a process that was started at another time: it has the id of one that has ended */
function checkStart({ pid, startTicks }: ProcessEntry, startTime: string | undefined): void {
  if (startTime === undefined) return
  const [wanted, origin] = [parseTime(startTime), parseTime('0001-01-01T00:00:00Z')]
  if (wanted === undefined || origin === undefined)
    throw new UsageError(`--process-start-time must be a time such as 0001-01-01T00:16:31.200Z, got ${startTime}`)
  if (Math.abs(wanted - origin - (startTicks * 1000) / ticksPerSecond) > toleranceMs)
    throw new UsageError(`process ${pid} was started at another time: the one that is meant has ended`)
}

/** A child is never older than its parent. */
function descendants(root: ProcessEntry, entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const found = new Map([[root.pid, root]])
  for (let size = 0; size !== found.size;) {
    size = found.size
    for (const entry of entries) {
      const parent = found.get(entry.parentPid)
      if (parent && entry.startTicks >= parent.startTicks) found.set(entry.pid, entry)
    }
  }
  found.delete(root.pid)
  return [...found.values()]
}

/** Signals each, and waits for their ends. Returns whether all have ended. */
async function endEach(
  entries: readonly ProcessEntry[],
  signalName: 'SIGTERM' | 'SIGKILL',
  { table, clock, signal }: { readonly table: ProcessTable; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  const isLeft = (): boolean => entries.some((entry) => isAlive(entry, table))
  for (const entry of entries)
    if (isAlive(entry, table))
      try {
        process.kill(entry.pid, signalName)
      } catch {
        // It has ended in between, or it belongs to another user: then it is named as left.
      }
  const untilMs = clock.monotonic() + graceMs
  while (isLeft() && clock.monotonic() < untilMs) await sleep(clock, lookMs, { signal })
  return !isLeft()
}

function isAlive({ pid, startTicks }: ProcessEntry, table: ProcessTable): boolean {
  return table.find(pid)?.startTicks === startTicks
}
