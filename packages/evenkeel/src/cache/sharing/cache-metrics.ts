/**
 * What a cache holds, as gauges by kind: objects, memory, whether it is all there, and when the server was last heard.
 *
 * Values are read when somebody looks; a kind that nobody holds any more has no series.
 */
import type { Cancel, Metrics } from '#base'
import { parseApiVersion } from '#api'
import type { SharedInformer } from './members.ts'

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
