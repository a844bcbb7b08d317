/**
 * The seven steps, from one-way to complete.
 */
import { oneWay } from './1-one-way.ts'
import { drift } from './2-drift.ts'
import { foreign } from './3-foreign.ts'
import { ownerMark } from './4-owner-mark.ts'
import { uidMark } from './5-uid-mark.ts'
import { finalizer } from './6-finalizer.ts'
import { complete } from './7-complete.ts'
import type { Step } from './step.ts'

export const steps: readonly Step[] = [oneWay, drift, foreign, ownerMark, uidMark, finalizer, complete]
