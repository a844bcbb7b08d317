/**
 * How a manager is, for whoever asks: its checks, and what its controllers are doing.
 */
import type { Controller, Ledger } from '#controller'
import type { ObjectCache } from '#cache'
import type { LeaderElection } from './election/leader-election.ts'
import type { HealthCheck } from './endpoints/health.ts'

/** How many runs are shown; the ledger remembers more. */
const runsMax = 200

export interface HealthChecks {
  /** Whether it should go on living: not if it leads on paper and does not know it. */
  readonly live: readonly HealthCheck[]
  /** Whether its controllers know what there is; a standby may be ready. */
  readonly ready: readonly HealthCheck[]
}

export function checksOf(controllers: readonly Controller[], election: LeaderElection | undefined): HealthChecks {
  return {
    live: [{ name: 'leader-election', failure: () => election?.failure() }],
    ready: controllers.map((controller) => ({
      name: `controller-${controller.name}`,
      failure: () => {
        const { isReady, problems } = controller.health
        return isReady ? undefined : problems.join('; ') || 'it has not heard of everything yet'
      },
    })),
  }
}

interface DescribedParts {
  readonly controllers: readonly Controller[]
  readonly ledger: Ledger
  readonly cache: ObjectCache
  readonly election: LeaderElection | undefined
}

/** As plain JSON. */
export function describeManager({ controllers, ledger, cache, election }: DescribedParts): object {
  return {
    ...(election && { leader: { isLeading: election.isLeading, leader: election.leader } }),
    controllers: controllers.map(({ health }) => health),
    runs: ledger.entries({ limit: runsMax }),
    caches: cache.states.map(({ error, ...state }) => ({ ...state, ...(error && { error: error.message }) })),
  }
}

/** What a controller is at right now: `website (demo/shop, demo/blog)`. */
export function activeRuns(controller: string, ledger: Ledger): string {
  const keys = ledger
    .entries({ controller })
    .filter((entry) => entry.end === undefined)
    .map(({ key }) => key)
  return keys.length === 0 ? `controller ${controller}` : `controller ${controller} (reconciling ${keys.join(', ')})`
}
