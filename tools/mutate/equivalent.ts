/**
 * Equivalent mutants, each with the reason: `npm run mutate` does not count them as survivors.
 */
export interface Equivalent {
  /** The end of the path. */
  readonly file: string
  readonly original: string
  readonly mutated: string
  readonly because: string
}

export const equivalents: readonly Equivalent[] = []
