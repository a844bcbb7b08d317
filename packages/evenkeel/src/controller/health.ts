/**
 * The health of a controller, for readiness checks and for people.
 */
import type { ParkedKeys, WorkQueue } from '#queue'
import type { ControllerDeclaration } from './declaration.ts'
import type { StartedSource } from './sources.ts'
import type { RunningKey, Worker } from './worker.ts'

export interface ControllerHealth {
  readonly name: string
  /** Whether all its sources have synced. */
  readonly isReady: boolean
  /** Whether it reconciles; a standby does not. */
  readonly isWorking: boolean
  /** Current problems as sentences; empty if there are none. */
  readonly problems: readonly string[]
  readonly sources: readonly { readonly name: string; readonly hasSynced: boolean }[]
  readonly workers: { readonly active: number; readonly max: number }
  /** Active runs. */
  readonly running: readonly RunningKey[]
  /** Runs that should have ended long ago; their keys are locked. */
  readonly stuck: readonly RunningKey[]
  readonly queue: { readonly ready: number; readonly waiting: number; readonly working: number }
  /** How many keys failed in their last run and wait for a retry. */
  readonly failing: number
  /** Keys that wait for something to change, and for what. */
  readonly parked: readonly { readonly key: string; readonly waitingFor: string }[]
}

interface HealthParts {
  readonly name: string
  readonly declaration: ControllerDeclaration
  readonly sources: readonly Pick<StartedSource, 'name' | 'hasSynced' | 'problem'>[]
  readonly isWatching: boolean
  readonly isWorking: boolean
  readonly worker: Worker
  readonly parked: ParkedKeys
  readonly queue: Pick<WorkQueue, 'readyCount' | 'waitingCount' | 'workingCount'>
}

const stuckMsDefault = 600_000
const parkedMax = 100

export function describeHealth({
  name,
  declaration,
  sources,
  isWatching,
  isWorking,
  worker,
  parked,
  queue,
}: HealthParts): ControllerHealth {
  const { timeoutMs, stuckMs = timeoutMs ?? stuckMsDefault, concurrency = 1 } = declaration
  const stuck = worker.runningFor(stuckMs)
  return {
    name,
    isWorking,
    stuck,
    running: worker.runningFor(0),
    isReady: isWatching && sources.every(({ hasSynced }) => hasSynced),
    problems: [
      ...sources.flatMap(({ problem }) => problem ?? []),
      ...stuck.map(
        ({ key, runningMs }) => `a worker is stuck: ${key} has been reconciled for ${Math.floor(runningMs / 1000)} s`,
      ),
    ],
    sources: sources.map((source) => ({ name: source.name, hasSynced: source.hasSynced })),
    workers: { active: worker.activeCount, max: concurrency },
    queue: { ready: queue.readyCount, waiting: queue.waitingCount, working: queue.workingCount },
    failing: worker.failingCount,
    parked: [...parked].slice(0, parkedMax).map(([key, { waitingFor }]) => ({ key, waitingFor })),
  }
}
