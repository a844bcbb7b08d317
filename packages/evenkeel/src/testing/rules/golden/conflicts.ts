/**
 * Rule 7: conflicts. Others write too: say which version you mean, write only what is yours.
 */
import { foreignMark } from '../../world/deeds.ts'
import { describeObject } from '../../state/normalize.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'
import { lintRequest } from '../request-lints.ts'

export const conflicts: Rule = {
  code: 'conflict',
  number: 7,
  says: 'others write too: say which version you mean, and write only what is yours',
  watch: (world) => ({
    request(life, request, asked) {
      const found = lintRequest(request, asked, { who: life.name })
      if (found) world.find(found)
    },
    done() {
      judgeMarks(world)
    },
  }),
}

/** What somebody else wrote into an object stays there as long as the object. */
function judgeMarks(world: World): void {
  for (const { actor, before, after } of world.facts.news('conflict')) {
    if (!before || !after || !world.facts.isLife(actor) || before.metadata.uid !== after.metadata.uid) continue
    for (const part of ['labels', 'annotations'] as const) {
      if (before.metadata[part]?.[foreignMark] === undefined || after.metadata[part]?.[foreignMark] !== undefined)
        continue
      world.find({
        rule: 'conflict',
        severity: 'error',
        about: describeObject(after),
        message: `a write of ${actor} takes away the ${part === 'labels' ? 'label' : 'annotation'} that somebody else put on ${describeObject(after)}`,
        hint: 'apply only your own fields, or send back what you read',
      })
    }
  }
}
