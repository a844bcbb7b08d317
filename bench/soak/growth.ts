/**
 * Detects growth beyond normal variation: the history of the store is a sawtooth with a period of a minute, the garbage
 * collector holds varying amounts of memory, and a shared machine varies in speed. Noise jumps; a leak climbs.
 */

const shareMax = 0.15
const slack = { MiB: 10, ms: 5 }

/** The problem of a value with this size at the start and at the end; undefined when it is flat. */
export function growthOf(
  name: string,
  unit: keyof typeof slack,
  [first, last]: readonly [first: number, last: number],
): string[] {
  const grew = last - first
  return grew > first * shareMax && grew > slack[unit] ? [`${name} grew from ${first} to ${last} ${unit}`] : []
}

/** The problem of these durations at the start, at the end, and minute by minute. */
export function slowerOf(
  name: string,
  thirds: readonly [first: number, last: number],
  byMinute: readonly number[],
): string[] {
  return climbs(byMinute) ? growthOf(name, 'ms', thirds) : []
}

/**
 * Whether values increase more often than by chance (Kendall's test, one-sided, 5%). Always false for fewer than five
 * values.
 */
export function climbs(values: readonly number[]): boolean {
  const n = values.length
  let score = 0
  for (const [index, value] of values.entries())
    for (const later of values.slice(index + 1)) score += Math.sign(later - value)
  return n >= 5 && (score - 1) / Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18) > 1.645
}
