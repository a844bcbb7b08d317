/**
 * Which rules had something to judge in a schedule: silence of a rule that had nothing to look at says nothing.
 */
import type { Deed } from '../../faults/deviation.ts'
import { ruleCodes } from '../../rules/index.ts'
import type { World } from '../../world/world.ts'

/** By the code of the rule; who is not listed can always judge. */
const opportunities: Readonly<Record<string, (world: World) => boolean>> = {
  'deletion-first': isAnyDeleting,
  cleanup: (world) =>
    isAnyDeleting(world) ||
    world.chronicle.happenings.some(({ before, after }) => before && !after && world.facts.view.isReconciled(before)),
  identity: hasDeed('recreate'),
  ownership: (world) =>
    writes(world).some(({ after }) => (after?.metadata.ownerReferences ?? []).length > 0) ||
    hasDeed('neighbour')(world),
  conflict: (world) =>
    world.points.some(({ asked }) => asked?.isWrite === true && (asked.verb === 'update' || asked.verb === 'patch')),
  truth: (world) => writes(world).some(({ after }) => after?.['status'] !== undefined),
  idempotent: (world) => !world.options.reference || hasDeed('crash', 'lose')(world),
  state: (world) => !world.options.reference || hasDeed('hold', 'coalesce', 'drift', 'amend')(world),
  stateless: hasDeed('crash', 'serial'),
  resync: hasDeed('silence', 'cut'),
  clock: hasDeed('skew'),
  leader: hasDeed('rival'),
  look: (world) => world.points.some(({ type, call }) => type === 'look' && call !== undefined),
  churn: (world) =>
    writes(world).some(({ after }) => !after) ||
    world.points.some(({ type, call }) => type === 'effect' && call !== undefined),
  secrets: (world) =>
    world.facts.objects.some(isSecret) ||
    world.chronicle.happenings.some(({ after }) => after !== undefined && isSecret(after)),
}

/** @param known those that need not be looked at again */
export function exercisedIn(world: World, known: ReadonlySet<string>): readonly string[] {
  return ruleCodes.filter((code) => !known.has(code) && (opportunities[code]?.(world) ?? true))
}

function isAnyDeleting(world: World): boolean {
  return world.chronicle.happenings.some(
    ({ after }) => after?.metadata.deletionTimestamp !== undefined && world.facts.view.isReconciled(after),
  )
}

function hasDeed(...types: readonly Deed['type'][]): (world: World) => boolean {
  return ({ options: { deviations } }) => deviations.some(({ deed }) => types.includes(deed.type))
}

/** What processes of the program wrote. */
function writes(world: World): World['chronicle']['happenings'] {
  return world.chronicle.happenings.filter(({ actor }) => world.facts.isLife(actor))
}

function isSecret({ kind }: { readonly kind: string }): boolean {
  return kind === 'Secret'
}
