/**
 * How much of a scenario an exploration has tried: at how many interactions a fault was injected, and which rules had
 * something to check. A rule that had nothing to check proves nothing by its silence.
 */
import type { Deviation, DeviationAction } from './deviation.ts'
import { ruleCodes } from './rules/registry.ts'
import type { World } from './world.ts'

/** How many the undisturbed schedule has, and at how many of them a fault was injected. */
export interface CoverageShare {
  readonly seen: number
  readonly faulted: number
}

export interface Coverage {
  /** Writes to the API server. */
  readonly writes: CoverageShare
  /** External calls that change something. */
  readonly calls: CoverageShare
  /** Reads of the server and of external services. */
  readonly reads: CoverageShare
  /** Quiet states between the steps of the user. */
  readonly quietStates: CoverageShare
  /** In how many schedules each type of action took part, most first. */
  readonly actions: Readonly<Record<string, number>>
  /** Rules that had something to check, and rules that had nothing. */
  readonly rules: { readonly exercised: readonly string[]; readonly idle: readonly string[] }
  /** How often each controller reconciled in the undisturbed schedule, and how many objects. */
  readonly controllers: readonly { readonly name: string; readonly runs: number; readonly objects: number }[]
}

export class CoverageCounter {
  readonly #first: World
  readonly #points = new Set<string>()
  readonly #actions = new Map<string, number>()
  readonly #exercised = new Set<string>()

  /** @param first the undisturbed schedule */
  constructor(first: World) {
    this.#first = first
  }

  /** Counts a schedule. */
  add(deviations: readonly Deviation[], exercised: readonly string[]): void {
    for (const { at } of deviations) this.#points.add(`${at.type} ${at.index}`)
    for (const type of new Set(deviations.map(({ action }) => action.type)))
      this.#actions.set(type, (this.#actions.get(type) ?? 0) + 1)
    for (const rule of exercised) this.#exercised.add(rule)
  }

  get result(): Coverage {
    const { interactions, quietSteps } = this.#first
    const own = interactions.filter(({ index }) => index >= 0)
    const share = (those: typeof own): CoverageShare => ({
      seen: those.length,
      faulted: those.filter(({ type, index }) => this.#points.has(`${type} ${index}`)).length,
    })
    const quietStates = quietSteps.slice(0, -1)
    return {
      writes: share(own.filter(({ type, call }) => type === 'effect' && !call)),
      calls: share(own.filter(({ type, call }) => type === 'effect' && call)),
      reads: share(own.filter(({ type }) => type === 'read')),
      quietStates: {
        seen: quietStates.length,
        faulted: quietStates.filter((_, index) => this.#points.has(`quiet ${index}`)).length,
      },
      actions: Object.fromEntries([...this.#actions].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
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

/** When a rule has something to check, by its code; a rule that is not listed always has. */
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
  always: ({ options: { scenario } }) => scenario.always !== undefined,
  eventually: ({ options: { scenario } }) => scenario.eventually !== undefined,
  surge: hasReference,
  disruption: hasReference,
  repeat: hasReference,
  look: (world) => world.interactions.some(({ type, call }) => type === 'read' && call !== undefined),
  churn: (world) =>
    writes(world).some(({ after }) => !after) ||
    world.interactions.some(({ type, call }) => type === 'effect' && call !== undefined),
  secrets: (world) =>
    world.facts.objects.some(isSecret) ||
    world.history.events.some(({ after }) => after !== undefined && isSecret(after)),
}

/** Rules that had something to check. @param known rules to skip */
export function exercisedRules(world: World, known: ReadonlySet<string>): readonly string[] {
  return ruleCodes.filter((code) => !known.has(code) && (opportunities[code]?.(world) ?? true))
}

function isAnyDeleting(world: World): boolean {
  return world.history.events.some(
    ({ after }) => after?.metadata.deletionTimestamp !== undefined && world.facts.state.isReconciled(after),
  )
}

function hasAction(...types: readonly DeviationAction['type'][]): (world: World) => boolean {
  return ({ options: { deviations } }) => deviations.some(({ action }) => types.includes(action.type))
}

function hasReference({ options: { reference } }: World): boolean {
  return reference !== undefined
}

/** The writes of the program. */
function writes(world: World): World['history']['events'] {
  return world.history.events.filter(({ actor }) => world.facts.isProcess(actor))
}

function isSecret({ kind }: { readonly kind: string }): boolean {
  return kind === 'Secret'
}
