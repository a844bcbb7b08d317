/**
 * Metrics: counters, gauges and histograms with labels, in one registry, rendered in the Prometheus text format 0.0.4.
 *
 * A family has a name and label names; `with` returns the series of one set of label values. Keep the series: then
 * counting is an addition without a lookup. An invalid name is a `RangeError`.
 *
 * Invariants: a name has one type and one set of labels, fixed by its first use; a family has at most `seriesMax` series:
 * further ones work, but are not rendered, and `evenkeel_metrics_series_dropped` counts them; label values and help texts
 * may be any text, because line breaks, quotes and backslashes are escaped.
 *
 * Example:
 *
 *   const requests = metrics.counter('http_requests_total', { help: 'Requests.', labels: ['code'] })
 *   requests.with({ code: '200' }).add()      // http_requests_total{code="200"} 1
 */
import type { Cancel } from './clock.ts'

/** A value that only rises. */
export interface Counter {
  /** @default by 1 */
  add(by?: number): void
  /** Reads the value whenever the metrics are rendered, until cancelled; for values that are counted elsewhere. */
  follow(read: () => number): Cancel
}

/** A value that rises and falls. */
export interface Gauge {
  set(value: number): void
  add(by: number): void
  /** Reads the value whenever the metrics are rendered, until cancelled (then it is 0) or replaced by another call. */
  follow(read: () => number): Cancel
}

/** A distribution of values over buckets. */
export interface Histogram {
  observe(value: number): void
}

/** All series of one name. */
interface Family<S> {
  /** The series of these label values; the same values return the same series. */
  with(values?: Readonly<Record<string, string>>): S
  /** Removes a series, for instance when its object is deleted. */
  delete(values: Readonly<Record<string, string>>): void
}

interface FamilyOptions {
  /** The HELP text. */
  help: string
  /**
   * The names of the labels.
   *
   * @default none
   */
  labels?: readonly string[]
  /**
   * The maximum number of series, so that label values from outside cannot fill the memory.
   *
   * @default 10_000
   */
  seriesMax?: number
}

interface HistogramOptions extends FamilyOptions {
  /** The upper bounds, smallest first, without infinity. */
  buckets: readonly number[]
}

/** The metrics registry of a process. */
export class Metrics {
  readonly #families = new Map<string, AnyFamily>()
  readonly #dropped: Series

  constructor() {
    this.#dropped = this.#family('evenkeel_metrics_series_dropped', {
      type: 'gauge',
      help: 'Series that are not rendered because their family reached its maximum number of series.',
      make: () => new Series(),
    }).with()
  }

  counter(name: string, options: FamilyOptions): Family<Counter> {
    return this.#family(name, { ...options, type: 'counter', make: () => new Series() })
  }

  gauge(name: string, options: FamilyOptions): Family<Gauge> {
    return this.#family(name, { ...options, type: 'gauge', make: () => new Series() })
  }

  histogram(name: string, { buckets, ...options }: HistogramOptions): Family<Histogram> {
    if (buckets.some((bound, index) => !(bound > (buckets[index - 1] ?? -Infinity) && bound < Infinity)))
      throw new RangeError(`metric ${name}: buckets must be finite and rising, got ${buckets.join(', ')}`)
    return this.#family(name, { ...options, type: 'histogram', make: () => new Buckets(buckets) })
  }

  /** A view of the same registry that adds these labels to every family, for several instances of one component. */
  labelled(labels: Readonly<Record<string, string>>): Metrics {
    return new LabelledMetrics(this, labels)
  }

  /** All families, sorted by name, in the Prometheus text format. */
  render(): string {
    const families = [...this.#families.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return families.map(renderFamily).join('')
  }

  #family<S extends Series | Buckets>(name: string, shape: Shape<S>): SeriesFamily<S> {
    const known = this.#families.get(name)
    const made = new SeriesFamily(name, shape, () => {
      this.#dropped.add(1)
    })
    if (!known) {
      this.#families.set(name, made)
      return made
    }
    if (known.type !== made.type || known.labels.join() !== made.labels.join())
      throw new RangeError(
        `metric ${name} is already registered as a ${known.type} with the labels (${known.labels.join()}), cannot register it as a ${made.type} with (${made.labels.join()})`,
      )
    return known as SeriesFamily<S>
  }
}

class LabelledMetrics extends Metrics {
  readonly #all: Metrics
  readonly #labels: Readonly<Record<string, string>>

  constructor(all: Metrics, labels: Readonly<Record<string, string>>) {
    super()
    this.#all = all
    this.#labels = { ...labels }
  }

  override counter(name: string, options: FamilyOptions): Family<Counter> {
    return this.#narrow(this.#all.counter(name, this.#widen(options)))
  }

  override gauge(name: string, options: FamilyOptions): Family<Gauge> {
    return this.#narrow(this.#all.gauge(name, this.#widen(options)))
  }

