/**
 * What a process counts: counters, gauges and histograms with labels, collected in one place and shown as text.
 *
 * A family has a name and label names; `with` gives the series of one set of label values, which its owner keeps, so
 * that counting is an addition and no lookup. Names are programmers' business: a wrong one is a `RangeError`.
 *
 * Invariants: a name has one type and one set of labels for good, whoever asks first; a family never holds more than
 * `seriesMax` series: later ones can be used, but they are not shown and `evenkeel_metrics_series_dropped` counts them.
 */
import type { Cancel } from './clock.ts'

/** Only goes up. */
export interface Counter {
  /** @default by 1 */
  add(by?: number): void
  /** Asks for the value whenever the metrics are shown, for what somebody else counts; until cancelled. */
  follow(read: () => number): Cancel
}

/** Goes up and down. */
export interface Gauge {
  set(value: number): void
  add(by: number): void
  /** Asks for the value whenever the metrics are shown, until cancelled (then it is 0) or until somebody else follows. */
  follow(read: () => number): Cancel
}

/** Counts values by size. */
export interface Histogram {
  observe(value: number): void
}

/** The series of one name. */
export interface Family<S> {
  /** The series of these label values: always the same one for the same values. */
  with(values?: Readonly<Record<string, string>>): S
  /** Forgets a series, for instance when what it was about has gone. */
  delete(values: Readonly<Record<string, string>>): void
}

export interface FamilyOptions {
  /** One sentence for people who read the metrics. */
  help: string
  /**
   * The names of the labels.
   *
   * @default none
   */
  labels?: readonly string[]
  /**
   * The most series, so that label values from outside cannot fill the memory.
   *
   * @default 10_000
   */
  seriesMax?: number
}

export interface HistogramOptions extends FamilyOptions {
  /** The upper bounds, smallest first, without infinity. */
  buckets: readonly number[]
}

/** Where everybody in a process registers what they count. */
export class Metrics {
  readonly #families = new Map<string, AnyFamily>()
  readonly #dropped: Series

  constructor() {
    this.#dropped = this.#family('evenkeel_metrics_series_dropped', {
      type: 'gauge',
      help: 'Series that were left out because their family was full.',
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
      throw new RangeError(`the buckets of ${name} must be finite and grow, got ${buckets.join(', ')}`)
    return this.#family(name, { ...options, type: 'histogram', make: () => new Buckets(buckets) })
  }

  /** The same metrics, for one of several who count the same things: every family it asks for has these labels as well. */
  labelled(labels: Readonly<Record<string, string>>): Metrics {
    return new LabelledMetrics(this, labels)
  }

  /** Everything in the text format of Prometheus, version 0.0.4, families by name. */
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
      this.#families.set(name, made as unknown as AnyFamily)
      return made
    }
    if (known.type !== made.type || known.labels.join() !== made.labels.join())
      throw new RangeError(
        `${name} is a ${known.type} with the labels (${known.labels.join()}): it cannot also be a ${made.type} with (${made.labels.join()})`,
      )
    return known as unknown as SeriesFamily<S>
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
    if (!/^[a-zA-Z_:][\w:]*$/.test(name)) throw new RangeError(`a metric cannot be called ${JSON.stringify(name)}`)
    for (const label of labels)
      if (!/^[a-zA-Z_]\w*$/.test(label) || label === 'le')
        throw new RangeError(`a label of ${name} cannot be called ${JSON.stringify(label)}`)
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
      throw new RangeError(`${this.name} has the labels (${this.labels.join()}), got (${Object.keys(values).join()})`)
    return JSON.stringify(
      this.labels.map((label) => {
        if (!Object.hasOwn(values, label)) throw new RangeError(`${this.name} needs a value for its label ${label}`)
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

/** How many values were at most so large, per bound; the last one has no bound. */
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

/*
 * Metrics as text: the exposition format of Prometheus, version 0.0.4. Any text may be a label value or a help text:
 * what would end a line or a quote is escaped.
 */

/** What is shown of a family: its series by label values, these as a JSON array in the order of `labels`. */
interface RenderedFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
  readonly series: ReadonlyMap<string, RenderedSeries>
}

/** A number, or counts per bucket: one more than there are bounds. */
type RenderedSeries =
  | { readonly value: number }
  | { readonly bounds: readonly number[]; readonly counts: readonly number[]; readonly sum: number }

/** The lines of one family; nothing when it has no series. */
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

/** As Go writes small numbers (`1e-05`), because bucket bounds are matched as text by people's dashboards. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
