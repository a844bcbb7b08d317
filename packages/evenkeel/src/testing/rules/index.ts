/**
 * All rules, in the order in which findings are told.
 */
import { idempotence } from './golden/again.ts'
import { conflicts } from './golden/conflicts.ts'
import { deletionFirst } from './golden/deletion-first.ts'
import { failures } from './golden/failures.ts'
import { finalizers } from './golden/finalizers.ts'
import type { Rule } from './finding.ts'
import { escapes } from './further/escapes.ts'
import { churn } from './further/churn.ts'
import { expectation } from './further/expectation.ts'
import { floatingPromises } from './further/floating.ts'
import { identity } from './further/identity.ts'
import { leadership } from './further/leader.ts'
import { readOnlyCalls } from './further/looks.ts'
import { ownership } from './further/ownership.ts'
import { privilege } from './further/privilege.ts'
import { convergence } from './golden/same-world.ts'
import { secrets } from './further/secrets.ts'
import { preexistingResources } from './further/strangers.ts'
import { truth } from './golden/truth.ts'
import { watches } from './further/watches.ts'

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
