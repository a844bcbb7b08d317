/**
 * The same wishes lead to the same world, whatever goes wrong on the way.
 *
 * One comparison with the undisturbed schedule, and nine names for what it finds: what was done to the world says
 * which of the golden rules was broken.
 */
import type { QuietState } from '../reference.ts'
import { compareSnapshots, describeDifference, type Difference, type RandomPaths } from '../snapshot.ts'
import type { World } from '../world.ts'
import { attribute, keepsDesiredState, takesTime } from './attribution.ts'
import { keepsState } from './churn.ts'
import type { Finding, Rule } from './rule.ts'

export const convergence: Rule = {
  code: 'same-world',
  says: 'the same wishes lead to the same world, whatever goes wrong on the way',
  watch(world) {
    return {
      quiet({ isHealed }) {
        if (world.nonConvergence) return
        // Before everything is well again only a claim can be wrong, and that is another rule.
        if (!isHealed && world.isBroken) return
        // Somebody else's object under a child's name, or taken over: what to do with it is the author's choice.
        if (
          world.options.deviations.some(
            ({ deed }) => deed.type === 'recreate' && !world.facts.state.isReconciled(deed.object),
          ) ||
          hasAdopted(world)
        )
          return
        // What others made and deleted does not come back.
        if (
          world.options.deviations.some(
            ({ deed }) =>
              deed.type === 'delete' &&
              !world.facts.state.isReconciled(deed.object) &&
              !world.facts.hasCreated(deed.object),
          )
        )
          return
        judge(world)
      },
    }
  },
}

function judge(world: World): void {
  const rest = world.facts.quietState()
  const candidates = expectedOf(world, rest)
  const chance = world.options.reference?.randomPaths
  const [nearest] = candidates
    .map((expected) => differencesOf(expected, rest, chance))
    .sort((a, b) => a.length - b.length)
  const isLate = world.options.deviations.some(({ deed }) => deed.type === 'late')
  // What was taken away outside need not come back by itself; but what is left must go in the end.
  const isLess = world.options.deviations.some(({ deed }) => deed.type === 'vanish')
  for (const difference of nearest ?? []) {
    if (isOthersLoss(difference, world)) continue
    if ((isLate && !matters(difference)) || (isLess && (difference.type === 'missing' || rest.statuses.size > 0)))
      continue
    world.addFinding(
      isLate && rest.statuses.size > 0
        ? lateFindingFor(difference, world)
        : findingFor(difference, world, { isGone: rest.statuses.size === 0 }),
    )
  }
  judgeDesired(world, rest)
}

/** What the undisturbed schedule came to with these wishes; while that is being made, what it came to before. */
function expectedOf(
  { options: { reference, deviations }, quietStates: rests }: World,
  rest: QuietState,
): readonly QuietState[] {
  if (!reference)
    return rests.filter((earlier) => earlier.desired === rest.desired && earlier.phase < rest.phase).slice(0, 1)
  const alike = reference.matchingStates(rest, { isPatient: deviations.some(({ deed }) => takesTime(deed)) })
  const first = rest.desired === '' ? reference.at(0) : undefined
  return alike.length > 0 || !first ? alike : [first]
}

/** Nobody changed what is wished for, and yet it is otherwise: the program did it. */
function judgeDesired(world: World, rest: QuietState): void {
  const {
    options: { reference, deviations },
    stepErrors,
  } = world
  const known = reference?.ofPhase(rest.phase, { isPatient: deviations.some(({ deed }) => takesTime(deed)) }) ?? []
  if (
    stepErrors.length > 0 ||
    !deviations.every(({ deed }) => keepsDesiredState(deed)) ||
    known.some(({ desired }) => desired === rest.desired)
  )
    return
  const expected = known.at(-1)?.statuses ?? rest.statuses
  const [about] = [...expected.keys(), ...rest.statuses.keys()].filter(
    (one) => expected.has(one) !== rest.statuses.has(one),
  )
  if (about !== undefined)
    world.addFinding({
      ...attribute(world),
      about,
      message: `${about} is ${rest.statuses.has(about) ? 'there, and in the undisturbed run it is not' : 'gone, and in the undisturbed run it is there'}`,
    })
}

