/**
 * Trying again when somebody else was faster: for changes that are computed from what was read.
 *
 * The numbers are those of client-go: five tries, ten milliseconds and a little more between them.
 */
import { randomFraction, sleep } from '#base'
import type { AbortOptions, Clock, Random } from '#base'
import { isConflict } from '#api'

export interface RetryOnConflictOptions extends AbortOptions {
  readonly clock: Clock
  readonly random: Random
  /** @default 5 */
  readonly attemptsMax?: number
  /**
   * What is tried again.
   *
   * @default conflicts
   */
  readonly isRetried?: (error: unknown) => boolean
}

/** Calls until there is no conflict; `attempt` counts from 0, and must read anew when it is above that. */
export async function retryOnConflict<T>(
  change: (attempt: number) => Promise<T>,
  { clock, random, signal, attemptsMax = 5, isRetried = isConflict }: RetryOnConflictOptions,
): Promise<T> {
  if (!(attemptsMax >= 1)) throw new RangeError(`attemptsMax must be at least 1, got ${attemptsMax}`)
  for (let attempt = 0; ; attempt++) {
    try {
      return await change(attempt)
    } catch (error) {
      if (!isRetried(error) || attempt + 1 >= attemptsMax) throw error
      await sleep(clock, 10 * (1 + 0.1 * randomFraction(random)), { signal })
    }
  }
}
