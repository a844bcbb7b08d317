/**
 * Processes that run schedules, each one at a time.
 *
 * A process of its own for each lane, and not a thread: it is started with the same flags as this one, so that it loads
 * the same files (TypeScript too, if this one does), and a program that ends its process ends only that.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { deferred, type Deferred } from '#base'
import { describeDeviation } from './deviation.ts'
import type { ScheduleJob, ScheduleOutcome, ScheduleRunner, Session, SessionOptions } from './session.ts'

/** What a process is told first. */
export interface WorkerInit {
  readonly module: string
  readonly session: SessionOptions
  /** Of the undisturbed schedule: it must be the same there. */
  readonly hash: string
}

/** What a process says: that it is ready, what a job came to, or why it cannot. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly outcome: ScheduleOutcome }
  | { readonly type: 'failed'; readonly message: string }

const stderrMax = 2000

class WorkerProcess {
  readonly #child: ChildProcess
  #waiting: Deferred<WorkerMessage> | undefined
  #stderr = ''

  constructor() {
    const entry = fileURLToPath(
      new URL(import.meta.url.endsWith('.ts') ? './worker-process.ts' : './worker-process.js', import.meta.url),
    )
    this.#child = fork(entry, [], {
      execArgv: flags(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrMax)
    })
    this.#child.on('message', (said) => {
      this.#waiting?.resolve(said as WorkerMessage)
    })
    this.#child.on('error', (error) => {
      this.#waiting?.reject(error)
    })
    this.#child.on('exit', (code, signal) => {
      this.#waiting?.reject(
        new Error(
          `a process of the exploration ended by itself (${signal ?? `code ${code ?? 0}`})${this.#stderr === '' ? '' : `: ${this.#stderr.trim()}`}`,
        ),
      )
    })
  }

  async request(what: WorkerInit | ScheduleJob): Promise<WorkerMessage> {
    this.#waiting = deferred<WorkerMessage>()
    this.#child.send(what, (error) => {
      if (error) this.#waiting?.reject(error)
    })
    const said = await this.#waiting.promise
    if (said.type === 'failed') throw new Error(said.message)
    return said
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => {
      this.#child.once('exit', resolve)
    })
    this.#child.kill('SIGKILL')
    await ended
  }
}

interface WorkerPoolOptions extends WorkerInit {
  readonly count: number
}

class WorkerPool implements ScheduleRunner {
  readonly #lanes: readonly WorkerProcess[]
  readonly #idle: WorkerProcess[]

  private constructor(lanes: readonly WorkerProcess[]) {
    this.#lanes = lanes
    this.#idle = [...lanes]
  }

  /** @throws {Error} when a process cannot be started, or cannot load the module. */
  static async open({ count, ...opening }: WorkerPoolOptions): Promise<WorkerPool> {
    const pool = new WorkerPool(Array.from({ length: count }, () => new WorkerProcess()))
    try {
      await Promise.all(pool.#lanes.map((lane) => lane.request(opening)))
    } catch (error) {
      await pool.close()
      throw error
    }
    return pool
  }

  get workers(): number {
    return this.#lanes.length
  }

  async run(job: ScheduleJob): Promise<ScheduleOutcome> {
    const lane = this.#idle.pop()
    if (!lane) throw new RangeError('every lane is busy: no more jobs at a time than there are lanes')
    try {
      const said = await lane.request(job)
      if (said.type !== 'done') throw new Error('a process of the exploration answered something else')
      return said.outcome
    } catch (error) {
      throw new Error(
        `the schedule "${job.deviations.map(describeDeviation).join(' and ')}" could not be run: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    } finally {
      this.#idle.push(lane)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }
}

/** The flags of this process, without those that only one can have. */
function flags(): string[] {
  const kept: string[] = []
  const { execArgv } = process
  for (let index = 0; index < execArgv.length; index++) {
    const flag = execArgv[index] ?? ''
    if (/^(?:-e|--eval|-p|--print|-pe)$/.test(flag)) index++
    else if (!/^--(?:inspect|eval|print|input-type|test|watch)/.test(flag)) kept.push(flag)
  }
  return kept
}

/*
 * Who runs the schedules: this process alone, or as many processes as there are cores.
 *
 * Functions cannot be sent to another process, so the others import the module that the program and the scenario come
 * from. Without a module, or where no process can be started, everything runs here, and why is said.
 */

interface WorkersOptions {
  readonly module?: string | URL | undefined
  readonly cores?: number | undefined
  readonly session: SessionOptions
  /** There is enough to do. */
  readonly isWorth: boolean
}

interface Workers {
  readonly runner: ScheduleRunner
  /** Why there is one only, if more were wished for. */
  readonly why?: string
  close(): Promise<void>
}

export async function openWorkers(
  here: Session,
  { module, cores, session, isWorth }: WorkersOptions,
): Promise<Workers> {
  const alone = (why?: string): Workers => ({
    runner: here,
    ...(why !== undefined && { why }),
    close: () => Promise.resolve(),
  })
  if (!isWorth || cores === 1) return alone()
  if (module === undefined)
    return alone(
      cores === undefined
        ? undefined
        : 'the program was given as functions, which cannot be sent to other processes: name its module',
    )
  const count = cores ?? availableParallelism()
  if (count === 1) return alone()
  try {
    const pool = await WorkerPool.open({ module: String(module), session, hash: here.first.trace.hash, count })
    return { runner: pool, close: () => pool.close() }
  } catch (error) {
    return alone(`other processes could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
