/**
 * Worker processes that run schedules, each one at a time, or this process alone.
 *
 * Processes, not threads: a worker starts with the same flags as this process, so that it loads the same files
 * (TypeScript too), and a program that ends its process ends only that worker.
 *
 * Functions cannot be sent to another process. So workers import the module of the program and the scenario. Without a
 * module, or when no process can be started, this process runs all schedules, and the result says why.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { deferred, type Deferred } from '#base'
import { describeDeviation } from './deviation.ts'
import type { ScheduleJob, ScheduleOutcome, ScheduleRunner, Session, SessionOptions } from './session.ts'

/** The first message to a worker. */
export interface WorkerInit {
  readonly module: string
  readonly session: SessionOptions
  /** The trace hash of the undisturbed schedule: the worker must get the same. */
  readonly hash: string
}

/** A message from a worker. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly outcome: ScheduleOutcome }
  | { readonly type: 'failed'; readonly message: string }

const stderrMax = 2000

class WorkerProcess {
  readonly #child: ChildProcess
  #response: Deferred<WorkerMessage> | undefined
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
    this.#child.on('message', (message) => {
      this.#response?.resolve(message as WorkerMessage)
    })
    this.#child.on('error', (error) => {
      this.#response?.reject(error)
    })
    this.#child.on('exit', (code, signal) => {
      this.#response?.reject(
        new Error(
          `a worker process exited (${signal ?? `code ${code ?? 0}`})${this.#stderr === '' ? '' : `: ${this.#stderr.trim()}`}`,
        ),
      )
    })
  }

  async request(what: WorkerInit | ScheduleJob): Promise<WorkerMessage> {
    this.#response = deferred<WorkerMessage>()
    this.#child.send(what, (error) => {
      if (error) this.#response?.reject(error)
    })
    const message = await this.#response.promise
    if (message.type === 'failed') throw new Error(message.message)
    return message
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
  readonly #all: readonly WorkerProcess[]
  readonly #idle: WorkerProcess[]

  private constructor(workers: readonly WorkerProcess[]) {
    this.#all = workers
    this.#idle = [...workers]
  }

  /** @throws {Error} when a worker cannot start or cannot load the module. */
  static async open({ count, ...opening }: WorkerPoolOptions): Promise<WorkerPool> {
    const pool = new WorkerPool(Array.from({ length: count }, () => new WorkerProcess()))
    try {
      await Promise.all(pool.#all.map((worker) => worker.request(opening)))
    } catch (error) {
      await pool.close()
      throw error
    }
    return pool
  }

  get workers(): number {
    return this.#all.length
  }

  async run(job: ScheduleJob): Promise<ScheduleOutcome> {
    const worker = this.#idle.pop()
    if (!worker) throw new RangeError('every worker is busy: run at most one job per worker')
    try {
      const message = await worker.request(job)
      if (message.type !== 'done') throw new Error('a worker process sent an unexpected message')
      return message.outcome
    } catch (error) {
      throw new Error(
        `the schedule "${job.deviations.map(describeDeviation).join(' and ')}" did not run: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    } finally {
      this.#idle.push(worker)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.close()))
  }
}

/** The flags of this process, without those that only one process can have. */
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

interface WorkersOptions {
  readonly module?: string | URL | undefined
  readonly cores?: number | undefined
  readonly session: SessionOptions
  /** There are enough schedules for more than one process. */
  readonly isWorth: boolean
}

interface Workers {
  readonly runner: ScheduleRunner
  /** Why only this process runs schedules, although more were requested. */
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
    return alone(cores === undefined ? undefined : 'functions cannot be sent to worker processes: pass `module`')
  const count = cores ?? availableParallelism()
  if (count === 1) return alone()
  try {
    const pool = await WorkerPool.open({ module: String(module), session, hash: here.first.trace.hash, count })
    return { runner: pool, close: () => pool.close() }
  } catch (error) {
    return alone(`cannot start worker processes: ${error instanceof Error ? error.message : String(error)}`)
  }
}
