/**
 * The metrics of a cache by kind: objects, memory, whether it has synced, and the time of the last message; and the
 * warning when cached objects take too much memory.
 *
 * Values are computed when they are read; a kind without an informer has no series. Above the memory limit no object is
 * dropped, because readers must not miss any. The warning appears once, and again only after the memory was well below
 * the limit or has doubled.
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
    help: 'Approximate memory of cached objects, in bytes, before a program reads their fields.',
    read: (sources) => sum(sources, ({ informer }) => informer.bytes),
  },
  {
    name: 'evenkeel_cache_watches',
    help: 'Number of watches: one for each namespace, selector and projection.',
    read: (sources) => sources.length,
  },
  {
    name: 'evenkeel_cache_synced',
    help: 'Whether the first list is complete.',
    read: (sources) => Number(sources.every(({ informer }) => informer.hasSynced)),
  },
  {
    name: 'evenkeel_cache_last_event_age_seconds',
    help: 'Seconds since the last data from the server, bookmarks included; infinite before the first.',
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

  /** Sets the current informers. */
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

interface MemoryBudgetOptions {
  readonly bytesMax: number
  readonly log: Logger
  readonly informers: () => readonly SharedInformer[]
}

/** Adding up takes time, so it is done once for a thousand single objects. */
const objectsPerCheck = 1024
const kindsMax = 5
const mebibyte = 1024 * 1024

export class MemoryBudget {
  readonly #options: MemoryBudgetOptions
  /** The next warning appears above this. */
  #sayAt: number
  #objects = 0

  constructor(options: MemoryBudgetOptions) {
    if (!(options.bytesMax > 0)) throw new RangeError(`bytesMax must be above 0, got ${options.bytesMax}`)
    this.#options = options
    this.#sayAt = options.bytesMax
  }

  /** The cache has grown. */
  check({ isList }: { readonly isList: boolean }): void {
    if (!isList && ++this.#objects % objectsPerCheck !== 0) return
    const { bytesMax, informers: sources, log } = this.#options
    const all = sources()
    const bytes = all.reduce((sum, { informer }) => sum + informer.bytes, 0)
    if (bytes < bytesMax * 0.8) this.#sayAt = bytesMax
    if (bytes < this.#sayAt) return
    this.#sayAt = bytes * 2
    log.warn(
      'cached objects take more memory than bytesMax: keep fewer fields (pick, metadataOnly) or fewer objects (label selectors, namespaces), or raise bytesMax',
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
