/**
 * What the undisturbed schedule came to: at every rest, what was wished for and what was there.
 *
 * The same wishes must lead to the same world, whatever goes wrong on the way. That needs no specification.
 */
import type { UnstructuredObject } from '#api'
import { randomPathsBetween, type RandomPaths, type Snapshot } from './snapshot.ts'

/** One rest. */
export interface QuietState {
  /** How many steps the user had taken. */
  readonly phase: number
  /** What users ask for: objects of the kinds that are reconciled, without what controllers write into them. */
  readonly desired: string
  readonly objects: Snapshot
  readonly outside: Snapshot
  /** What the objects of reconciled kinds say about themselves. */
  readonly statuses: ReadonlyMap<string, string>
  /** What the program has destroyed by then of what cannot be made again: `2 PersistentVolumeClaim default/a`, the phase first. */
  readonly destroyed: ReadonlySet<string>
}

export class Reference {
  readonly #rests: readonly QuietState[]
  readonly #patient: readonly QuietState[]
  /** What may differ because it is drawn by chance. */
  readonly randomPaths: RandomPaths

  /** @param more `patient`: the same with more time between the steps, for a program that looks at the clock; `lucky`: the same with other chances */
  constructor(
    rests: readonly QuietState[],
    { patient = [], lucky = [] }: { patient?: readonly QuietState[]; lucky?: readonly QuietState[] } = {},
  ) {
    this.#rests = rests
    this.#patient = patient
    this.randomPaths = new Set(
      rests.flatMap(({ objects, outside }, index) => [
        ...randomPathsBetween(objects, lucky[index]?.objects ?? objects),
        ...randomPathsBetween(outside, lucky[index]?.outside ?? outside),
      ]),
    )
  }

  get quietStates(): readonly QuietState[] {
    return this.#rests
  }

  /** A rest with the same wishes, best the one of the same phase. */
  matchingState({ phase, desired }: Pick<QuietState, 'phase' | 'desired'>): QuietState | undefined {
    const alike = this.#rests.filter((rest) => rest.desired === desired)
    return alike.find((rest) => rest.phase === phase) ?? alike.at(-1)
  }

  /** All rests with the same wishes, those of the same phase if there are any. */
  matchingStates(
    { phase, desired }: Pick<QuietState, 'phase' | 'desired'>,
    { isPatient = false } = {},
  ): readonly QuietState[] {
    const alike = [...this.#rests, ...(isPatient ? this.#patient : [])].filter((rest) => rest.desired === desired)
    const now = alike.filter((rest) => rest.phase === phase)
    return now.length > 0 ? now : alike
  }

  ofPhase(phase: number, { isPatient = false } = {}): readonly QuietState[] {
    return [...this.#rests, ...(isPatient ? this.#patient : [])].filter((rest) => rest.phase === phase)
  }

  /** Whether the program destroys this in this phase when nothing goes wrong. */
  destroys(what: string): boolean {
    return this.#rests.some(({ destroyed }) => destroyed.has(what))
  }

  at(phase: number): QuietState | undefined {
    return this.#rests.findLast((rest) => rest.phase === phase)
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
