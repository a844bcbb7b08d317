/**
 * Leadership: who has lost the lease stops. What was on its way when it was lost may still arrive, and no more.
 */
import type { Rule } from '../finding.ts'

export const leader: Rule = {
  code: 'leader',
  says: 'who has lost the lease stops',
  watch: (world) => ({
    done({ life, about, type, outcome }) {
      const since = world.deposed.get(life)
      if (type !== 'effect' || since === undefined || !/^(?:20|done)/.test(outcome)) return
      world.deposed.set(life, since + 1)
      // One deed may have been on its way.
      if (since === 0) return
      world.find({ rule: 'leader', severity: 'error', about, message: `${life.name} works on although another process leads: ${about}`, hint: 'look at the signal before every call outside; write with the client of the context' })
    },
  }),
}
