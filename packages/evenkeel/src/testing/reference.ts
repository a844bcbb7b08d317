/**
 * The reference: the quiet states of the undisturbed schedule, each with its desired state and the resulting objects.
 *
 * The same desired state must lead to the same objects, whatever faults happen in between. So a scenario needs no
 * specification of its own: the undisturbed schedule is the specification.
 */
import type { UnstructuredObject } from '#api'
import { randomPathsBetween, type RandomPaths, type Snapshot } from './snapshot.ts'

/** The state of a world when it is quiet. */
export interface QuietState {
  /** How many steps the user had taken. */
  readonly phase: number
  /** The objects of reconciled kinds, without what controllers write into them. */
  readonly desired: string
  readonly objects: Snapshot
  readonly external: Snapshot
  /** The status of each object of a reconciled kind. */
  readonly statuses: ReadonlyMap<string, string>
  /** Stateful objects that the program has destroyed by then, the phase first: `2 PersistentVolumeClaim default/a`. */
  readonly destroyed: ReadonlySet<string>
}

export class Reference {
  readonly #quietStates: readonly QuietState[]
  readonly #delayed: readonly QuietState[]
  /** Paths that may differ because their values are random. */
  readonly randomPaths: RandomPaths

  /** @param variants `delayed`: with more time between the steps; `reseeded`: with other random numbers */
  constructor(
    quietStates: readonly QuietState[],
    { delayed = [], reseeded = [] }: { delayed?: readonly QuietState[]; reseeded?: readonly QuietState[] } = {},
  ) {
    this.#quietStates = quietStates
    this.#delayed = delayed
    this.randomPaths = new Set(
      quietStates.flatMap(({ objects, external }, index) => [
        ...randomPathsBetween(objects, reseeded[index]?.objects ?? objects),
        ...randomPathsBetween(external, reseeded[index]?.external ?? external),
      ]),
    )
  }

  get quietStates(): readonly QuietState[] {
    return this.#quietStates
  }

  /** A quiet state with the same desired state, preferably of the same phase. */
  matchingState({ phase, desired }: Pick<QuietState, 'phase' | 'desired'>): QuietState | undefined {
    const matching = this.#quietStates.filter((state) => state.desired === desired)
    return matching.find((state) => state.phase === phase) ?? matching.at(-1)
  }

  /** All quiet states with the same desired state; only those of the same phase if there are any. */
  matchingStates(
    { phase, desired }: Pick<QuietState, 'phase' | 'desired'>,
    { includesDelayed = false } = {},
  ): readonly QuietState[] {
    const matching = [...this.#quietStates, ...(includesDelayed ? this.#delayed : [])].filter(
      (state) => state.desired === desired,
    )
    const now = matching.filter((state) => state.phase === phase)
    return now.length > 0 ? now : matching
  }

  ofPhase(phase: number, { includesDelayed = false } = {}): readonly QuietState[] {
    return [...this.#quietStates, ...(includesDelayed ? this.#delayed : [])].filter((state) => state.phase === phase)
  }

  /** Whether the undisturbed program destroys this in this phase. */
  destroys(what: string): boolean {
    return this.#quietStates.some(({ destroyed }) => destroyed.has(what))
  }

  at(phase: number): QuietState | undefined {
    return this.#quietStates.findLast((state) => state.phase === phase)
  }
}

/** Whether an object is of one of these kinds. */
export function isOfKind(
  { apiVersion, kind }: Pick<UnstructuredObject, 'apiVersion' | 'kind'>,
  kinds: ReadonlySet<string>,
): boolean {
  return kinds.has(`${groupOf(apiVersion)}/${kind}`)
}

export function groupOf(apiVersion: string): string {
  const at = apiVersion.indexOf('/')
  return at < 0 ? '' : apiVersion.slice(0, at)
}
