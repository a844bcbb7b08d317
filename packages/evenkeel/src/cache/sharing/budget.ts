/**
 * How much memory cached objects may take before somebody should be told.
 *
 * What is above the limit is kept all the same: a cache that forgets would lie to its readers. It is said once, and
 * again only after it was well below or has doubled.
 */
import type { Logger } from '#base'
import type { SharedInformer } from './members.ts'

interface MemoryBudgetOptions {
  readonly bytesMax: number
  readonly log: Logger
  readonly informers: () => readonly SharedInformer[]
}

/** Adding up takes a moment, so single objects are looked at by the thousand. */
const objectsPerCheck = 1024
const kindsMax = 5
const mebibyte = 1024 * 1024

export class MemoryBudget {
  readonly #options: MemoryBudgetOptions
  /** From where on it is worth saying. */
  #sayAt: number
  #objects = 0

  constructor(options: MemoryBudgetOptions) {
    if (!(options.bytesMax > 0)) throw new RangeError(`bytesMax must be above 0, got ${options.bytesMax}`)
    this.#options = options
    this.#sayAt = options.bytesMax
  }

  /** Something came. */
  check({ isList }: { readonly isList: boolean }): void {
    if (!isList && ++this.#objects % objectsPerCheck !== 0) return
    const { bytesMax, informers: sources, log } = this.#options
    const all = sources()
    const bytes = all.reduce((sum, { informer }) => sum + informer.bytes, 0)
    if (bytes < bytesMax * 0.8) this.#sayAt = bytesMax
    if (bytes < this.#sayAt) return
    this.#sayAt = bytes * 2
    log.warn(
      'cached objects take more memory than they should: hold fewer fields (pick, metadataOnly), fewer objects (label selectors, namespaces), or raise bytesMax of the cache',
      {
        mib: toMebibytes(bytes),
        mibMax: toMebibytes(bytesMax),
        kinds: largest(all),
      },
    )
  }
}

/** `Pod (whole): 81 MiB, 60000 objects`, the largest first. */
function largest(sources: readonly SharedInformer[]): string[] {
  return sources
    .toSorted((a, b) => b.informer.bytes - a.informer.bytes)
    .slice(0, kindsMax)
    .map(
      ({ informer, union: { kind, id: form } }) =>
        `${kind.kind} (${form}): ${toMebibytes(informer.bytes)} MiB, ${informer.size} objects`,
    )
}

function toMebibytes(bytes: number): number {
  return Math.round((bytes / mebibyte) * 10) / 10
}
