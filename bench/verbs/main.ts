/**
 * The verbs: their cost with many objects, and whether they write more than necessary.
 */
import type { Bench } from '../print.ts'
import { childrenBench } from './children.ts'
import { dependentsBench } from './dependents.ts'
import { quotaBench } from './quota.ts'
import { steadyBench } from './steady.ts'

export const verbsBench: Bench = {
  about:
    '10,000 parents with three children each, against a controller written by hand on client-node; a minute in which nothing changes; 5,000 referers of one object; 1,000 things under a quota',
  async run(options) {
    for (const part of [childrenBench, steadyBench, dependentsBench, quotaBench]) await part(options)
  },
}
