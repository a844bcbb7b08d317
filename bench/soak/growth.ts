/**
 * Whether something grew, beyond what it goes up and down by itself: the history of the store is a saw with a tooth a minute, the collector of garbage
 * keeps more or less in hand, and a machine that others use is now faster and now slower. Noise jumps; what leaks climbs.
 */

const shareMax = 0.15
const slack = { MiB: 10, ms: 5 }

/** What is wrong with something that was so large at first and at last; nothing, when it is flat. */
export function growthOf(
  name: string,
  unit: keyof typeof slack,
  [first, last]: readonly [first: number, last: number],
): string[] {
  const grew = last - first
  return grew > first * shareMax && grew > slack[unit] ? [`${name} grew from ${first} to ${last} ${unit}`] : []
}

/** What is wrong with times that were so long at first and at last, and minute by minute on the way. */
export function slowerOf(
  name: string,
  thirds: readonly [first: number, last: number],
  byMinute: readonly number[],
): string[] {
  return climbs(byMinute) ? growthOf(name, 'ms', thirds) : []
}

/**
 * Whether values go up from one to the next more often than chance would have it (Kendall's test, one side, 5%). Fewer than
 * five never do: there is no telling.
 */
export function climbs(values: readonly number[]): boolean {
  const n = values.length
  let score = 0
  for (const [index, value] of values.entries())
    for (const later of values.slice(index + 1)) score += Math.sign(later - value)
  return n >= 5 && (score - 1) / Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18) > 1.645
}
