/**
 * Versions in order, as far as they have one.
 */
import { compareResourceVersions, isResourceVersion } from '#api'

/** Below 0 when `a` is older; undefined when a server counts in a way nobody can compare: then only equality says anything. */
export function compareVersions(a: string, b: string): number | undefined {
  return isResourceVersion(a) && isResourceVersion(b) ? compareResourceVersions(a, b) : undefined
}

/** Whether what was seen up to `seen` includes what happened at `wanted`. */
export function hasReachedVersion(seen: string, wanted: string): boolean {
  return (compareVersions(seen, wanted) ?? (seen === wanted ? 0 : -1)) >= 0
}
