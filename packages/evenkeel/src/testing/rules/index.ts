/**
 * All rules, in the order in which findings are told.
 */
import { again } from './again.ts'
import { conflicts } from './conflicts.ts'
import { deletionFirst } from './deletion-first.ts'
import { failures } from './failures.ts'
import { finalizers } from './finalizers.ts'
import type { Rule } from './finding.ts'
import { floating } from './floating.ts'
import { identity } from './identity.ts'
import { leader } from './leader.ts'
import { ownership } from './ownership.ts'
import { privilege } from './privilege.ts'
import { sameWorld } from './same-world.ts'
import { secrets } from './secrets.ts'
import { truth } from './truth.ts'

export const allRules: readonly Rule[] = [deletionFirst, finalizers, identity, ownership, conflicts, truth, again, floating, leader, secrets, privilege, sameWorld, failures]
