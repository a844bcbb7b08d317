/**
 * How much memory cached objects may take before somebody should be told.
 *
 * What is above the limit is kept all the same: a cache that forgets would lie to its readers. It is said once, and
 * again only after it was well below or has doubled.
 */
import type { Logger } from '#base'
import type { SharedSource } from './members.ts'

interface BudgetOptions {
  readonly bytesMax: number
  readonly log: Logger
  readonly sources: () => readonly SharedSource[]
}

/** Adding up takes a moment, so single objects are looked at by the thousand. */
const objectsPerLook = 1024
const kindsMax = 5
const mebibyte = 1024 * 1024

export class Budget {
  readonly #options: BudgetOptions
  /** From where on it is worth saying. */
  #sayAt: number
  #objects = 0

  constructor(options: BudgetOptions) {
    if (!(options.bytesMax > 0)) throw new RangeError(`bytesMax must be above 0, got ${options.bytesMax}`)
    this.#options = options
    this.#sayAt = options.bytesMax
  }

  /** Something came. */
  check({ isList }: { readonly isList: boolean }): void {
    if (!isList && ++this.#objects % objectsPerLook !== 0) return
    const { bytesMax, sources, log } = this.#options
    const all = sources()
    const bytes = all.reduce((sum, { informer }) => sum + informer.bytes, 0)
    if (bytes < bytesMax * 0.8) this.#sayAt = bytesMax
    if (bytes < this.#sayAt) return
    this.#sayAt = bytes * 2
    log.warn(
      'cached objects take more memory than they should: hold fewer fields (pick, metadataOnly), fewer objects (label selectors, namespaces), or raise bytesMax of the cache',
      {
        mib: round(bytes),
        mibMax: round(bytesMax),
        kinds: largest(all),
      },
    )
  }
}

/** `Pod (whole): 81 MiB, 60000 objects`, the largest first. */
function largest(sources: readonly SharedSource[]): string[] {
  return sources
    .toSorted((a, b) => b.informer.bytes - a.informer.bytes)
    .slice(0, kindsMax)
    .map(
      ({ informer, union: { kind, form } }) =>
        `${kind.kind} (${form}): ${round(informer.bytes)} MiB, ${informer.size} objects`,
    )
}

function round(bytes: number): number {
  return Math.round((bytes / mebibyte) * 10) / 10
}
