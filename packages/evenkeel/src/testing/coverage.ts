/**
 * How much of a scenario an exploration has tried: what was there to go wrong, and what did.
 */
import type { Deviation, DeviationAction } from './deviation.ts'
import { ruleCodes } from './rules/registry.ts'
import type { World } from './world.ts'

/** Of so many that were seen in the undisturbed schedule, something went wrong at so many. */
export interface CoverageShare {
  readonly seen: number
  readonly faulted: number
}

export interface Coverage {
  /** Writes to the server. */
  readonly writes: CoverageShare
  /** Calls that change something outside. */
  readonly calls: CoverageShare
  /** Reads of either. */
  readonly looks: CoverageShare
  /** Moments at which nothing happens. */
  readonly rests: CoverageShare
  /** In how many schedules each kind of deviation took part, most first. */
  readonly deeds: Readonly<Record<string, number>>
  /** Rules that had something to judge, and those that had not. */
  readonly rules: { readonly exercised: readonly string[]; readonly idle: readonly string[] }
  /** How often each controller ran in the undisturbed schedule, and on how many objects. */
  readonly controllers: readonly { readonly name: string; readonly runs: number; readonly objects: number }[]
}

export class CoverageCounter {
  readonly #first: World
  readonly #places = new Set<string>()
  readonly #deeds = new Map<string, number>()
  readonly #exercised = new Set<string>()

  /** @param first the undisturbed schedule */
  constructor(first: World) {
    this.#first = first
  }

  /** A schedule was run. */
  add(deviations: readonly Deviation[], exercised: readonly string[]): void {
    for (const { at } of deviations) this.#places.add(`${at.type} ${at.index}`)
    for (const type of new Set(deviations.map(({ deed }) => deed.type)))
      this.#deeds.set(type, (this.#deeds.get(type) ?? 0) + 1)
    for (const rule of exercised) this.#exercised.add(rule)
  }

  get result(): Coverage {
    const { interactions: points, quietSteps } = this.#first
    const own = points.filter(({ index }) => index >= 0)
    const share = (those: typeof own): CoverageShare => ({
      seen: those.length,
      faulted: those.filter(({ type, index }) => this.#places.has(`${type} ${index}`)).length,
    })
    const rests = quietSteps.slice(0, -1)
    return {
      writes: share(own.filter(({ type, call }) => type === 'effect' && !call)),
      calls: share(own.filter(({ type, call }) => type === 'effect' && call)),
      looks: share(own.filter(({ type }) => type === 'look')),
      rests: { seen: rests.length, faulted: rests.filter((_, index) => this.#places.has(`quiet ${index}`)).length },
      deeds: Object.fromEntries([...this.#deeds].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
      rules: {
        exercised: ruleCodes.filter((code) => this.#exercised.has(code)),
        idle: ruleCodes.filter((code) => !this.#exercised.has(code)),
      },
      controllers: controllersOf(this.#first),
    }
  }
}

function controllersOf({ processes }: World): Coverage['controllers'] {
  const found = new Map<string, { runs: number; readonly objects: Set<string> }>()
  for (const { controller, key } of processes.flatMap(({ manager }) => manager?.ledger.entries() ?? [])) {
    const known = found.get(controller) ?? { runs: 0, objects: new Set<string>() }
    known.runs++
    known.objects.add(JSON.stringify(key))
    found.set(controller, known)
  }
  return [...found].map(([name, { runs, objects }]) => ({ name, runs, objects: objects.size }))
}

/*
 * Which rules had something to judge in a schedule: silence of a rule that had nothing to look at says nothing.
 */

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
