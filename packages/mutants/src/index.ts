/**
 * The corpus: every mutant that the Explorer must find.
 */
import { childMutants } from './listed/children.ts'
import { deletionMutants } from './listed/deletion.ts'
import { outsideMutants } from './listed/outside.ts'
import { programMutants } from './listed/program.ts'
import { statusMutants } from './listed/status.ts'
import type { Mutant } from './mutant.ts'

export const mutants: readonly Mutant[] = [...outsideMutants, ...childMutants, ...statusMutants, ...deletionMutants, ...programMutants].sort((a, b) => (a.id < b.id ? -1 : 1))
export type { Mutant } from './mutant.ts'
