/**
 * Whether the server is well: `/healthz`, `/livez` and `/readyz`, in whole or check by check.
 *
 * The short answer is `ok`. `?verbose` lists every check, `?exclude=NAME` leaves one out; a check that fails is
 * always listed, without its details, because anybody may ask.
 */
import type { Query, WireResponse } from '#wire'

export interface HealthCheck {
  readonly name: string
  /** Undefined when all is well. */
  failure(): string | undefined
  /** Only readiness depends on it: the process need not be restarted for it. */
  readonly readyOnly?: boolean
}

const healthPaths = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/

/** The answer to a health path; undefined when it is none, or names no check. */
export function answerHealth(path: string, query: Query, checks: readonly HealthCheck[]): WireResponse | undefined {
  const match = healthPaths.exec(path)
  if (match === null) return undefined
  const [, kind = '', single] = match
  const all = kind === 'livez' ? checks.filter(({ readyOnly }) => !readyOnly) : checks
  if (single !== undefined) {
    const check = all.find(({ name }) => name === single)
    return (
      check &&
      (check.failure() === undefined
        ? healthText(200, 'ok')
        : healthText(500, `internal server error: ${single} check failed\n`))
    )
  }
  return answerAll(kind, query, all)
}

function answerAll(kind: string, query: Query, all: readonly HealthCheck[]): WireResponse {
  const excluded = query.getAll('exclude')
  const lines = all.map(({ name, failure }) => {
    if (excluded.includes(name)) return { ok: true, line: `[+]${name} excluded: ok` }
    const ok = failure() === undefined
    return { ok, line: ok ? `[+]${name} ok` : `[-]${name} failed: reason withheld` }
  })
  const unknown = excluded.filter((name) => !all.some((check) => check.name === name))
  const warnings =
    unknown.length > 0
      ? [
          `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
        ]
      : []
  const healthy = lines.every(({ ok }) => ok)
  if (healthy && !query.has('verbose')) return healthText(200, 'ok')
  const shown = [
    ...lines.map(({ line }) => line),
    ...warnings,
    healthy ? `${kind} check passed` : `${kind} check failed`,
  ]
  return healthText(healthy ? 200 : 500, `${shown.join('\n')}\n`)
}

function healthText(status: number, body: string): WireResponse {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache, private',
  }
  return { status, headers, body: Buffer.from(body) }
}
