/**
 * Workers: take a key, process it, report `done`, repeat.
 *
 * `processQueue` is the loop alone. `runWorkers` adds what most users want: errors become outcomes, and outcomes are
 * acted upon as the table in `outcome.ts` says.
 *
 * Invariants: at most `concurrency` keys are processed at a time; `done` follows however the processing ended; a worker
 * that has to stop finishes the key it works on, and returns a key that it had only just taken.
 */
import { LightAbortController, onAbort, type AbortOptions } from '#base'
import { requeue, type Outcome, type RequeueDecision, type RequeueOptions } from './outcome.ts'
import type { WorkItem } from './ready-queue.ts'
import type { WorkQueue } from './work-queue.ts'

/** The work on one key; no result is `done`, anything thrown is `error`. */
type Work<Reason> = (item: WorkItem<Reason>) => Promise<Outcome | undefined>

/** One run of a key, reported before the queue's `done`. */
export interface WorkResult<Reason> {
  readonly item: WorkItem<Reason>
  readonly outcome: Outcome
  readonly decision: RequeueDecision
}

interface ProcessQueueOptions extends AbortOptions {
  /**
   * How many keys are processed at a time.
   *
   * @default 1
   */
  readonly concurrency?: number | undefined
}

export interface WorkersOptions<Reason> extends ProcessQueueOptions, Omit<RequeueOptions, 'queue'> {
  readonly queue: WorkQueue<Reason>
  /** Called after each run of a key, to log and to count. If it throws, all workers stop and `runWorkers` rejects. */
  readonly onFinished?: ((result: WorkResult<Reason>) => void) | undefined
}

/** Works until the signal aborts or the queue stops; resolves when the last run of a key has ended. */
export async function runWorkers<Reason>(
  work: Work<Reason>,
  { queue, backoff, parked, onFinished, concurrency, signal }: WorkersOptions<Reason>,
): Promise<void> {
  const process = async (item: WorkItem<Reason>): Promise<void> => {
    const outcome = await outcomeOf(item, work)
    const decision = requeue(item, outcome, { queue, backoff, parked })
    onFinished?.({ item, outcome, decision })
  }
  await processQueue(queue, process, { concurrency, signal })
}

async function outcomeOf<Reason>(item: WorkItem<Reason>, work: Work<Reason>): Promise<Outcome> {
  try {
    return (await work(item)) ?? { kind: 'done' }
  } catch (error) {
    return { kind: 'error', error }
  }
}

/**
 * Takes keys and processes them until the signal aborts or the queue stops; resolves when the last one is processed.
 * When `process` throws, the other workers stop, and the error follows when all of them have ended.
 */
export async function processQueue<Reason>(
  queue: WorkQueue<Reason>,
  process: (item: WorkItem<Reason>) => Promise<void>,
  { concurrency = 1, signal }: ProcessQueueOptions,
): Promise<void> {
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`concurrency must be a whole number of 1 or more, got ${concurrency}`)
  const stopping = new LightAbortController()
  const stopListening = onAbort(signal, (reason) => {
    stopping.abort(reason)
  })
  const workers = Array.from({ length: concurrency }, () => runWorker(queue, process, stopping.signal))
  for (const worker of workers)
    worker.catch((error: unknown) => {
      stopping.abort(error)
    })
  const ended = await Promise.allSettled(workers)
  stopListening()
  for (const worker of ended) if (worker.status === 'rejected') throw worker.reason
}

async function runWorker<Reason>(
  queue: WorkQueue<Reason>,
  process: (item: WorkItem<Reason>) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const item = await queue.take({ signal }).catch(() => undefined)
    if (!item) return
    if (signal.aborted) {
      queue.putBack(item)
      return
    }
    try {
      await process(item)
    } finally {
      queue.done(item.key)
    }
  }
}
