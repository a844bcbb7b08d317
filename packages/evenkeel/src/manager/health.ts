/**
 * Whether this process is well: `/healthz`, `/livez` and `/readyz`, in whole or check by check.
 *
 * The short answer is `ok`. `?verbose` lists every check, `?exclude=NAME` leaves one out. A check that fails is always
 * listed, but why it failed is in the log only, because anybody may ask.
 */
import { deadline, silentLogger, type Clock, type Logger } from '#base'
import type { ObjectCache } from '#cache'
import type { Controller, Ledger } from '#controller'
import type { LeaderElection } from './election/leader-election.ts'

export interface HealthCheck {
  readonly name: string
  /** Undefined when all is well, else what is wrong. What it throws is wrong too, and so is not answering for 5 s. */
  readonly failure: (options: { signal: AbortSignal }) => string | undefined | Promise<string | undefined>
}

interface HealthOptions {
  /** Whether the process should go on living: `/healthz` and `/livez`. */
  readonly live: readonly HealthCheck[]
  /** Whether it should be given work: `/readyz`. */
  readonly ready: readonly HealthCheck[]
  readonly clock: Clock
  readonly log?: Logger | undefined
}

/** An answer in plain text. */
interface TextAnswer {
  readonly status: number
  readonly text: string
}

const paths = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/
const checkMs = 5000

/** The answer to a health path; undefined when it is none, or names no check. */
export async function answerHealth(
  path: string,
  query: URLSearchParams,
  options: HealthOptions,
): Promise<TextAnswer | undefined> {
  const [, kind, single] = paths.exec(path) ?? []
  if (kind === undefined) return undefined
  const checks = kind === 'readyz' ? options.ready : options.live
  if (single === undefined) return answerAll(kind, query, { ...options, checks: [ping, ...checks] })
  const check = [ping, ...checks].find(({ name }) => name === decoded(single))
  if (!check) return undefined
  return (await passes(check, options))
    ? { status: 200, text: 'ok' }
    : { status: 500, text: `internal server error: ${check.name} check failed\n` }
}

/** Always there: an empty list of checks is hard to read. */
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
      const isWell = isExcluded || (await passes(check, options))
      return {
        isWell,
        line: isExcluded
          ? `[+]${check.name} excluded: ok`
          : isWell
            ? `[+]${check.name} ok`
            : `[-]${check.name} failed: reason withheld`,
      }
    }),
  )
  const isWell = results.every((result) => result.isWell)
  if (isWell && !query.has('verbose')) return { status: 200, text: 'ok' }
  const unknown = excluded
    .filter((name) => !checks.some((check) => check.name === name))
    .map((name) => JSON.stringify(name))
  const warnings =
    unknown.length > 0 ? [`warn: some health checks cannot be excluded: no matches for ${unknown.join(', ')}`] : []
  return {
    status: isWell ? 200 : 500,
    text: `${[...results.map(({ line }) => line), ...warnings, `${kind} check ${isWell ? 'passed' : 'failed'}`].join('\n')}\n`,
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
        resolve('no answer in time')
      })
    })
    const wrong = await Promise.race([failure({ signal: limit.signal }), late])
    if (wrong !== undefined) log.warn('a health check failed', { check: name, why: wrong })
    return wrong === undefined
  } catch (error) {
    log.warn('a health check failed', { check: name, error })
    return false
  } finally {
    limit.done()
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/*
 * How a manager is, for whoever asks: its checks, and what its controllers are doing.
 */

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
