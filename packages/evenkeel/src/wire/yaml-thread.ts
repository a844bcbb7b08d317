/**
 * YAML in a thread: the parser needs ten microseconds for a token, and a long text would stop all other requests.
 *
 * One thread parses one text after the other. It starts with the first long text, keeps no process alive, and gets
 * memory for a few texts and time for each only. If it dies, the text it worked on is refused, and the next text starts another one. If it
 * cannot start, because a bundled program lacks its file, texts are parsed in this thread.
 *
 *   this thread:   text ──▶ worker        JSON text ◀── worker        JSON.parse, a hundred times as fast
 */
import type { Worker } from 'node:worker_threads'
import { fromStatus, requestEntityTooLarge, tooManyRequests, type JsonValue, type Status, parseJson } from '#api'
import { deferred, startLimitedThread, SystemClock, type Clock, type Deferred } from '#base'
import type { ParsedText } from './json.ts'
import type { YamlLimits } from './yaml-reader.ts'

export interface YamlJob {
  readonly id: number
  readonly text: string
  readonly limits: YamlLimits
}

export type YamlAnswer =
  | 'ready'
  | { readonly id: number; readonly json: string; readonly duplicates: readonly string[] }
  | { readonly id: number; readonly status: Status }

/** Undefined when threads cannot be used. */
type Outcome = ParsedText | undefined

/** Twice what a text at the limits needs; the thread fills what it gets before it collects garbage. */
const threadMegabytes = 128
const youngMegabytes = 12
/** From the arrival of a text to its answer, with those before it. */
const limitMs = 15_000

interface YamlThreadOptions {
  readonly start?: () => Worker
  readonly clock?: Clock
}

export class YamlThread {
  readonly #start: () => Worker
  readonly #clock: Clock
  readonly #jobs = new Map<number, Deferred<Outcome>>()
  #worker: Worker | undefined
  #isReady = false
  #isPossible = true
  #lastId = 0

  constructor({ start = startWorker, clock = new SystemClock() }: YamlThreadOptions = {}) {
    this.#start = start
    this.#clock = clock
  }

  /** Undefined when there is no thread. @throws {ApiError} that of the parser */
  async parse(text: string, limits: YamlLimits): Promise<Outcome> {
    const worker = this.#isPossible ? (this.#worker ??= this.#open()) : undefined
    if (!worker) return undefined
    const id = ++this.#lastId
    const job = deferred<Outcome>()
    this.#jobs.set(id, job)
    worker.ref()
    worker.postMessage({ id, text, limits } satisfies YamlJob)
    // Without an answer for so long, one of the texts before it takes too much time.
    const cancel = this.#clock.after(limitMs, () => {
      void worker.terminate()
    })
    return job.promise.finally(cancel)
  }

  #open(): Worker | undefined {
    let worker: Worker
    try {
      worker = this.#start()
    } catch {
      this.#isPossible = false
      return undefined
    }
    worker.on('message', (answer: YamlAnswer) => {
      if (answer === 'ready') this.#isReady = true
      else this.#settle(worker, answer)
    })
    worker.on('error', () => {
      this.#onEnd(worker)
    })
    worker.on('exit', () => {
      this.#onEnd(worker)
    })
    return worker
  }

  #settle(worker: Worker, answer: Exclude<YamlAnswer, 'ready'>): void {
    const job = this.#jobs.get(answer.id)
    this.#jobs.delete(answer.id)
    if (this.#jobs.size === 0) worker.unref()
    if ('status' in answer) job?.reject(fromStatus(answer.status))
    else job?.resolve({ value: parseJson(answer.json) as JsonValue, duplicates: answer.duplicates })
  }

  /** A thread that was never ready is not tried again. One that was has died of its first text; the others may retry. */
  #onEnd(worker: Worker): void {
    if (this.#worker !== worker) return
    const wasReady = this.#isReady
    this.#isReady = false
    if (!wasReady) this.#isPossible = false
    this.#worker = undefined
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    for (const [index, job] of jobs.entries()) {
      if (!wasReady) job.resolve(undefined)
      else if (index === 0) job.reject(requestEntityTooLarge('the YAML text needs too much time or memory'))
      else job.reject(tooManyRequests('the YAML text waited behind one that needs too much time or memory'))
    }
  }
}

/** The worker file: TypeScript or JavaScript, like this file. */
function startWorker(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './yaml-worker.ts' : './yaml-worker.js'
  return startLimitedThread(new URL(file, import.meta.url), {
    name: 'evenkeel-yaml',
    megabytes: threadMegabytes,
    youngMegabytes,
  })
}
