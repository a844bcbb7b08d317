/**
 * Durations as Go writes them.
 *
 *   1m30s → 90,000 ms, 200ms → 200 ms, 1.5s → 1,500 ms
 */
const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Undefined for a text that is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^\+?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitsMs[unit] ?? 0),
    0,
  )
}
