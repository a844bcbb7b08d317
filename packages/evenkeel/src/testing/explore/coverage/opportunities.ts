/**
 * Which rules had something to judge in a schedule: silence of a rule that had nothing to look at says nothing.
 */
import type { DeviationAction } from '../../faults/deviation.ts'
import { ruleCodes } from '../../rules/index.ts'
import type { World } from '../../world/world.ts'

/** By the code of the rule; who is not listed can always judge. */
const opportunities: Readonly<Record<string, (world: World) => boolean>> = {
  'deletion-first': isAnyDeleting,
  cleanup: (world) =>
    isAnyDeleting(world) ||
    world.history.events.some(({ before, after }) => before && !after && world.facts.state.isReconciled(before)),
  identity: hasAction('recreate'),
  ownership: (world) =>
    writes(world).some(({ after }) => (after?.metadata.ownerReferences ?? []).length > 0) ||
    hasAction('neighbour')(world),
  conflict: (world) =>
    world.interactions.some(
      ({ requestInfo }) =>
        requestInfo?.isWrite === true && (requestInfo.verb === 'update' || requestInfo.verb === 'patch'),
    ),
  truth: (world) => writes(world).some(({ after }) => after?.['status'] !== undefined),
  idempotent: (world) => !world.options.reference || hasAction('crash', 'lose')(world),
  state: (world) => !world.options.reference || hasAction('hold', 'coalesce', 'drift', 'amend')(world),
  stateless: hasAction('crash', 'serial'),
  resync: hasAction('silence', 'cut'),
  clock: hasAction('skew'),
  leader: hasAction('rival'),
  look: (world) => world.interactions.some(({ type, call }) => type === 'look' && call !== undefined),
  churn: (world) =>
    writes(world).some(({ after }) => !after) ||
    world.interactions.some(({ type, call }) => type === 'effect' && call !== undefined),
  secrets: (world) =>
    world.facts.objects.some(isSecret) ||
    world.history.events.some(({ after }) => after !== undefined && isSecret(after)),
}

/** @param known those that need not be looked at again */
export function exercisedRules(world: World, known: ReadonlySet<string>): readonly string[] {
  return ruleCodes.filter((code) => !known.has(code) && (opportunities[code]?.(world) ?? true))
}

function isAnyDeleting(world: World): boolean {
  return world.history.events.some(
    ({ after }) => after?.metadata.deletionTimestamp !== undefined && world.facts.state.isReconciled(after),
  )
}

function hasAction(...types: readonly DeviationAction['type'][]): (world: World) => boolean {
  return ({ options: { deviations } }) => deviations.some(({ deed }) => types.includes(deed.type))
}

/** What processes of the program wrote. */
function writes(world: World): World['history']['events'] {
  return world.history.events.filter(({ actor }) => world.facts.isProcess(actor))
}

function isSecret({ kind }: { readonly kind: string }): boolean {
  return kind === 'Secret'
}
