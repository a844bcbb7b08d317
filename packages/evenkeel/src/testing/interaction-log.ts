/**
 * The interactions of a schedule: requests and external calls that were executed, in order and numbered by type.
 *
 * Invariant: interactions that a rule causes have no number, because other schedules do not have them.
 */
import type { Interaction } from './deviation.ts'
import type { SimulatedProcess } from './process.ts'

/** How many renewals of a lease in a row count as effects. */
const renewalsMax = 3

/** What the sender of an interaction knows about it. */
export type InteractionFacts = Pick<Interaction, 'about' | 'requestedAt'> &
  Partial<Pick<Interaction, 'requestInfo' | 'request' | 'call' | 'knownDeletions'>>

export class InteractionLog {
  readonly all: Interaction[] = []
  #effects = 0
  #reads = 0

  add(
    facts: InteractionFacts,
    type: Interaction['type'],
    {
      process,
      step,
      phase,
      isProbing,
    }: Pick<Interaction, 'process' | 'step' | 'phase'> & { readonly isProbing: boolean },
  ): Interaction {
    const index = isProbing ? -1 : type === 'effect' ? this.#effects++ : this.#reads++
    // All fields in one literal: objects of one shape are faster to make and to read.
    const { about, requestedAt, requestInfo, request, call, knownDeletions } = facts
    const interaction: Interaction = {
      about,
      requestedAt,
      requestInfo,
      request,
      call,
      knownDeletions,
      type,
      index,
      process,
      step,
      phase,
      outcome: '',
    }
    this.all.push(interaction)
    return interaction
  }

  /** Whether a write of the lease is an effect: only the first renewals in a row are. */
  countsLease({ name }: SimulatedProcess): boolean {
    const last = this.all.slice(-renewalsMax)
    return (
      last.length < renewalsMax ||
      last.some(({ process: proc, requestInfo }) => requestInfo?.resource !== 'leases' || proc.name !== name)
    )
  }
}