  override histogram(name: string, options: HistogramOptions): Family<Histogram> {
    return this.#narrow(this.#all.histogram(name, this.#widen(options)))
  }

  override render(): string {
    return this.#all.render()
  }

  #widen<O extends FamilyOptions>(options: O): O {
    return { ...options, labels: [...Object.keys(this.#labels), ...(options.labels ?? [])] }
  }

  #narrow<S>(family: Family<S>): Family<S> {
    return {
      with: (values = {}) => family.with({ ...values, ...this.#labels }),
      delete: (values) => {
        family.delete({ ...values, ...this.#labels })
      },
    }
  }
}

interface Shape<S> extends FamilyOptions {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly make: () => S
}

type AnyFamily = SeriesFamily<Series | Buckets>

class SeriesFamily<S> implements Family<S> {
  readonly name: string
  readonly type: Shape<S>['type']
  readonly help: string
  readonly labels: readonly string[]
  /** By label values, as JSON. */
  readonly series = new Map<string, S>()
  readonly #make: () => S
  readonly #seriesMax: number
  readonly #onDrop: () => void

  constructor(name: string, { type, help, labels = [], make, seriesMax = 10_000 }: Shape<S>, onDrop: () => void) {
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new RangeError(`invalid metric name ${JSON.stringify(name)}`)
    for (const label of labels)
      if (!/^[a-zA-Z_]\w*$/.test(label) || label === 'le')
        throw new RangeError(`metric ${name}: invalid label name ${JSON.stringify(label)}`)
    this.name = name
    this.type = type
    this.help = help
    this.labels = [...labels]
    this.#make = make
    this.#seriesMax = seriesMax
    this.#onDrop = onDrop
  }

  with(values: Readonly<Record<string, string>> = {}): S {
    const key = this.#keyOf(values)
    const known = this.series.get(key)
    if (known) return known
    const made = this.#make()
    if (this.series.size < this.#seriesMax) this.series.set(key, made)
    else this.#onDrop()
    return made
  }

  delete(values: Readonly<Record<string, string>>): void {
    this.series.delete(this.#keyOf(values))
  }

  #keyOf(values: Readonly<Record<string, string>>): string {
    if (Object.keys(values).length !== this.labels.length)
      throw new RangeError(
        `metric ${this.name} has the labels (${this.labels.join()}), got (${Object.keys(values).join()})`,
      )
    return JSON.stringify(
      this.labels.map((label) => {
        if (!Object.hasOwn(values, label)) throw new RangeError(`metric ${this.name}: missing value for label ${label}`)
        return String(values[label])
      }),
    )
  }
}

/** One number. */
class Series implements Counter, Gauge {
  #value = 0
  #read: (() => number) | undefined

  get value(): number {
    return this.#read ? this.#read() : this.#value
  }

  set(value: number): void {
    this.#value = value
  }

  add(by = 1): void {
    this.#value += by
  }

  follow(read: () => number): Cancel {
    this.#read = read
    return () => {
      if (this.#read !== read) return
      this.#read = undefined
      this.#value = 0
    }
  }
}

/** The counts per bucket; the last bucket has no upper bound. */
class Buckets implements Histogram {
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.bounds.length && value > (this.bounds[at] ?? Infinity)) at++
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
  }
}

/** A family to render: its series by label values, which are a JSON array in the order of `labels`. */
interface RenderedFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
  readonly series: ReadonlyMap<string, RenderedSeries>
}

/** A number, or counts per bucket: one more than bounds. */
type RenderedSeries =
  | { readonly value: number }
  | { readonly bounds: readonly number[]; readonly counts: readonly number[]; readonly sum: number }

/** The lines of one family; empty when it has no series. */
function renderFamily({ name, type, help, labels, series }: RenderedFamily): string {
  if (series.size === 0) return ''
  const lines = [...series].flatMap(([key, one]) => {
    const values = JSON.parse(key) as string[]
    const pairs = labels.map((label, index) => `${label}="${escapeText(values[index] ?? '').replaceAll('"', '\\"')}"`)
    return 'value' in one ? [`${name}${braces(pairs)} ${formatNumber(one.value)}`] : bucketLines(name, pairs, one)
  })
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

function bucketLines(
  name: string,
  pairs: readonly string[],
  { bounds, counts, sum }: Extract<RenderedSeries, { sum: number }>,
): string[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return `${name}_bucket${braces([...pairs, `le="${formatNumber(bounds[index] ?? Infinity)}"`])} ${total}`
  })
  return [...buckets, `${name}_sum${braces(pairs)} ${formatNumber(sum)}`, `${name}_count${braces(pairs)} ${total}`]
}

function braces(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** Formats small numbers as Go does (`1e-05`), because dashboards match bucket bounds as text. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
