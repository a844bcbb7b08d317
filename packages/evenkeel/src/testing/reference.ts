/**
 * The reference: the quiet states of the undisturbed schedule, each with its desired state and the resulting objects.
 *
 * The same desired state must lead to the same objects, whatever faults happen in between. So a scenario needs no
 * specification of its own: the undisturbed schedule is the specification.
 */
import type { UnstructuredObject } from '#api'
import type { Masks } from './learned.ts'
import type { Snapshot } from './snapshot.ts'

/** The state of a world when it is quiet. */
export interface QuietState {
  /** How many steps the user had taken. */
  readonly phase: number
  /** What users have asked for, as one text: equal texts are the same desired state. */
  readonly desired: string
  /** What users have asked for, by object. */
  readonly wishes: Snapshot
  readonly objects: Snapshot
  readonly external: Snapshot
  /** The status of each object of a reconciled kind. */
  readonly statuses: ReadonlyMap<string, string>
  /** Stateful objects that the program has destroyed by then, the phase first: `2 PersistentVolumeClaim default/a`. */
  readonly destroyed: ReadonlySet<string>
}

export function desiredOf(wishes: Snapshot): string {
  return [...wishes]
    .flatMap(([about, values]) => values.map((value) => `${about} ${value}`))
    .sort()
    .join('\n')
}

/** A quiet state without what differs by nature. */
export function maskedState(state: QuietState, masks: Masks): QuietState {
  const wishes = new Map(
    [...state.wishes].map(([about, values]) => [about, values.map((value) => masks.textOf(about, value))]),
  )
  const statuses = [...state.statuses].map(([about, text]): [string, string] => {
    const name = masks.nameOf(about, 'objects')
    return [name, masks.textOf(name, text, 'status')]
  })
  return {
    ...state,
    wishes,
    desired: desiredOf(wishes),
    objects: masks.masked(state.objects, 'objects'),
    external: masks.masked(state.external, 'external'),
    statuses: new Map(statuses),
    destroyed: new Set([...state.destroyed].map((what) => maskedDestruction(what, masks))),
  }
}

/** `2 PersistentVolumeClaim default/a` or `2 cloud buckets a`. */
function maskedDestruction(what: string, masks: Masks): string {
  const [, phase = '', about = ''] = /^(\d+ )(.*)$/s.exec(what) ?? []
  const name = masks.nameOf(about, 'objects')
  return `${phase}${name === about ? masks.nameOf(about, 'external') : name}`
}

export class Reference {
  readonly #quietStates: readonly QuietState[]
  readonly #delayed: readonly QuietState[]
  /** What differs by nature. */
  readonly masks: Masks

  /** @param options `delayed`: the quiet states with more time between the steps */
  constructor(
    quietStates: readonly QuietState[],
    { masks, delayed = [] }: { masks: Masks; delayed?: readonly QuietState[] },
  ) {
    this.masks = masks
    this.#quietStates = quietStates.map((state) => maskedState(state, masks))
    this.#delayed = delayed.map((state) => maskedState(state, masks))
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
