/**
 * The reference: the quiet states of the undisturbed schedule, each with its desired state and the resulting objects.
 *
 * The same desired state must lead to the same objects, whatever faults happen in between. So a scenario needs no
 * specification of its own: the undisturbed schedule is the specification.
 */
import type { UnstructuredObject } from '#api'
import type { Deviation, DeviationAction } from './deviation.ts'
import type { Masks } from './learned.ts'
import { compareSnapshots, type Difference, type Snapshot } from './snapshot.ts'
import type { Way } from './way.ts'

/** The state of a world when it is quiet. */
export interface QuietState {
  /** How many steps the user had taken. */
  readonly phase: number
  /** How much time had passed by the wall clock. */
  readonly elapsedMs: number
  /** What users have asked for, as one text: equal texts are the same desired state. */
  readonly desired: string
  /** What users have asked for, by object. */
  readonly wishes: Snapshot
  readonly objects: Snapshot
  readonly external: Snapshot
  /** The status of each object of a reconciled kind. */
  readonly statuses: ReadonlyMap<string, string>
  /** What was made because something was due, named by that time: how many there are depends on how much time has passed. */
  readonly due: ReadonlySet<string>
  /** The objects that some controller will reconcile again much later, by itself. */
  readonly requeues: ReadonlySet<string>
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
    requeues: new Set([...state.requeues].map((about) => masks.nameOf(about, 'objects'))),
    due: new Set([...dueIn(state.objects, 'objects', masks), ...dueIn(state.external, 'external', masks)]),
    destroyed: new Set([...state.destroyed].map((what) => maskedDestruction(what, masks))),
  }
}

function dueIn(snapshot: Snapshot, section: 'objects' | 'external', masks: Masks): string[] {
  return [...snapshot.keys()]
    .filter((about) => masks.isDue(about, section))
    .map((about) => masks.nameOf(about, section))
}

/** Deviations after which less becomes due: a process is down, the user is faster, or an object begins its life again. */
const shortening: ReadonlySet<DeviationAction['type']> = new Set([
  'die',
  'late',
  'early',
  'evict',
  'deprive',
  'recreate',
])

/** How much later or earlier is the same time. */
const sameTimeMs = 5000

/**
 * How a state differs from an expected one.
 *
 * Of what is named by its due time there may be more if more time has passed. There may be less only if less could become
 * due: a program that forgets its timers has less.
 */
export function compareStates(
  expected: QuietState,
  found: QuietState,
  { deviations }: { readonly deviations: readonly Deviation[] },
): Difference[] {
  const laterMs = found.elapsedMs - expected.elapsedMs
  const isOtherTime = deviations.some(({ action: { type } }) => type === 'skew' || shortening.has(type))
  const isByTime = ({ about, expected: wanted, found: have }: Difference): boolean =>
    (expected.due.has(about) || found.due.has(about)) &&
    wanted.length > 0 &&
    have.length > 0 &&
    (isOtherTime || laterMs > sameTimeMs)
  return [
    ...compareSnapshots(expected.objects, found.objects),
    ...compareSnapshots(expected.external, found.external),
  ].filter((difference) => !isByTime(difference))
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
  readonly #rests: readonly QuietState[]
  /** What differs by nature. */
  readonly masks: Masks
  /** The widest way of the undisturbed schedules; absent if they do not become quiet. */
  readonly way: Way | undefined

  /** @param options `delayed`: the quiet states with more time between the steps; `rests`: the states before leaps of time */
  constructor(
    quietStates: readonly QuietState[],
    {
      masks,
      delayed = [],
      rests = [],
      way,
    }: { masks: Masks; delayed?: readonly QuietState[]; rests?: readonly QuietState[]; way?: Way },
  ) {
    this.way = way
    this.masks = masks
    this.#quietStates = quietStates.map((state) => maskedState(state, masks))
    this.#delayed = delayed.map((state) => maskedState(state, masks))
    this.#rests = rests.map((state) => maskedState(state, masks))
  }

  get quietStates(): readonly QuietState[] {
    return this.#quietStates
  }

  /** The states in which the undisturbed program waited for time to pass, with this desired state. */
  restsLike({ phase, desired }: Pick<QuietState, 'phase' | 'desired'>): readonly QuietState[] {
    return this.#rests.filter((state) => state.phase === phase && state.desired === desired)
  }

  /** The state after a step of the user in which the undisturbed program first waited for time to pass. */
  firstRest(phase: number): QuietState | undefined {
    return this.#rests.find((state) => state.phase === phase)
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
