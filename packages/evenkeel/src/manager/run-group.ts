/**
 * Tasks that run side by side and stop together.
 *
 * Invariants: `stop` resolves only when every started task has ended; a failure before the stop is reported at once, a
 * failure after it is logged; no error of a task is lost or unhandled.
 *
 * Groups stop one after the other within a grace period. A promise cannot be killed, so a task that exceeds the period is
 * only named in the error and no longer awaited.
 */
import { abortable, deadline, deferred, LightAbortController, type Clock, type Logger } from '#base'

/** A named task that runs until its signal aborts. */
export interface Task {
  readonly name: string
  /** What it does now, for the report of tasks that did not stop in time. @default its name */
  describe?(): string
  /** Ends soon after the signal aborts. Calls `ready` when it is started. */
  run(signal: AbortSignal, ready: () => void): Promise<void>
}

interface RunGroupOptions {
  readonly log: Logger
  /** A task failed before the stop. */
  readonly onFailure: (error: unknown, task: string) => void
}

export class RunGroup {
  readonly name: string
  readonly #options: RunGroupOptions
  /** Created on first use: most groups stay empty. */
  #controller: LightAbortController | undefined
  readonly #running = new Map<Task, Promise<void>>()

  constructor(name: string, options: RunGroupOptions) {
    this.name = name
    this.#options = options
  }

  get #stopping(): LightAbortController {
    return (this.#controller ??= new LightAbortController())
  }

  /** The tasks that have not ended. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map((task) => task.describe?.() ?? task.name)
  }

  /** Starts a task; resolves when it is ready or has ended. Does nothing after a stop. */
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

  /** Aborts all tasks, and waits for their end. */
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
      else if (error !== signal.reason) this.#options.log.warn('task failed while stopping', { task: task.name, error })
    }
  }
}

interface StopOptions {
  readonly reason: unknown
  /** For all groups together; Infinity waits without a limit. */
  readonly graceMs: number
  readonly clock: Clock
  /** Called when the grace period is over. */
  readonly onGraceOver: () => void
}

/** Some tasks did not stop in time. The process should exit, because these tasks may still have effects. */
export class GraceExceededError extends Error {
  override readonly name = 'GraceExceededError'
  /** The tasks that did not stop. */
  readonly tasks: readonly string[]

  constructor(graceMs: number, tasks: readonly string[]) {
    super(`some tasks did not stop within ${graceMs} ms: ${tasks.join(', ')}`)
    this.tasks = tasks
  }
}

/** How long all remaining groups get together after the grace period. */
const finalGraceMs = 1000

/** Stops groups one after the other. Resolves with an error if the grace period was exceeded. */
export async function stopGroups(
  groups: readonly RunGroup[],
  options: StopOptions,
): Promise<GraceExceededError | undefined> {
  const { reason, graceMs, clock, onGraceOver } = options
  const limit = graceMs === Infinity ? undefined : deadline(clock, graceMs)
  const stopped: RunGroup[] = []
  for (const group of groups) {
    stopped.push(group)
    if (await endsInTime(group.stop(reason), limit?.signal)) continue
    const error = new GraceExceededError(
      graceMs,
      stopped.flatMap(({ running }) => running),
    )
    onGraceOver()
    const finalLimit = deadline(clock, finalGraceMs)
    await endsInTime(Promise.all(groups.map((each) => each.stop(reason))), finalLimit.signal)
    finalLimit.done()
    return error
  }
  limit?.done()
  return undefined
}

async function endsInTime(ending: Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await abortable(ending, { signal })
    return true
  } catch {
    return false
  }
}
