/**
 * What was heard so far, and waiting for more of it.
 */

export interface Heard<T> {
  readonly all: readonly T[]
  push(this: void, one: T): void
  /** Resolves once what was heard is enough. */
  until(enough: (all: readonly T[]) => boolean): Promise<void>
}

export function makeHeard<T>(): Heard<T> {
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
