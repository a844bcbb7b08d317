/**
 * Health of a process: `/healthz`, `/livez` and `/readyz`, for all checks or a single one, as in a kube-apiserver.
 *
 * The short answer is `ok`. `?verbose` lists every check, `?exclude=NAME` skips one. A failed check is always listed. Its
 * cause is only logged, because these paths need no authentication.
 */
import { deadline, silentLogger, type Clock, type Logger } from '#base'
import type { ObjectCache } from '#cache'
import type { Controller, Ledger } from '#controller'
import type { LeaderElection } from './election/leader-election.ts'

export interface HealthCheck {
  readonly name: string
  /** Undefined if healthy, otherwise the problem. An error, or no result within 5 s, counts as a problem. */
  readonly failure: (options: { signal: AbortSignal }) => string | undefined | Promise<string | undefined>
}

interface HealthOptions {
  /** Whether the process should keep running: `/healthz` and `/livez`. */
  readonly live: readonly HealthCheck[]
  /** Whether it is ready for work: `/readyz`. */
  readonly ready: readonly HealthCheck[]
  readonly clock: Clock
  readonly log?: Logger | undefined
}

/** A plain text response. */
interface TextAnswer {
  readonly status: number
  readonly text: string
}

const paths = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/
const checkMs = 5000

/** The response to a health path; undefined for another path or an unknown check. */
export async function answerHealth(
  path: string,
  query: URLSearchParams,
  options: HealthOptions,
): Promise<TextAnswer | undefined> {
  const [, kind, single] = paths.exec(path) ?? []
  if (kind === undefined) return undefined
  const checks = kind === 'readyz' ? options.ready : options.live
  if (single === undefined) return answerAll(kind, query, { ...options, checks: [ping, ...checks] })
  const check = [ping, ...checks].find(({ name }) => name === decode(single))
  if (!check) return undefined
  return (await passes(check, options))
    ? { status: 200, text: 'ok' }
    : { status: 500, text: `internal server error: ${check.name} check failed\n` }
}

/** Always present, as in a kube-apiserver. */
const ping: HealthCheck = { name: 'ping', failure: () => undefined }

async function answerAll(
  kind: string,
  query: URLSearchParams,
  { checks, ...options }: HealthOptions & { checks: readonly HealthCheck[] },
): Promise<TextAnswer> {
  const excluded = query.getAll('exclude')
  const results = await Promise.all(
    checks.map(async (check) => {
      const isExcluded = excluded.includes(check.name)
      const isHealthy = isExcluded || (await passes(check, options))
      return {
        isHealthy,
        line: isExcluded
          ? `[+]${check.name} excluded: ok`
          : isHealthy
            ? `[+]${check.name} ok`
            : `[-]${check.name} failed: reason withheld`,
      }
    }),
  )
  const isHealthy = results.every((result) => result.isHealthy)
  if (isHealthy && !query.has('verbose')) return { status: 200, text: 'ok' }
  const unknown = excluded
    .filter((name) => !checks.some((check) => check.name === name))
    .map((name) => JSON.stringify(name))
  const warnings =
    unknown.length > 0 ? [`warn: some health checks cannot be excluded: no matches for ${unknown.join(', ')}`] : []
  return {
    status: isHealthy ? 200 : 500,
    text: `${[...results.map(({ line }) => line), ...warnings, `${kind} check ${isHealthy ? 'passed' : 'failed'}`].join('\n')}\n`,
  }
}

async function passes(
  { name, failure }: HealthCheck,
  { clock, log = silentLogger }: Pick<HealthOptions, 'clock' | 'log'>,
): Promise<boolean> {
  const limit = deadline(clock, checkMs)
  try {
    const late = new Promise<string>((resolve) => {
      limit.signal.addEventListener('abort', () => {
        resolve('no result within 5 s')
      })
    })
    const problem = await Promise.race([failure({ signal: limit.signal }), late])
    if (problem !== undefined) log.warn('health check failed', { check: name, problem })
    return problem === undefined
  } catch (error) {
    log.warn('health check failed', { check: name, error })
    return false
  } finally {
    limit.done()
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** How many runs are shown; the ledger keeps more. */
const runsMax = 200

export interface HealthChecks {
  /** Fails if the lease has expired and the work of the leader has not stopped. */
  readonly live: readonly HealthCheck[]
  /** Fails until the caches of all controllers are synced; a standby can be ready. */
  readonly ready: readonly HealthCheck[]
}

export function checksOf(controllers: readonly Controller[], election: LeaderElection | undefined): HealthChecks {
  return {
    live: [{ name: 'leader-election', failure: () => election?.failure() }],
    ready: controllers.map((controller) => ({
      name: `controller-${controller.name}`,
      failure: () => {
        const { isReady, problems } = controller.health
        return isReady ? undefined : problems.join('; ') || 'caches are not synced yet'
      },
    })),
  }
}

interface DescribeOptions {
  readonly controllers: readonly Controller[]
  readonly ledger: Ledger
  readonly cache: ObjectCache
  readonly election: LeaderElection | undefined
}

/** The state of a manager, as JSON. */
export function describeManager({ controllers, ledger, cache, election }: DescribeOptions): object {
  return {
    ...(election && { leader: { isLeading: election.isLeading, leader: election.leader } }),
    controllers: controllers.map(({ health }) => health),
    runs: ledger.entries({ limit: runsMax }),
    caches: cache.states.map(({ error, ...state }) => ({ ...state, ...(error && { error: error.message }) })),
  }
}

/** The running reconciles of a controller: `controller website (reconciling demo/shop, demo/blog)`. */
export function activeRuns(controller: string, ledger: Ledger): string {
  const keys = ledger
    .entries({ controller })
    .filter((entry) => entry.end === undefined)
    .map(({ key }) => key)
  return keys.length === 0 ? `controller ${controller}` : `controller ${controller} (reconciling ${keys.join(', ')})`
}
