/**
 * The corpus: mutants that the Explorer must catch, and correct controllers for which it must report nothing.
 */
import { childDefects } from './defects/children.ts'
import { trackingDefects } from './defects/tracking.ts'
import { styles } from './clean/styles.ts'
import { appMutants } from './invented/apps.ts'
import { levelMutants } from './invented/levels.ts'
import { moreMutants } from './invented/more.ts'
import { programMutantsMore } from './invented/programs.ts'
import { recordMutants } from './invented/records.ts'
import { tenantMutants } from './invented/tenants.ts'
import { childMutants } from './listed/children.ts'
import { deletionMutants } from './listed/deletion.ts'
import { externalMutants } from './listed/external.ts'
import { programMutants } from './listed/program.ts'
import { statusMutants } from './listed/status.ts'
import type { CleanController, Mutant } from './mutant.ts'

export const mutants: readonly Mutant[] = [
  ...childDefects,
  ...trackingDefects,
  ...externalMutants,
  ...childMutants,
  ...statusMutants,
  ...deletionMutants,
  ...programMutants,
  ...appMutants,
  ...recordMutants,
  ...tenantMutants,
  ...programMutantsMore,
  ...moreMutants,
  ...levelMutants,
].sort((a, b) => (a.id < b.id ? -1 : 1))
export const cleanControllers: readonly CleanController[] = styles
export type { CleanController, Mutant, Subject } from './mutant.ts'