function differencesOf(expected: QuietState, found: QuietState, chance?: RandomPaths): Difference[] {
  return [
    ...compareSnapshots(expected.objects, found.objects, chance),
    ...compareSnapshots(expected.outside, found.outside, chance),
  ]
}

function findingFor(difference: Difference, world: World, { isGone }: { isGone: boolean }): Omit<Finding, 'step'> {
  const { type, about } = difference
  const diff = describeDifference(difference)
  if (type === 'extra' && isGone)
    return {
      rule: 'cleanup',
      severity: 'error',
      about,
      diff,
      message: `${about} is left behind although what it was made for is gone`,
      hint: 'put the finalizer on before the first thing is made outside, or make the owner a controller owner',
    }
  if (type === 'changed' && isGone)
    return {
      rule: 'cleanup',
      severity: 'error',
      about,
      diff,
      message: `${about} is not as it was before: what was put into it is left behind`,
      hint: 'take away in the cleanup whatever you put into things of others, also what an earlier spec made you put there',
    }
  if (type === 'extra' && isLeftover(about, world))
    return { ...attribute(world), about, diff, message: `${about} is still there although it is not wanted any more` }
  if (type === 'extra')
    return {
      rule: 'idempotent',
      severity: 'error',
      about,
      diff,
      message: `${about} is there too often: the same thing was made twice`,
      hint: 'give things names that follow from their owner, or look for what is there before you make it',
    }
  if (!world.options.reference)
    return {
      rule: 'state',
      severity: 'error',
      about,
      diff,
      message: `${about} is otherwise than it was when the same was asked for before: what was switched on is not switched off again`,
      hint: 'compute everything from the spec as it is, also what is no longer in it',
    }
  const word = type === 'missing' ? 'is missing' : 'is otherwise than in the undisturbed run'
  return { ...attribute(world), about, diff, message: `${about} ${word}` }
}

/** It went with its namespace, or was itself what somebody deleted, and the program never made it. */
function isOthersLoss({ type, about }: Difference, { options: { deviations }, facts }: World): boolean {
  if (type !== 'missing') return false
  const [, kind = '', namespace = '', name = ''] = /^(\S+) (?:([^/]+)\/)?(.+)$/.exec(about) ?? []
  const isLost = deviations.some(
    ({ deed }) =>
      deed.type === 'evict' ||
      (deed.type === 'deprive' &&
        deed.object.kind === kind &&
        deed.object.name === name &&
        deed.object.namespace === namespace),
  )
  return isLost && !facts.hasCreated({ apiVersion: '', kind, namespace, name })
}

/** The same wish at once and by detours: what is only told, or kept because it cannot be made again, may differ. */
function matters({ about, expected, found, type }: Difference): boolean {
  if (type !== 'changed') return !keepsState(about)
  const bare = (values: readonly string[]): string =>
    JSON.stringify(
      values.map((value) => {
        const { status: _, ...rest } = JSON.parse(value) as { status?: unknown }
        return rest
      }),
    )
  return bare(expected) !== bare(found)
}

function lateFindingFor(difference: Difference, world: World): Omit<Finding, 'step'> {
  const { type, about } = difference
  const word =
    type === 'missing'
      ? 'is there after all changes, and is not when the same is asked for at once'
      : type === 'extra'
        ? 'is missing after all changes, and is there when the same is asked for at once'
        : 'is otherwise when the same is asked for at once, without the steps before'
  return {
    ...attribute(world),
    ...(type === 'missing' && { severity: 'warning' }),
    about,
    diff: describeDifference(difference),
    message: `${about} ${word}`,
  }
}

/** It was there before and should have gone; or came with a wish that was taken back. */
function isLeftover(about: string, { options: { reference, deviations }, facts }: World): boolean {
  if (deviations.some(({ deed }) => deed.type === 'amend')) return true
  const [before, now] = [reference?.at(facts.phase - 1), reference?.at(facts.phase)]
  return (
    before !== undefined &&
    (before.objects.has(about) || before.outside.has(about)) &&
    !now?.objects.has(about) &&
    !now?.outside.has(about)
  )
}

/** Something that looks like a child and was nobody's belongs to an object of the program now. */
function hasAdopted(world: World): boolean {
  return world.options.deviations.some(({ deed }) => deed.type === 'neighbour') && world.facts.state.hasAdopted()
}
