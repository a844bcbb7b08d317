/**
 * Which fields differ between two states of an object, as paths for people: `status.phase`, `spec.containers[0].image`.
 *
 * Invariants: iterative and bounded, so that neither depth nor size of an object matters; what changes with every write
 * (version, generation, managed fields) is left out.
 */
import { deepEqual, getOwn, isJsonObject } from '#api'
import type { JsonObject } from '#api'

const ignored: ReadonlySet<string> = new Set([
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.managedFields',
])

interface Pair {
  readonly path: string
  readonly a: unknown
  readonly b: unknown
}

/** At most `pathsMax` paths, in the order of the object. */
export function changedPaths(a: unknown, b: unknown, { pathsMax = 16 }: { pathsMax?: number } = {}): string[] {
  const found: string[] = []
  const pairs: Pair[] = [{ path: '', a, b }]
  for (let pair = pairs.pop(); pair && found.length < pathsMax; pair = pairs.pop()) {
    if (ignored.has(pair.path) || deepEqual(pair.a, pair.b)) continue
    const inside = childrenOf(pair)
    if (inside) pairs.push(...inside.reverse())
    else found.push(pair.path)
  }
  return found
}

/** The parts to compare one by one; undefined when the values differ as a whole. */
function childrenOf({ path, a, b }: Pair): Pair[] | undefined {
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.map((item: unknown, index) => ({ path: `${path}[${index}]`, a: item, b: (b as unknown[])[index] }))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return undefined
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].map((key) => ({
    path: stepTo(path, key),
    a: getOwn(a as JsonObject, key),
    b: getOwn(b as JsonObject, key),
  }))
}

function stepTo(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
