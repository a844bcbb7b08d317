/**
 * Convergence: the same desired state leads to the same objects, whatever faults happen in between.
 *
 * This is one comparison with the undisturbed schedule. Its findings have nine names: the deviation decides which golden
 * rule was broken (attribution.ts).
 */
import { parseJson, stringifyJson } from '#api'
import type { ObjectReference } from '../deviation.ts'
import { compareStates, type QuietState } from '../reference.ts'
import { waitOf } from '../scenario.ts'
import { describeDifference, type Difference } from '../snapshot.ts'
import { attribute, keepsDesiredState, takesTime } from './attribution.ts'
import { keepsState } from './churn.ts'
import type { Finding, Rule, RuleContext } from './rule.ts'

export const convergence: Rule = {
  code: 'same-world',
  says: 'the same desired state leads to the same objects, whatever faults happen',
  watch(world) {
    return {
      rest() {
        judgeRest(world)
      },
      quiet({ isHealed }) {
        const { reference, masks } = world.options
        if (world.nonConvergence || !(reference ?? masks)) return
        // While a process is down, only its status can be wrong; the rule `truth` checks that.
        if (!isHealed && world.isBroken) return
        // An object of another client with the name of a child, or an adopted one: the author decides what to do with it.
        if (
          world.options.deviations.some(
            ({ action }) => action.type === 'recreate' && !isOfUser(world, action.object),
          ) ||
          hasAdopted(world)
        )
          return
        // An object that another client created and deleted does not come back.
        if (
          world.options.deviations.some(
            ({ action }) =>
              action.type === 'delete' &&
              !world.facts.state.isReconciled(action.object) &&
              !world.facts.hasCreated(action.object),
          )
        )
          return
        judge(world)
      },
    }
  },
}

/** Whether a user asked for it: a reconciled kind, and not made by the program. */
function isOfUser({ facts }: RuleContext, object: ObjectReference): boolean {
  return facts.state.isReconciled(object) && !facts.hasCreated(object)
}

/** Before its time nothing may be gone or made: the clock of the process only differs from those of others. */
function judgeRest(world: RuleContext): void {
  const { reference, deviations } = world.options
  if (!reference || !deviations.every(({ action }) => action.type === 'skew')) return
  const state = world.facts.quietState()
  const expected = reference.firstRest(state.phase)
  if (!expected || world.nonConvergence) return
  const names = ({ objects, external, statuses, due }: QuietState): string[] =>
    [...objects.keys(), ...external.keys(), ...statuses.keys()].filter((about) => !due.has(about))
  const [wanted, found] = [new Set(names(expected)), new Set(names(state))]
  for (const about of [...wanted, ...found].filter((one) => !wanted.has(one) || !found.has(one)))
    world.addFinding({
      ...attribute(world),
      about,
      message: `${about} ${wanted.has(about) ? 'is gone' : 'exists'} before its time: undisturbed it ${wanted.has(about) ? 'still exists' : 'does not exist yet'}`,
    })
}

function judge(world: RuleContext): void {
  const state = world.facts.quietState()
  const candidates = expectedOf(world, state)
  const [best] = candidates
    .map((expected) => ({ expected, differences: compareStates(expected, state, world.options) }))
    .sort((a, b) => a.differences.length - b.differences.length)
  const isLate = world.options.deviations.some(({ action }) => action.type === 'late')
  // A removed external resource need not come back; but the others must be cleaned up.
  const isLess = world.options.deviations.some(({ action }) => action.type === 'vanish')
  for (const difference of best?.differences ?? []) {
    if (isOthersLoss(difference, world)) continue
    if ((isLate && !matters(difference)) || (isLess && (difference.type === 'missing' || state.statuses.size > 0)))
      continue
    world.addFinding(
      isLate && state.statuses.size > 0
        ? lateFindingFor(difference, world)
        : findingFor(difference, world, { isGone: state.statuses.size === 0 }),
    )
  }
  if (best) judgeRequeues(world, { expected: best.expected, found: state })
  judgeDesired(world, state)
}

/** What is due later is done only if a reconcile asks for it: also after a restart, or when another event came first. */
function judgeRequeues(world: RuleContext, { expected, found }: { expected: QuietState; found: QuietState }): void {
  if (!world.options.reference) return
  for (const about of expected.requeues)
    if (found.statuses.has(about) && !found.requeues.has(about))
      world.addFinding({
        ...attribute(world),
        about,
        message: `${about} is not reconciled again by itself: undisturbed its reconcile asks for a time, here it does not`,
        hint: 'return `afterMs` from every reconcile that is not the last one, computed from what is stored',
      })
}

/** The states of the undisturbed schedule with this desired state; while it runs: its earlier states. */
function expectedOf(
  { options: { scenario, reference, deviations }, quietStates, facts }: RuleContext,
  state: QuietState,
): readonly QuietState[] {
  if (!reference)
    return quietStates
      .map((one) => facts.masked(one))
      .filter((earlier) => earlier.desired === state.desired && earlier.phase < state.phase)
      .filter((earlier) => !scenario.steps.slice(earlier.phase, state.phase).some((step) => waitOf(step) > 0))
      .slice(0, 1)
  const alike = reference.matchingStates(state, { includesDelayed: deviations.some(({ action }) => takesTime(action)) })
  const first = state.desired === '' ? reference.at(0) : undefined
  return alike.length > 0 || !first ? alike : [first]
}

