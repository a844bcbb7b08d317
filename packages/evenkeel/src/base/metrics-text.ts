/**
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
export function renderFamily({ name, type, help, labels, series }: RenderedFamily): string {
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
