/**
 * All rules. Findings of one schedule are reported in this order.
 */
import { churn } from './churn.ts'
import { conflicts } from './conflicts.ts'
import { convergence } from './convergence.ts'
import { deletionFirst, finalizers } from './deletion.ts'
import { failures } from './failures.ts'
import { idempotence, readOnlyCalls } from './idempotence.ts'
import { always, eventually } from './invariants.ts'
import { identity, ownership, preexistingResources } from './ownership.ts'
import { escapes, floatingPromises, leadership, watches } from './process.ts'
import type { Rule } from './rule.ts'
import { privilege, secrets } from './security.ts'
import { expectation, truth } from './truth.ts'
import { disruption, repetition, surge } from './way-rules.ts'

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
  always,
  eventually,
  convergence,
  surge,
  disruption,
  repetition,
  failures,
]

/** Every code that a finding can have: the convergence rule reports under several codes. */
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
