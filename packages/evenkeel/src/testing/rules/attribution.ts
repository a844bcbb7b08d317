/**
 * Which rule it is when something is missing or otherwise: what was done to the world says it.
 */
import type { DeviationAction } from '../deviation.ts'
import type { World } from '../world.ts'
import type { Finding } from './rule.ts'

type Attribution = Pick<Finding, 'rule' | 'severity' | 'hint'>

const keepingDesired: ReadonlySet<DeviationAction['type']> = new Set([
  'crash',
  'die',
  'stale',
  'refuse',
  'lose',
  'hold',
  'coalesce',
  'silence',
  'cut',
  'past',
  'skew',
  'rival',
  'serial',
  'slow',
  'outage',
  'absent',
  'poison',
  'mutate',
] satisfies DeviationAction['type'][])

/** Whether what users wish for stays as it is. */
export function keepsDesiredState({ type }: DeviationAction): boolean {
  return keepingDesired.has(type)
}

const slowActions: ReadonlySet<DeviationAction['type']> = new Set([
  'silence',
  'rival',
  'forbid',
  'amend',
  'outage',
  'slow',
  'poison',
  'evict',
  'absent',
  'deprive',
] satisfies DeviationAction['type'][])

/** Whether more time passes than in the undisturbed schedule. */
export function takesTime({ type }: DeviationAction): boolean {
  return slowActions.has(type)
}

const state: Attribution = {
  rule: 'state',
  severity: 'error',
  hint: 'compute what to do from what is there, not from what you were told happened',
}
const failure: Attribution = {
  rule: 'failure',
  severity: 'error',
  hint: 'every call can fail; the next run must be able to finish the work',
}
const cleanup: Attribution = {
  rule: 'cleanup',
  severity: 'error',
  hint: 'others may hold on to an object while it is being deleted',
}

const byAction: Partial<Record<DeviationAction['type'], Attribution>> = {
  hold: state,
  coalesce: state,
  stale: state,
  early: state,
  delete: state,
  amend: { ...state, hint: 'compute everything from the spec as it is, also what is no longer in it' },
  drift: { ...state, severity: 'warning', hint: 'compare every field you set with what is there' },
  recreate: {
    rule: 'identity',
    severity: 'error',
    hint: 'an object with another uid is another object: forget what you knew of the old one',
  },
  silence: {
    rule: 'resync',
    severity: 'error',
    hint: 'look again from time to time: a watch can be dead without anybody noticing',
  },
  cut: { rule: 'resync', severity: 'error', hint: 'a watch that breaks has to be opened again' },
  touch: { rule: 'conflict', severity: 'error', hint: 'write only your own fields' },
  neighbour: {
    rule: 'ownership',
    severity: 'error',
    hint: 'look at metadata.ownerReferences (by uid) before you count or touch what a label selector found',
  },
  finalize: cleanup,
  terminate: cleanup,
  skew: { rule: 'clock', severity: 'error', hint: 'never compare the time of a server with that of this machine' },
  rival: { rule: 'leader', severity: 'error', hint: 'stop at once when the lease is lost' },
  late: {
    rule: 'state',
    severity: 'error',
    hint: 'the way to a wish must not matter: compute everything from the spec and from what is there',
  },
  absent: { ...failure, hint: 'a kind may be installed later than the program: it must be waited for' },
  mutate: { ...state, hint: 'what is stored may have more in it than was sent: compare only the fields that you set' },
  poison: { ...failure, hint: 'what goes wrong for one object must not stop the others' },
  evict: {
    ...cleanup,
    hint: 'in a namespace that is being deleted nothing new can be made, and a cleanup must get along without',
  },
  deprive: { ...cleanup, hint: 'what an object depends on may be gone before the object is' },
  vanish: cleanup,
  slow: { ...failure, hint: 'an answer can take long: what happened meanwhile counts' },
  serial: {
    rule: 'stateless',
    severity: 'error',
    hint: 'several workers run at once: keep what belongs to one run in that run',
  },
}

/** @param world one with a deviation */
export function attribute({ options: { deviations } }: World): Attribution {
  const { deed, at } = deviations.at(-1) ?? {}
  if (deed?.type === 'crash' && at?.type === 'quiet')
    return { rule: 'stateless', severity: 'error', hint: 'nothing that matters may live in memory only' }
  if (deed?.type === 'crash')
    return { ...failure, hint: 'after a crash at any point the next run must be able to finish the work' }
  if (deed?.type === 'refuse' && deed.status === 409)
    return { rule: 'conflict', severity: 'error', hint: 'a conflict means: read again and decide again' }
  if (deed?.type === 'refuse')
    return { ...failure, hint: 'an error must reach the queue, so that the work is tried again' }
  return (deed && byAction[deed.type]) ?? failure
}
