/**
 * Rule 7: conflicts. Others write too: say which version you mean, write only what is yours.
 */
import { foreignKey } from '../../world/deeds.ts'
import { describeObject } from '../../state/normalize.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'
import { lintRequest } from '../request-lints.ts'

export const conflicts: Rule = {
  code: 'conflict',
  number: 7,
  says: 'others write too: say which version you mean, and write only what is yours',
  watch: (world) => ({
    request(life, request, requestInfo) {
      const found = lintRequest(request, requestInfo, { who: life.name })
      if (found) world.addFinding(found)
    },
    done() {
      judgeForeignKeys(world)
    },
  }),
}

/** What somebody else wrote into an object stays there as long as the object. */
function judgeForeignKeys(world: World): void {
  for (const { actor, before, after } of world.facts.eventsSince('conflict')) {
    if (!before || !after || !world.facts.isProcess(actor) || before.metadata.uid !== after.metadata.uid) continue
    for (const part of ['labels', 'annotations'] as const) {
      if (before.metadata[part]?.[foreignKey] === undefined || after.metadata[part]?.[foreignKey] !== undefined)
        continue
      world.addFinding({
        rule: 'conflict',
        severity: 'error',
        about: describeObject(after),
        message: `a write of ${actor} takes away the ${part === 'labels' ? 'label' : 'annotation'} that somebody else put on ${describeObject(after)}`,
        hint: 'apply only your own fields, or send back what you read',
      })
    }
  }
}
