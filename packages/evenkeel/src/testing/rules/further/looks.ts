/**
 * Looks: what is called to look changes nothing. A get that does something is done by every retry, cache and curious person.
 */
import { compareSnapshots } from '../../state/compare.ts'
import type { Snapshot } from '../../state/normalize.ts'
import type { Rule } from '../finding.ts'

export const readOnlyCalls: Rule = {
  code: 'look',
  says: 'what only looks changes nothing',
  watch(world) {
    let before: Snapshot | undefined
    return {
      quiet() {
        before ??= world.facts.outside()
      },
      done({ call, type }) {
        if (!call || world.options.reference) return
        const now = world.facts.outside()
        if (type === 'look' && before)
          for (const { about } of compareSnapshots(before, now))
            world.addFinding({
              rule: 'look',
              severity: 'error',
              about: `${call.service}.${call.method}`,
              message: `${call.service}.${call.method} says that it only looks, and changes ${about}`,
              hint: 'give what changes something a name and a method that say so, and permissions of its own',
            })
        before = now
      },
    }
  },
}
