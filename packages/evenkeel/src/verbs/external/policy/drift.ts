/**
 * In what a thing differs from what is desired, and which of that matters.
 *
 * By default only what is desired is compared: a system adds fields of its own, and those are nobody's mistake.
 */
import { deepEqual, getOwn, isJsonObject } from '#api'
import type { Driver } from '../driver/driver.ts'
import type { DriftRule, ExternalPolicy } from './policy.ts'

/** Differences by what is to be done about them; sorted. */
export type Drift = Readonly<Record<DriftRule, readonly string[]>>

const depthMax = 32

/** Paths of `desired` at which something else is there: `size.width`. Lists are compared as a whole. */
function differences(
  desired: unknown,
  observed: unknown,
  { path = '', depth = 0 }: { path?: string; depth?: number } = {},
): string[] {
  if (desired === undefined) return []
  if (depth >= depthMax || !isJsonObject(desired) || !isJsonObject(observed))
    return deepEqual(desired, observed) ? [] : [path]
  return Object.keys(desired).flatMap((name) =>
    differences(getOwn(desired, name), getOwn(observed, name), {
      path: path === '' ? name : `${path}.${name}`,
      depth: depth + 1,
    }),
  )
}

/** What differs, sorted by rule. */
export function driftOf(
  desired: unknown,
  observed: unknown,
  { driver, policy }: { driver: Pick<Driver, 'diff'>; policy: Pick<ExternalPolicy, 'drift' | 'driftPaths'> },
): Drift {
  const drift: Record<DriftRule, string[]> = { revert: [], report: [], ignore: [] }
  const paths = driver.diff ? driver.diff(desired, observed) : differences(desired, observed)
  for (const path of [...new Set(paths)].sort()) drift[ruleFor(path, policy)].push(path)
  return drift
}

/** The rule of the nearest path above. */
function ruleFor(path: string, { drift, driftPaths }: Pick<ExternalPolicy, 'drift' | 'driftPaths'>): DriftRule {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const rule = Object.hasOwn(driftPaths, at) ? driftPaths[at] : undefined
    if (rule !== undefined) return rule
  }
  return drift
}
