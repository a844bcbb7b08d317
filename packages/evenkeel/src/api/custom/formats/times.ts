/**
 * Dates, times and durations as the validator of custom resources knows them; it is laxer than Kubernetes elsewhere.
 */
import { parseDuration, parseTimestamp } from '../../time.ts'

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined
}

/** A date, `t` or `T`, a time, and a zone; the sign before parts of a second may be any, and a second `t` hides what follows it. */
export function isDateTime(text: string): boolean {
  if (plainTime.test(text)) return true
  const [date = '', time = ''] = text.toLowerCase().split('t')
  if (!isDate(date)) return false
  const parts = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/u.exec(time)
  if (!parts) return false
  const [, hour = '', minute = '', second = ''] = parts
  return hour <= '23' && minute <= '59' && second <= '59'
}

/** What nearly all times look like, on the days that every month has. */
const plainTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** `1h30m` as Go has it, or anything that contains a number and a unit in words: `3 days`, `2 weeks`. */
export function isDuration(text: string): boolean {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined && Math.abs(durationMs) < durationMsMax) return true
  let known = false
  for (const [, amount = '', unit = ''] of text.matchAll(amountAndUnit)) {
    if (BigInt(amount.slice(0, 32)) > amountMax) return false
    known ||= isUnit(unit.toLowerCase())
  }
  return known
}

/** Only from the first of its digits: to try a long number from each of them would take forever. */
const amountAndUnit = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g
/** 64 bits of nanoseconds. */
const durationMsMax = 2 ** 63 / 1e6
const amountMax = 2n ** 63n - 1n
const exactUnits: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'])
const unitBeginnings = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week']

function isUnit(unit: string): boolean {
  return exactUnits.has(unit) || unitBeginnings.some((beginning) => unit.startsWith(beginning))
}
