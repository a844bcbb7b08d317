/**
 * Workers: take a key, work on it, settle, say `done`, and again.
 *
 * Invariants: not more than `concurrency` pieces of work at a time; whatever the work throws, be it an error, a text or
 * nothing, becomes an outcome and the key is let go; a worker that is told to stop finishes what it has begun, and a
 * key it had only just been handed goes back into the queue.
 */
import { LightAbortController, onAbort, type AbortOptions } from '#base'
import { requeue, type Outcome, type RequeueDecision, type RequeueOptions } from './outcome.ts'
import type { WorkItem } from './ready-queue.ts'
import type { WorkQueue } from './work-queue.ts'

/** The work on one key; nothing returned is `done`, anything thrown is `error`. */
export type Work<Reason> = (item: WorkItem<Reason>) => Promise<Outcome | undefined>

/** What is told about each piece of work, before its key is let go. */
export interface WorkResult<Reason> {
  readonly item: WorkItem<Reason>
  readonly outcome: Outcome
  readonly decision: RequeueDecision
}

export interface WorkersOptions<Reason> extends AbortOptions, Omit<RequeueOptions, 'queue'> {
  readonly queue: WorkQueue<Reason>
  /**
   * How many keys are worked on at a time.
   *
   * @default 1
   */
  readonly concurrency?: number | undefined
  /** Called after each piece of work, to log and to count. If it throws, all workers stop and `runWorkers` rejects. */
  readonly onFinished?: ((worked: WorkResult<Reason>) => void) | undefined
}

/** Works until the signal aborts or the queue is stopped; resolves when the last piece of work has ended. */
export async function runWorkers<Reason>(
  work: Work<Reason>,
  { concurrency = 1, signal, ...options }: WorkersOptions<Reason>,
): Promise<void> {
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`concurrency must be a whole number of 1 or more, got ${concurrency}`)
  const stopping = new LightAbortController()
  const stopListening = onAbort(signal, (reason) => {
    stopping.abort(reason)
  })
  const workers = Array.from({ length: concurrency }, () => runWorker(work, { ...options, signal: stopping.signal }))
  // The others are told to stop as soon as one fails, and are waited for before anybody hears of it.
  for (const worker of workers)
    worker.catch((error: unknown) => {
      stopping.abort(error)
    })
  const ended = await Promise.allSettled(workers)
  stopListening()
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

async function runWorker<Reason>(
  work: Work<Reason>,
  options: WorkersOptions<Reason> & { signal: AbortSignal },
): Promise<void> {
  const { queue, signal } = options
  for (;;) {
    const item = await queue.take({ signal }).catch(() => undefined)
    if (!item) return
    if (signal.aborted) {
      queue.putBack(item)
      return
    }
    try {
      await workOn(item, work, options)
    } finally {
      queue.done(item.key)
    }
  }
}

async function workOn<Reason>(
  item: WorkItem<Reason>,
  work: Work<Reason>,
  { queue, backoff, parked, onFinished }: WorkersOptions<Reason>,
): Promise<void> {
  const outcome = await outcomeOf(item, work)
  const settled = requeue(item, outcome, { queue, backoff, parked })
  onFinished?.({ item, outcome, decision: settled })
}

async function outcomeOf<Reason>(item: WorkItem<Reason>, work: Work<Reason>): Promise<Outcome> {
  try {
    return (await work(item)) ?? { kind: 'done' }
  } catch (error) {
    return { kind: 'error', error }
  }
}
