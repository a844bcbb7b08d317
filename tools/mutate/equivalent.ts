/**
 * Equivalent mutants, each with the reason: `npm run mutate` does not count them as survivors.
 */
import { runtimeEquivalents } from './equivalent-runtime.ts'

export interface Equivalent {
  /** The end of the path. */
  readonly file: string
  readonly original: string
  readonly mutated: string
  /** What the line contains as well; for originals such as `0`. @default anything */
  readonly line?: string
  readonly because: string
}

export const equivalents: readonly Equivalent[] = [...runtimeEquivalents]
