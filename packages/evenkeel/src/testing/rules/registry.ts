/**
 * All rules, in the order in which findings are told.
 */
import { churn } from './churn.ts'
import { conflicts } from './conflicts.ts'
import { convergence } from './convergence.ts'
import { deletionFirst, finalizers } from './deletion.ts'
import { failures } from './failures.ts'
import { idempotence, readOnlyCalls } from './idempotence.ts'
import { identity, ownership, preexistingResources } from './ownership.ts'
import { escapes, floatingPromises, leadership, watches } from './process.ts'
import type { Rule } from './rule.ts'
import { privilege, secrets } from './security.ts'
import { expectation, truth } from './truth.ts'

export const allRules: readonly Rule[] = [
  deletionFirst,
  finalizers,
  identity,
  ownership,
  preexistingResources,
  conflicts,
  truth,
  idempotence,
  floatingPromises,
  churn,
  watches,
  readOnlyCalls,
  leadership,
  secrets,
  escapes,
  privilege,
  expectation,
  convergence,
  failures,
]

/** Every word that a finding may give as its rule: one comparison has the names of several. */
export const ruleCodes: readonly string[] = [
  ...new Set([
    ...allRules.map(({ code }) => code).filter((code) => code !== 'same-world'),
    'state',
    'stateless',
    'resync',
    'hot-loop',
    'clock',
  ]),
]
