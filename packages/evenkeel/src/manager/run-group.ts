/**
 * Things that run side by side and are stopped together.
 *
 * Invariants: `stop` resolves only when everything that was started has ended; the first failure is told at once, later
 * ones and those after a stop are logged; nothing that a task throws, at once or later, gets lost or goes unhandled.
 */
import { abortable, deadline, deferred, LightAbortController, type Clock, type Logger } from '#base'

/** Something with a name that runs until it is told to stop. */
export interface Task {
  readonly name: string
  /** What it is at, for the report of what did not stop in time. @default its name */
  describe?(): string
  /** Ends soon after the signal aborts. Calls `ready` when it has begun to do what it is for. */
  run(signal: AbortSignal, ready: () => void): Promise<void>
}

interface RunGroupOptions {
  readonly log: Logger
  /** A task failed before anybody asked it to stop. */
  readonly onFailure: (error: unknown, task: string) => void
}

export class RunGroup {
  readonly name: string
  readonly #options: RunGroupOptions
  /** Made for the first who needs it: most groups stay empty. */
  #made: LightAbortController | undefined
  readonly #running = new Map<Task, Promise<void>>()

  constructor(name: string, options: RunGroupOptions) {
    this.name = name
    this.#options = options
  }

  get #stopping(): LightAbortController {
    return (this.#made ??= new LightAbortController())
  }

  /** What has not ended. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map((task) => task.describe?.() ?? task.name)
  }

  /** Starts a task; resolves when it is ready or has ended, however it ended. After a stop nothing is started. */
  start(task: Task): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve()
    const ready = deferred<void>()
    const ended = this.#run(task, ready.resolve).finally(() => {
      this.#running.delete(task)
      ready.resolve()
    })
    this.#running.set(task, ended)
    return ready.promise
  }

  /** Tells everything to stop, and waits for it. */
  async stop(reason: unknown): Promise<void> {
    this.#stopping.abort(reason)
    await Promise.all(this.#running.values())
  }

  async #run(task: Task, ready: () => void): Promise<void> {
    const { signal } = this.#stopping
    try {
      await task.run(signal, ready)
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(error, task.name)
      else if (error !== signal.reason)
        this.#options.log.warn('something failed while it was being stopped', { task: task.name, error })
    }
  }
}

/*
 * Stopping in order, within a time: each group ends before the next is told, and what takes too long is cut off.
 *
 * A promise cannot be killed, so "cut off" means: it is told to stop, no longer waited for, and named.
 */

interface StopOptions {
  readonly reason: unknown
  /** For all groups together; 0 for no time at all, Infinity for as long as it takes. */
  readonly graceMs: number
  readonly clock: Clock
  /** The time is up: whatever else may be done to end things is done now. */
  readonly onGraceOver: () => void
}

/** Something did not stop in time; the process should end, because nobody knows what it still does. */
export class GraceExceededError extends Error {
  override readonly name = 'GraceExceededError'
  /** What was cut off. */
  readonly cut: readonly string[]

  constructor(graceMs: number, cut: readonly string[]) {
    super(`not everything stopped within ${graceMs} ms; cut off: ${cut.join(', ')}`)
    this.cut = cut
  }
}

/** How long the groups whose turn had not come get once the time is up. */
const finalGraceMs = 1000

/** Stops groups one after the other. Resolves with what was cut off, if anything was. */
export async function stopGroups(
  groups: readonly RunGroup[],
  options: StopOptions,
): Promise<GraceExceededError | undefined> {
  const { reason, graceMs, clock, onGraceOver } = options
  const limit = graceMs === Infinity ? undefined : deadline(clock, graceMs)
  const told: RunGroup[] = []
  for (const group of groups) {
    told.push(group)
    if (await endsInTime(group.stop(reason), limit?.signal)) continue
    const error = new GraceExceededError(
      graceMs,
      told.flatMap(({ running }) => running),
    )
    onGraceOver()
    const hurry = deadline(clock, finalGraceMs)
    await endsInTime(Promise.all(groups.map((each) => each.stop(reason))), hurry.signal)
    hurry.done()
    return error
  }
  limit?.done()
  return undefined
}

async function endsInTime(stopped: Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await abortable(stopped, { signal })
    return true
  } catch {
    return false
  }
}
