/**
 * Limits concurrency.
 */

/** Runs functions, at most `max` at once, the others in the order of their calls. */
export function makeTurns(max: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running === max)
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
    else running++
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
