/**
 * Whether something grew, beyond what it goes up and down by itself: the history of the store is a saw with a tooth a minute, the collector of garbage
 * keeps more or less in hand, and a disk that others use is now faster and now slower.
 */

const shareMax = 0.15
const slack = { MiB: 10, ms: 5 }

/** What is wrong with something that was so large at first and at last; nothing, when it is flat. */
export function growthOf(name: string, unit: keyof typeof slack, [first, last]: readonly [first: number, last: number]): string[] {
  const grew = last - first
  return grew > first * shareMax && grew > slack[unit] ? [`${name} grew from ${first} to ${last} ${unit}`] : []
}
