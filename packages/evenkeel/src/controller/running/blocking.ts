/**
 * A reconcile that computes instead of waiting holds up everything else in its process: this says which one it was.
 *
 * What is measured is the part up to its first `await`, which nothing can interrupt; what comes later cannot be told from
 * what others do in between, so there the manager's watchdog names everybody who was at work.
 */
import type { Clock, Logger } from '#base'

/** Long enough to delay other people's work, and to be no accident of the garbage collector. */
const blockedMs = 1000

/** What the call gives; a warning when it did not give the others a turn for long. */
export function callTimed<R>(call: () => R, { clock, log }: { readonly clock: Clock; readonly log: Logger }): R {
  const startedMs = clock.monotonic()
  try {
    return call()
  } finally {
    const ms = clock.monotonic() - startedMs
    if (ms >= blockedMs)
      log.warn(
        'a reconcile blocked this process, nothing else went on: do it in a worker thread, or in pieces with an await in between',
        { ms: Math.round(ms) },
      )
  }
}
