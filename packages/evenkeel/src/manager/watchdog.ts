/**
 * The watchdog: logs a reconcile that does not end, and a blocked event loop.
 *
 * A reconcile that hangs keeps its key locked. A long computation blocks the whole process, and lease renewal if it runs
 * in this thread. The watchdog aborts neither, because their state is unknown. It logs each of them once.
 */
import { sleep } from '#base'
import type { Clock, Logger } from '#base'
import type { Controller, Ledger } from '#controller'
import type { Task } from './run-group.ts'

interface WatchdogOptions {
  readonly controllers: () => Iterable<Controller>
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Logger
}

const tickMs = 1000
/** Controllers are checked less often than the clock, because that costs more. */
const ticksPerCheck = 10
/** How late a tick must be to be logged. */
const lateMs = 2000
/** A run that ended within this time may have blocked the event loop until now. */
const justNowMs = 1000
/** How many suspected runs are logged. */
const suspectsMax = 10

export function watchdogTask({ controllers, ledger, clock, log }: WatchdogOptions): Task {
  const logged = new Set<string>()
  return {
    name: 'watchdog',
    async run(signal) {
      for (let tick = 1; !signal.aborted; tick++) {
        const dueMs = clock.monotonic() + tickMs
        await sleep(clock, tickMs, { signal }).catch(() => undefined)
        const blockedMs = clock.monotonic() - dueMs
        if (!signal.aborted && blockedMs >= lateMs) {
          log.warn('event loop was blocked: a computation took too long, or the process was suspended', {
            ms: Math.round(blockedMs),
            reconciles: suspects(ledger, { blockedMs, nowMs: clock.now() }),
          })
        }
        if (tick % ticksPerCheck === 0) reportStuck(controllers(), logged, log)
      }
    },
  }
}

/** Runs that lasted the whole time and are still active, or have just ended. */
function suspects(ledger: Ledger, { blockedMs, nowMs }: { blockedMs: number; nowMs: number }): string[] {
  const leastMs = blockedMs - tickMs
  return ledger
    .entries()
    .filter(({ startedMs, end }) =>
      end ? end.durationMs >= leastMs && startedMs + end.durationMs >= nowMs - justNowMs : nowMs - startedMs >= leastMs,
    )
    .slice(0, suspectsMax)
    .map(({ controller, key }) => `${controller} ${key}`)
}

function reportStuck(controllers: Iterable<Controller>, logged: Set<string>, log: Logger): void {
  const stuck = [...controllers].flatMap(({ name, health }) =>
    health.stuck.map((run) => ({ controller: name, ...run })),
  )
  for (const { controller, key, reconcileId, runningMs } of stuck) {
    if (!logged.has(reconcileId))
      log.error('reconcile does not end: its object is not reconciled until it does', {
        controller,
        object: key,
        reconcileId,
        runningMs: Math.round(runningMs),
      })
    logged.add(reconcileId)
  }
  const active = new Set(stuck.map(({ reconcileId }) => reconcileId))
  for (const id of logged) if (!active.has(id)) logged.delete(id)
}
