/**
 * Server metrics, in the text format of Prometheus and under upstream's names.
 *
 * Labels come from the registry and from fixed sets, never from a request, so that clients cannot create an unbounded
 * number of series.
 */
import type { Resource } from '@evenkeel/builtins'
import type { Registry } from './registry/registry.ts'
import type { RequestInfo } from './request-context.ts'

const bucketSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

interface RequestSeries {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
  readonly codes: Map<number, number>
  readonly buckets: number[]
  sum: number
  count: number
}

export class RequestMetrics {
  readonly #registry: Registry
  readonly #series = new Map<string, RequestSeries>()
  readonly #others: () => readonly string[]

  /** @param others lines of other metrics */
  constructor(registry: Registry, others: () => readonly string[]) {
    this.#registry = registry
    this.#others = others
  }

  end(info: RequestInfo | undefined, { status, seconds }: { status: number; seconds: number }): void {
    const series = this.#seriesOf(info)
    series.codes.set(status, (series.codes.get(status) ?? 0) + 1)
    series.count++
    series.sum += seconds
    const at = bucketSeconds.findIndex((limit) => seconds <= limit)
    if (at >= 0) series.buckets[at] = (series.buckets[at] ?? 0) + 1
  }

  /** The text of `/metrics`. */
  render(): string {
    const series = [...this.#series.values()]
    return [
      '# HELP apiserver_request_total Requests by verb, resource and code.',
      '# TYPE apiserver_request_total counter',
      ...series.flatMap((one) =>
        [...one.codes].map(
          ([code, count]) => `apiserver_request_total{code="${code}",component="apiserver",${labels(one)}} ${count}`,
        ),
      ),
      '# HELP apiserver_request_duration_seconds Time from request to response, watches until they begin.',
      '# TYPE apiserver_request_duration_seconds histogram',
      ...series.flatMap(durations),
      ...this.#others(),
      '',
    ].join('\n')
  }

  #seriesOf(info: RequestInfo | undefined): RequestSeries {
    const key = keyOf(info)
    return this.#series.get(key) ?? this.#newSeries(key, info)
  }

  // Only resources in the registry get a series: clients cannot create more.
  #newSeries(key: string, info: RequestInfo | undefined): RequestSeries {
    const place = info?.resourcePath
    const resource = place && this.#registry.find(place.group, place.version, place.resource)
    const isKnown =
      place === undefined ||
      (resource !== undefined &&
        (place.subresource === '' || resource.subresources.some(({ name }) => name === place.subresource)))
    if (!isKnown)
      return (
        this.#series.get('unknown') ??
        this.#keep('unknown', { verb: verbLabel(info?.verb ?? ''), resource: undefined, subresource: '', scope: '' })
      )
    return this.#keep(key, {
      verb: verbLabel(info?.verb ?? ''),
      resource,
      subresource: place?.subresource ?? '',
      scope: place ? scopeOf(place) : '',
    })
  }

  #keep(
    key: string,
    {
      verb,
      resource,
      subresource,
      scope,
    }: { verb: string; resource: Resource | undefined; subresource: string; scope: string },
  ): RequestSeries {
    const series = {
      verb,
      group: resource?.group ?? '',
      version: resource?.version ?? '',
      resource: resource?.plural ?? '',
      subresource,
      scope,
      codes: new Map<number, number>(),
      buckets: [],
      sum: 0,
      count: 0,
    }
    this.#series.set(key, series)
    return series
  }
}

function keyOf(info: RequestInfo | undefined): string {
  const place = info?.resourcePath
  if (place === undefined) return `plain ${verbLabel(info?.verb ?? '')}`
  return `${info?.verb ?? ''} ${place.group}/${place.version}/${place.resource}/${place.subresource} ${scopeOf(place)}`
}

const verbs: ReadonlySet<string> = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'post',
  'put',
  'head',
])

function verbLabel(verb: string): string {
  return verbs.has(verb) ? verb.toUpperCase() : 'other'
}

function scopeOf({ namespace, name }: { namespace: string; name: string }): string {
  if (name !== '') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}

function labels({ verb, group, version, resource, subresource, scope }: RequestSeries): string {
  return `group="${group}",resource="${resource}",scope="${scope}",subresource="${subresource}",verb="${verb}",version="${version}"`
}

function durations(series: RequestSeries): string[] {
  let total = 0
  const name = 'apiserver_request_duration_seconds'
  const buckets = bucketSeconds.map((limit, index) => {
    total += series.buckets[index] ?? 0
    return `${name}_bucket{${labels(series)},le="${limit}"} ${total}`
  })
  return [
    ...buckets,
    `${name}_bucket{${labels(series)},le="+Inf"} ${series.count}`,
    `${name}_sum{${labels(series)}} ${series.sum}`,
    `${name}_count{${labels(series)}} ${series.count}`,
  ]
}
