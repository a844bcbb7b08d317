/**
 * Judges programs in worker processes, one at a time in each.
 *
 * A mutant may block or end its process: then only that worker is replaced, and the verdict names it. A worker is replaced
 * after some programs in any case, because modules that were imported stay in memory.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Job, Verdict } from './judge.ts'

/** A worker judges so many programs. */
const jobsMax = 150
/** A program that takes longer is ended: its worker does not answer any more. */
const limitMs = 900_000

class Worker {
  readonly #child: ChildProcess
  #jobs = 0
  #isGone = false
  /** Ends the current job, with a verdict if the worker has given one. */
  #finish: (verdict?: Verdict) => void = () => undefined

  constructor() {
    this.#child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [], {
      execArgv: process.execArgv,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('message', (verdict) => {
      this.#finish(verdict as Verdict)
    })
    this.#child.on('exit', () => {
      this.#isGone = true
      this.#finish()
    })
  }

  get isSpent(): boolean {
    return this.#isGone || this.#jobs >= jobsMax
  }

  async judge(job: Job): Promise<Verdict> {
    this.#jobs++
    const ended = (refused: string): Verdict => ({
      id: job.id,
      alarms: [],
      schedules: 0,
      ms: 0,
      left: 0,
      isReached: true,
      requests: '',
      undisturbed: '',
      refused,
    })
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.close()
      }, limitMs)
      const finish = (verdict: Verdict): void => {
        clearTimeout(timer)
        this.#finish = () => undefined
        resolve(verdict)
      }
      this.#finish = (verdict = ended('the process ended: it was blocked, or it ended itself')) => {
        finish(verdict)
      }
      this.#child.send(job, (error) => {
        if (error) finish(ended(`the process ended: ${error.message}`))
      })
    })
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Judges all jobs, `cores` at a time. @param onVerdict called for each, in the order in which they end */
export async function judgeAll(
  jobs: readonly Job[],
  { cores, onVerdict }: { readonly cores: number; readonly onVerdict: (verdict: Verdict) => void },
): Promise<void> {
  const pending = [...jobs]
  const lane = async (): Promise<void> => {
    let worker: Worker | undefined
    try {
      for (let job = pending.shift(); job; job = pending.shift()) {
        if (worker?.isSpent) worker.close()
        worker = worker && !worker.isSpent ? worker : new Worker()
        onVerdict(await worker.judge(job))
      }
    } finally {
      worker?.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(cores, jobs.length) }, lane))
}
