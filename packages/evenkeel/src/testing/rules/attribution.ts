/**
 * Attribution: which golden rule a difference from the undisturbed schedule belongs to. The last deviation decides.
 */
import type { DeviationAction } from '../deviation.ts'
import type { Finding, RuleContext } from './rule.ts'

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

/** Whether the action leaves the desired state unchanged. */
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

/** Whether the action takes more time than the undisturbed schedule. */
export function takesTime({ type }: DeviationAction): boolean {
  return slowActions.has(type)
}

const state: Attribution = {
  rule: 'state',
  severity: 'error',
  hint: 'compute the work from the current state, not from the event that triggered the reconcile',
}
const failure: Attribution = {
  rule: 'failure',
  severity: 'error',
  hint: 'every call can fail: the next reconcile must be able to finish the work',
}
const cleanup: Attribution = {
  rule: 'cleanup',
  severity: 'error',
  hint: 'another finalizer may keep an object in deletion for a while',
}

const byAction: Partial<Record<DeviationAction['type'], Attribution>> = {
  hold: state,
  coalesce: state,
  stale: state,
  early: state,
  delete: state,
  amend: { ...state, hint: 'compute everything from the current spec, and remove what it no longer asks for' },
  alter: { ...state, hint: 'watch everything that a reconcile reads, and compute everything from what it says now' },
  drift: { ...state, severity: 'warning', hint: 'compare every field you set with the stored object' },
  recreate: {
    rule: 'identity',
    severity: 'error',
    hint: 'an object with another uid is another object: discard what you know about the old one',
  },
  silence: {
    rule: 'resync',
    severity: 'error',
    hint: 'reconcile periodically: a watch can be dead without an error',
  },
  cut: { rule: 'resync', severity: 'error', hint: 'open a broken watch again' },
  touch: { rule: 'conflict', severity: 'error', hint: 'write only your own fields' },
  neighbour: {
    rule: 'ownership',
    severity: 'error',
    hint: 'check metadata.ownerReferences by uid before you count or change what a label selector finds',
  },
  finalize: cleanup,
  terminate: cleanup,
  skew: { rule: 'clock', severity: 'error', hint: 'never compare a timestamp of the server with the local clock' },
  rival: { rule: 'leader', severity: 'error', hint: 'stop at once when the lease is lost' },
  late: {
    rule: 'state',
    severity: 'error',
    hint: 'earlier specs must not matter: compute everything from the current spec and the current state',
  },
  absent: { ...failure, hint: 'a kind may be installed after the program starts: wait for it' },
  mutate: {
    ...state,
    hint: 'the stored object may have more fields than you sent: compare only the fields that you set',
  },
  poison: { ...failure, hint: 'the failure of one object must not stop the others' },
  evict: {
    ...cleanup,
    hint: 'no object can be created in a namespace in deletion: the cleanup must work without',
  },
  deprive: { ...cleanup, hint: 'a dependency may be deleted before the object that needs it' },
  vanish: cleanup,
  slow: { ...failure, hint: 'a response can be slow: check what has changed in the meantime' },
  serial: {
    rule: 'stateless',
    severity: 'error',
    hint: 'several workers run at once: keep the state of a reconcile in that reconcile',
  },
}

/** @param world the world of a schedule with a deviation */
export function attribute({ options: { deviations } }: RuleContext): Attribution {
  const { action, at } = deviations.at(-1) ?? {}
  if (action?.type === 'crash' && at?.type === 'quiet')
    return { rule: 'stateless', severity: 'error', hint: 'keep no state in memory only: a restart loses it' }
  if (action?.type === 'crash')
    return { ...failure, hint: 'after a crash at any point the next reconcile must be able to finish the work' }
  if (action?.type === 'refuse' && action.status === 409)
    return { rule: 'conflict', severity: 'error', hint: 'after a conflict, read the object again and decide again' }
  if (action?.type === 'refuse')
    return { ...failure, hint: 'throw the error out of the reconcile, so that the queue retries' }
  return (action && byAction[action.type]) ?? failure
}
