/**
 * The parent side of the load generator: a separate process, so that load and measured server share nothing.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, Job, LoadResult } from './jobs.ts'

const script = fileURLToPath(new URL('./worker.ts', import.meta.url))

export interface GeneratorOptions {
  /**
   * The time limit of one job.
   *
   * @default 900_000
   */
  jobMsMax?: number
  /**
   * The flags of Node.
   *
   * @default the flags of this process
   */
  execArgv?: readonly string[]
}

export class Generator {
  readonly processId: number
  readonly #child: ChildProcess
  readonly #jobMsMax: number
  #lastId = 0

  constructor({ jobMsMax = 900_000, execArgv = process.execArgv }: GeneratorOptions = {}) {
    this.#jobMsMax = jobMsMax
    this.#child = fork(script, { serialization: 'advanced', execArgv: [...execArgv] })
    this.processId = this.#child.pid ?? NaN
  }

  /** One job at a time. */
  async run(job: Job): Promise<LoadResult> {
    const id = ++this.#lastId
    const signal = AbortSignal.timeout(this.#jobMsMax)
    const ended = new AbortController()
    const answered = once(this.#child, 'message', { signal: AbortSignal.any([signal, ended.signal]) })
    const exited = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('the load generator ended')
    })
    exited.catch(() => undefined)
    this.#child.send({ id, job })
    try {
      const [answer] = (await Promise.race([answered, exited])) as [Answer]
      if (answer.id !== id || !answer.result)
        throw new Error(`${job.type} at ${job.place.address.url}: ${answer.error ?? 'a late answer'}`)
      return answer.result
    } finally {
      ended.abort()
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}
