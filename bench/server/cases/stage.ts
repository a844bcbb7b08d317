/**
 * The shared context of the cases.
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
  /** Whether a case is selected. */
  wants(name: string): boolean
  /** Prints the selected figures. */
  readonly print: Print
}

/** The namespace of each group. */
export const namespaces = { requests: 'bench-requests', watch: 'bench-watch' } as const
