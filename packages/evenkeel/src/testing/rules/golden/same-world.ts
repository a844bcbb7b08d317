/**
 * The same wishes lead to the same world, whatever goes wrong on the way.
 *
 * One comparison with the undisturbed schedule, and nine names for what it finds: what was done to the world says
 * which of the golden rules was broken.
 */
import type { Deed } from '../../faults/deviation.ts'
import { compareSnapshots, describeDifference } from '../../state/compare.ts'
import type { Difference } from '../../state/compare.ts'
import type { Rest } from '../../state/reference.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Rule } from '../finding.ts'

export const sameWorld: Rule = {
  code: 'same-world',
  says: 'the same wishes lead to the same world, whatever goes wrong on the way',
  watch(world) {
    return {
      quiet({ isLast, isHealed }) {
        if (world.restless) return
        // Before everything is well again only a claim can be wrong, and that is another rule.
        if (!isHealed && world.isBroken) return
        // Somebody else's object under a child's name: whether to take it over is the author's choice.
        if (world.options.deviations.some(({ deed }) => deed.type === 'recreate' && !world.facts.view.isReconciled(deed.object))) return
        judge(world, { isLast })
      },
    }
  },
}

function judge(world: World, { isLast }: { isLast: boolean }): void {
  const rest = world.facts.rest()
  const expected = expectedOf(world, rest)
  if (!expected) return
  for (const difference of differencesOf(expected, rest)) {
    const finding = name(difference, world, { isGone: rest.wishes === '', isLast })
    if (finding) world.find(finding)
  }
}

/** What the undisturbed schedule came to with these wishes; while that is being made, what it came to before. */
function expectedOf({ options: { reference }, rests }: World, rest: Rest): Rest | undefined {
  if (!reference) return rests.find((earlier) => earlier.wishes === rest.wishes && earlier.phase < rest.phase)
  return reference.like(rest) ?? (rest.wishes === '' ? reference.at(0) : undefined)
}

function differencesOf(expected: Rest, found: Rest): Difference[] {
  return [...compareSnapshots(expected.objects, found.objects), ...compareSnapshots(expected.outside, found.outside)]
}

function name(difference: Difference, world: World, { isGone }: { isGone: boolean, isLast: boolean }): Omit<Finding, 'step'> | undefined {
  const { type, about } = difference
  const diff = describeDifference(difference)
  if (type === 'extra' && isGone) return { rule: 'cleanup', severity: 'error', about, diff, message: `${about} is left behind although what it was made for is gone`, hint: 'put the finalizer on before the first thing is made outside, or make the owner a controller owner' }
  if (type === 'extra') return { rule: 'idempotent', severity: 'error', about, diff, message: `${about} is there too often: the same thing was made twice`, hint: 'give things names that follow from their owner, or look for what is there before you make it' }
  if (!world.options.reference) return { rule: 'state', severity: 'error', about, diff, message: `${about} is otherwise than it was when the same was asked for before: what was switched on is not switched off again`, hint: 'compute everything from the spec as it is, also what is no longer in it' }
  const deed = world.options.deviations.at(-1)?.deed
  const word = type === 'missing' ? 'is missing' : 'is otherwise than in the undisturbed run'
  return { ...blame(deed, world), about, diff, message: `${about} ${word}` }
}

/** Which rule it is when something is missing or otherwise. */
function blame(deed: Deed | undefined, world: World): Pick<Finding, 'rule' | 'severity' | 'hint'> {
  const isAtRest = world.options.deviations.at(-1)?.at.type === 'quiet'
  switch (deed?.type) {
    case 'hold':
    case 'coalesce':
    case 'stale':
    case 'early':
    case 'delete': return { rule: 'state', severity: 'error', hint: 'compute what to do from what is there, not from what you were told happened' }
    case 'drift': return { rule: 'state', severity: 'warning', hint: 'compare every field you set with what is there' }
    case 'recreate': return { rule: 'identity', severity: 'error', hint: 'an object with another uid is another object: forget what you knew of the old one' }
    case 'crash': return isAtRest ? { rule: 'stateless', severity: 'error', hint: 'nothing that matters may live in memory only' } : { rule: 'failure', severity: 'error', hint: 'after a crash at any point the next run must be able to finish the work' }
    case 'silence': return { rule: 'resync', severity: 'error', hint: 'look again from time to time: a watch can be dead without anybody noticing' }
    case 'touch': return { rule: 'conflict', severity: 'error', hint: 'write only your own fields' }
    case 'finalize':
    case 'terminate': return { rule: 'cleanup', severity: 'error', hint: 'others may hold on to an object while it is being deleted' }
    case 'skew': return { rule: 'clock', severity: 'error', hint: 'never compare the time of a server with that of this machine' }
    case 'rival': return { rule: 'leader', severity: 'error', hint: 'stop at once when the lease is lost' }
    case 'refuse': return deed.status === 409 ? { rule: 'conflict', severity: 'error', hint: 'a conflict means: read again and decide again' } : { rule: 'failure', severity: 'error', hint: 'an error must reach the queue, so that the work is tried again' }
    default: return { rule: 'failure', severity: 'error', hint: 'every call can fail; the next run must be able to finish the work' }
  }
}