/** The desired state differs although no deviation changed it: the program did. */
function judgeDesired(world: RuleContext, state: QuietState): void {
  const {
    options: { reference, deviations },
    stepErrors,
  } = world
  const known =
    reference?.ofPhase(state.phase, { includesDelayed: deviations.some(({ action }) => takesTime(action)) }) ?? []
  if (
    stepErrors.length > 0 ||
    !deviations.every(({ action }) => keepsDesiredState(action)) ||
    known.some(({ desired }) => desired === state.desired)
  )
    return
  const expected = known.at(-1)?.statuses ?? state.statuses
  const [about] = [...expected.keys(), ...state.statuses.keys()].filter(
    (one) => expected.has(one) !== state.statuses.has(one),
  )
  if (about !== undefined)
    world.addFinding({
      ...attribute(world),
      about,
      message: `${about} ${state.statuses.has(about) ? 'exists, but not' : 'does not exist, but does'} in the undisturbed schedule`,
    })
}

function findingFor(
  difference: Difference,
  world: RuleContext,
  { isGone }: { isGone: boolean },
): Omit<Finding, 'step'> {
  const { type, about } = difference
  const diff = describeDifference(difference)
  if (type === 'extra' && isGone)
    return {
      rule: 'cleanup',
      severity: 'error',
      about,
      diff,
      message: `${about} remains although the object it was created for is deleted`,
      hint: 'add the finalizer before you create an external resource, or set a controller owner reference',
    }
  if (type === 'changed' && isGone)
    return {
      rule: 'cleanup',
      severity: 'error',
      about,
      diff,
      message: `${about} is not restored: changes of the program remain in it`,
      hint: 'remove in the cleanup whatever you wrote into it, also what an earlier spec asked for',
    }
  if (type === 'extra' && isLeftover(about, world))
    return { ...attribute(world), about, diff, message: `${about} still exists although it is no longer wanted` }
  if (type === 'extra')
    return {
      rule: 'idempotent',
      severity: 'error',
      about,
      diff,
      message: `${about} exists more than once: the program created it twice`,
      hint: 'derive names from the owner, or look for an existing one before you create',
    }
  if (!world.options.reference)
    return {
      rule: 'state',
      severity: 'error',
      about,
      diff,
      message: `${about} differs from its earlier state with the same spec: a change was not reverted`,
      hint: 'compute everything from the current spec, and remove what it no longer asks for',
    }
  const word = type === 'missing' ? 'is missing' : 'differs from the undisturbed schedule'
  return { ...attribute(world), about, diff, message: `${about} ${word}` }
}

/** Whether a deviation deleted it, directly or with its namespace, and the program did not create it. */
function isOthersLoss({ type, about }: Difference, { options: { deviations }, facts }: RuleContext): boolean {
  if (type !== 'missing') return false
  const [, kind = '', namespace = '', name = ''] = /^(\S+) (?:([^/]+)\/)?(.+)$/.exec(about) ?? []
  const isLost = deviations.some(
    ({ action }) =>
      action.type === 'evict' ||
      (action.type === 'deprive' &&
        action.object.kind === kind &&
        action.object.name === name &&
        action.object.namespace === namespace),
  )
  return isLost && !facts.hasCreated({ apiVersion: '', kind, namespace, name })
}

/** With a late start, a status and an object that holds data may differ: they depend on earlier specs. */
function matters({ about, expected, found, type }: Difference): boolean {
  if (type !== 'changed') return !keepsState(about)
  const bare = (values: readonly string[]): string =>
    stringifyJson(
      values.map((value) => {
        const { status: _, ...state } = parseJson(value) as { status?: unknown }
        return state
      }),
    )
  return bare(expected) !== bare(found)
}

function lateFindingFor(difference: Difference, world: RuleContext): Omit<Finding, 'step'> {
  const { type, about } = difference
  const word =
    type === 'missing'
      ? 'exists after all steps, but not when the program starts with the final spec'
      : type === 'extra'
        ? 'is missing after all steps, but exists when the program starts with the final spec'
        : 'differs when the program starts with the final spec, without the steps before'
  return {
    ...attribute(world),
    ...(type === 'missing' && { severity: 'warning' }),
    about,
    diff: describeDifference(difference),
    message: `${about} ${word}`,
  }
}

/** It existed in the phase before and should be gone, or belongs to a spec that was reverted. */
function isLeftover(about: string, { options: { reference, deviations }, facts }: RuleContext): boolean {
  if (deviations.some(({ action }) => action.type === 'amend')) return true
  const [before, now] = [reference?.at(facts.phase - 1), reference?.at(facts.phase)]
  const earlier = [...(before ? [before] : []), ...(now ? (reference?.restsLike(now) ?? []) : [])]
  return (
    earlier.some(({ objects, external }) => objects.has(about) || external.has(about)) &&
    !now?.objects.has(about) &&
    !now?.external.has(about)
  )
}

/** The program adopted an object that only looked like a child. */
function hasAdopted(world: RuleContext): boolean {
  return world.options.deviations.some(({ action }) => action.type === 'neighbour') && world.facts.state.hasAdopted()
}
