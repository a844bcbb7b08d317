/**
 * Says what nobody else would notice: a reconcile that does not end, and a process that stood still.
 *
 * A reconcile that hangs keeps its key locked; one that computes for long holds up everything else in the process,
 * renewals in this thread included. Neither is ended, as that would be worse; both are said, once each.
 */
import { sleep } from '#base'
import type { Clock, Logger } from '#base'
import type { Controller, Ledger } from '#controller'
import type { Task } from './run-group.ts'

interface WatchdogParts {
  readonly controllers: () => Iterable<Controller>
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Logger
}

const tickMs = 1000
/** Looking at every controller is more work than looking at the clock. */
const ticksPerCheck = 10
/** How late a tick must be to be worth a line. */
const lateMs = 2000
/** How long ago a run may have ended to count as the one that stood in the way until now. */
const justNowMs = 1000
/** Of so many it could have been. */
const suspectsMax = 10

export function watchdogTask({ controllers, ledger, clock, log }: WatchdogParts): Task {
  const told = new Set<string>()
  return {
    name: 'watchdog',
    async run(signal) {
      for (let tick = 1; !signal.aborted; tick++) {
        const dueMs = clock.monotonic() + tickMs
        await sleep(clock, tickMs, { signal }).catch(() => undefined)
        const stoodMs = clock.monotonic() - dueMs
        if (!signal.aborted && stoodMs >= lateMs) {
          log.warn('this process stood still: something computes for too long, or it was suspended', {
            ms: Math.round(stoodMs),
            reconciles: suspects(ledger, { stoodMs, nowMs: clock.now() }),
          })
        }
        if (tick % ticksPerCheck === 0) reportStuck(controllers(), told, log)
      }
    },
  }
}

/** Runs that lasted the whole time and go on, or have just ended: if it was one of ours, it is among them. */
function suspects(ledger: Ledger, { stoodMs, nowMs }: { stoodMs: number; nowMs: number }): string[] {
  const leastMs = stoodMs - tickMs
  return ledger
    .entries()
    .filter(({ startedMs, end }) =>
      end ? end.durationMs >= leastMs && startedMs + end.durationMs >= nowMs - justNowMs : nowMs - startedMs >= leastMs,
    )
    .slice(0, suspectsMax)
    .map(({ controller, key }) => `${controller} ${key}`)
}

function reportStuck(controllers: Iterable<Controller>, told: Set<string>, log: Logger): void {
  const stuck = [...controllers].flatMap(({ name, health }) =>
    health.stuck.map((run) => ({ controller: name, ...run })),
  )
  for (const { controller, key, reconcileId, runningMs } of stuck) {
    if (!told.has(reconcileId))
      log.error('a reconcile does not end: its object is locked until it does', {
        controller,
        object: key,
        reconcileId,
        runningMs: Math.round(runningMs),
      })
    told.add(reconcileId)
  }
  const going = new Set(stuck.map(({ reconcileId }) => reconcileId))
  for (const id of told) if (!going.has(id)) told.delete(id)
}
