/**
 * Whether memory grew, beyond what it goes up and down by itself: the history of the store is a saw with a tooth a minute, and the collector of garbage
 * keeps more or less in hand.
 */

const shareMax = 0.15
const slackMb = 10

/** What is wrong with a memory that was so large at first and at last; nothing, when it is flat. */
export function growthOf(name: string, firstMb: number, lastMb: number): string[] {
  const grewMb = lastMb - firstMb
  return grewMb > firstMb * shareMax && grewMb > slackMb ? [`${name} grew from ${firstMb} to ${lastMb} MiB`] : []
}
