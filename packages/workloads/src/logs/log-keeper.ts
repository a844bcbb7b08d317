/**
 * The logs of all runs: keeps those of live runs in bounds, and opens all of them for readers.
 *
 * Invariants: one {@link KeptLog} for each path, so readers see a new beginning before bytes are released; a log that has
 * neither a run nor a reader is forgotten.
 */
import { KeptLog, type LogProblems, type LogSeams } from './kept-log.ts'
import type { LogHandle } from './log-files.ts'

/** The files of one run. */
export interface LogPaths {
  readonly logFile: string
  /** Of stderr, when it has a file of its own. */
  readonly errorFile?: string | undefined
}

interface KeepOptions {
  /** @default 50 MiB */
  readonly maxBytes: number | undefined
  /** Called when the problems of a log have changed. */
  readonly onChange: () => void
}

/** A log that is open for reading. */
export interface OpenLog {
  readonly log: KeptLog
  readonly handle: LogHandle
  close(): Promise<void>
}

const defaultBytes = 50 * 1024 * 1024

export class LogKeeper {
  readonly #seams: LogSeams
  readonly #logs = new Map<string, Promise<KeptLog>>()
  readonly #kept = new Map<string, readonly Promise<KeptLog>[]>()
  readonly #problems = new Map<string, () => LogProblems>()
  readonly #releasing = new Set<Promise<void>>()
  #isClosed = false

  constructor(seams: LogSeams) {
    this.#seams = seams
  }

  /** Keeps the logs of a run in bounds; does nothing for a run whose logs are kept already. */
  keep(mark: string, { logFile, errorFile }: LogPaths, { maxBytes = defaultBytes, onChange }: KeepOptions): void {
    if (this.#kept.has(mark) || this.#isClosed) return
    const paths = [logFile, ...(errorFile === undefined ? [] : [errorFile])]
    const logs: KeptLog[] = []
    this.#problems.set(mark, () => Object.assign({}, ...logs.map(({ problems }) => problems)) as LogProblems)
    this.#kept.set(
      mark,
      paths.map(async (path) => {
        const log = await this.#load(path)
        logs.push(log)
        if (!this.#isClosed) log.keep({ maxBytes: Math.floor(maxBytes / paths.length), onChange })
        return log
      }),
    )
    for (const loading of this.#kept.get(mark) ?? [])
      loading.catch((error: unknown) => {
        this.#seams.log?.warn('cannot read the index of a log', { mark, error })
        this.#kept.delete(mark)
      })
  }

  /** What is wrong with the logs of a run. */
  problemsOf(mark: string): LogProblems {
    return this.#problems.get(mark)?.() ?? {}
  }

  /** A run is over: a last look at its logs. */
  forget(mark: string): void {
    const logs = this.#kept.get(mark)
    this.#kept.delete(mark)
    this.#problems.delete(mark)
    for (const loading of logs ?? []) {
      const releasing = this.#release(loading).catch((error: unknown) => {
        this.#seams.log?.warn('cannot save the index of a log', { mark, error })
      })
      this.#releasing.add(releasing)
      void releasing.finally(() => this.#releasing.delete(releasing))
    }
  }

  async #release(loading: Promise<KeptLog>): Promise<void> {
    const log = await loading
    try {
      await log.release()
    } finally {
      this.#drop(log)
    }
  }

  /** Where a log begins: what is before was released. */
  async findStart(path: string): Promise<number> {
    return (await this.#load(path)).startBytes
  }

  /** Opens a log for reading, as it is now; undefined if there is no such file. Close it. */
  async open(path: string): Promise<OpenLog | undefined> {
    const loading = this.#load(path)
    const log = await loading
    const leave = log.addReader()
    // Another reader may have dropped it in between.
    if (!this.#logs.has(path)) this.#logs.set(path, loading)
    const done = (): void => {
      leave()
      this.#drop(log)
    }
    try {
      const handle = await this.#seams.logFiles.access.open(path)
      if (handle) {
        await log.look()
        return {
          log,
          handle,
          close: async () => {
            done()
            await handle.close()
          },
        }
      }
    } catch (error) {
      done()
      throw error
    }
    done()
    return undefined
  }

  /** Removes all files whose path begins so. Readers that have one open read on. */
  async remove(prefix: string): Promise<void> {
    // An index that is being saved would be left.
    await Promise.all(this.#releasing)
    await this.#seams.logFiles.removeLogs(prefix)
  }

  /** Ends all watching. */
  async close(): Promise<void> {
    this.#isClosed = true
    const logs = await Promise.allSettled(this.#logs.values())
    for (const loaded of logs) if (loaded.status === 'fulfilled') loaded.value.close()
    this.#kept.clear()
  }

  #load(path: string): Promise<KeptLog> {
    const known = this.#logs.get(path)
    if (known) return known
    const loading = KeptLog.load(path, this.#seams)
    this.#logs.set(path, loading)
    loading.catch(() => {
      this.#logs.delete(path)
    })
    return loading
  }

  #drop(log: KeptLog): void {
    if (!log.isUsed) this.#logs.delete(log.path)
  }
}
