/**
 * Things that run side by side and are stopped together.
 *
 * Invariants: `stop` resolves only when everything that was started has ended; the first failure is told at once, later
 * ones and those after a stop are logged; nothing that a task throws, at once or later, gets lost or goes unhandled.
 */
import { deferred, LightAbortController } from '#base'
import type { Logger } from '#base'

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
