/**
 * What a cache holds, as gauges by kind: objects, memory, whether it is all there, and when the server was last heard.
 *
 * Values are read when somebody looks; a kind that nobody holds any more has no series.
 */
import { parseApiVersion } from '#api'
import type { Cancel, Logger, Metrics } from '#base'
import type { SharedInformer } from './shared-informers.ts'

type ReadGauge = (sources: readonly SharedInformer[]) => number

const gauges: readonly { readonly name: string; readonly help: string; readonly read: ReadGauge }[] = [
  {
    name: 'evenkeel_cache_objects',
    help: 'Objects in the cache.',
    read: (sources) => sum(sources, ({ informer }) => informer.size),
  },
  {
    name: 'evenkeel_cache_bytes',
    help: 'About how much memory cached objects take while nobody looks inside.',
    read: (sources) => sum(sources, ({ informer }) => informer.bytes),
  },
  {
    name: 'evenkeel_cache_watches',
    help: 'How many watches there are, for different namespaces, selections or parts of the objects.',
    read: (sources) => sources.length,
  },
  {
    name: 'evenkeel_cache_synced',
    help: 'Whether everything was listed at least once.',
    read: (sources) => Number(sources.every(({ informer }) => informer.hasSynced)),
  },
  {
    name: 'evenkeel_cache_last_event_age_seconds',
    help: 'How long ago the server was last heard, if only to say that nothing happened; infinite when it never was.',
    read: (sources) => Math.max(...sources.map(({ informer }) => informer.silentMs ?? Infinity)) / 1000,
  },
]

const labels = ['group', 'kind']

export class CacheMetrics {
  readonly #metrics: Metrics
  readonly #kinds = new Map<string, { sources: readonly SharedInformer[]; readonly forget: Cancel }>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** These are all informers that there are now. */
  follow(sources: readonly SharedInformer[]): void {
    const byKind = new Map<string, SharedInformer[]>()
    for (const source of sources) {
      const { kind, apiVersion } = source.union.kind
      const key = JSON.stringify([parseApiVersion(apiVersion).group, kind])
      byKind.set(key, [...(byKind.get(key) ?? []), source])
    }
    for (const [key, { forget }] of this.#kinds) {
      if (byKind.has(key)) continue
      forget()
      this.#kinds.delete(key)
    }
    for (const [key, ofKind] of byKind) {
      const known = this.#kinds.get(key)
      if (known) known.sources = ofKind
      else this.#begin(key, ofKind)
    }
  }

  #begin(key: string, sources: readonly SharedInformer[]): void {
    const [group = '', kind = ''] = JSON.parse(key) as string[]
    const families = gauges.map(({ name, help, read }) => ({
      family: this.#metrics.gauge(name, { help, labels }),
      read,
    }))
    const entry = {
      sources,
      forget: () => {
        for (const { family } of families) family.delete({ group, kind })
      },
    }
    for (const { family, read } of families) family.with({ group, kind }).follow(() => read(entry.sources))
    this.#kinds.set(key, entry)
  }
}

function sum(sources: readonly SharedInformer[], of: (source: SharedInformer) => number): number {
  return sources.reduce((total, source) => total + of(source), 0)
}

/*
 * How much memory cached objects may take before somebody should be told.
 *
 * What is above the limit is kept all the same: a cache that forgets would lie to its readers. It is said once, and
 * again only after it was well below or has doubled.
 */

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
