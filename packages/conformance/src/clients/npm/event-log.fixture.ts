/**
 * Records events and waits for more.
 */

export interface EventLog<T> {
  readonly all: readonly T[]
  push(this: void, one: T): void
  /** Resolves once the recorded events are enough. */
  until(enough: (all: readonly T[]) => boolean): Promise<void>
}

export function makeEventLog<T>(): EventLog<T> {
  const all: T[] = []
  const waiting = new Set<() => void>()
  return {
    all,
    push(one) {
      all.push(one)
      for (const look of waiting) look()
    },
    until: (enough) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!enough(all)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}
