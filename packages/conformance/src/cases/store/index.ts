/**
 * Every rule of the store contract, as cases.
 */
import type { StoreCase } from '../../targets/target.ts'
import { batchCases } from './batch.ts'
import { commitCases } from './commit.ts'
import { compactionCases } from './compaction.ts'
import { hashCases } from './hash.ts'
import { leaseCases } from './lease.ts'
import { lifecycleCases } from './lifecycle.ts'
import { limitCases } from './limits.ts'
import { rangeCases } from './range.ts'
import { readCases } from './read.ts'
import { watchLifeCases } from './watch-life.ts'
import { watchCases } from './watch.ts'

export const storeSuite: readonly StoreCase[] = [
  ...commitCases,
  ...batchCases,
  ...readCases,
  ...rangeCases,
  ...watchCases,
  ...watchLifeCases,
  ...compactionCases,
  ...leaseCases,
  ...hashCases,
  ...limitCases,
  ...lifecycleCases,
]
