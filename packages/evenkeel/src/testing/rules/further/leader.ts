/**
 * Leadership: who has lost the lease stops. What was on its way when it was lost may still arrive, and no more.
 */
import { isJsonObject } from '#api'
import type { Interaction } from '../../life/effect.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'

export const leadership: Rule = {
  code: 'leader',
  says: 'who has lost the lease stops',
  watch: (world) => ({
    done(point) {
      const { process: life, about, type, outcome, requestInfo } = point
      if (type !== 'effect' || !/^(?:20|done)/.test(outcome) || requestInfo?.resource === 'leases') return
      const holder = holderFor(point, world)
      // Whoever came after it is gone as well, and it was elected again.
      if (holder === life.name) world.deposed.delete(life)
      const since = world.deposed.get(life)
      if (since !== undefined) world.deposed.set(life, since + 1)
      // One deed may have been on its way.
      if ((since ?? 0) === 0 && (holder === '' || holder === life.name)) return
      world.addFinding({
        rule: 'leader',
        severity: 'error',
        about,
        message: `${life.name} works on although another process leads: ${about}`,
        hint: 'look at the signal before every call outside; write with the client of the context',
      })
    },
  }),
}

/** Who had the lease when this was asked for; nobody: ''. */
function holderFor({ requestedAt }: Interaction, { history, options: { scenario } }: World): string {
  if (!scenario.leaderElection) return ''
  const last = history.events.findLast(
    ({ resource, step, after }) => resource === 'leases' && step < requestedAt && after !== undefined,
  )
  const holder = isJsonObject(last?.after?.['spec']) ? last.after['spec']['holderIdentity'] : undefined
  return typeof holder === 'string' ? holder : ''
}
