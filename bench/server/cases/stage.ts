/**
 * What every group of cases works with.
 */
import type { Print } from '../../print.ts'
import type { Generator } from '../load/generator.ts'
import type { Plan } from '../plan.ts'
import type { Pair } from '../race.ts'

export interface Stage {
  readonly pairs: readonly Pair[]
  readonly generator: Generator
  readonly plan: Plan
  readonly rounds: number
  /** Distinguishes the objects of this run from those of another on the same peer. */
  readonly run: string
  /** Whether a case was asked for. */
  wants(name: string): boolean
  /** Prints figures that were asked for. */
  readonly print: Print
}

/** Where the objects of each group live. */
export const namespaces = { requests: 'bench-requests', watch: 'bench-watch' } as const
