/**
 * How long ago something was, in two figures at most, as people say it.
 */

import { parseTime } from 'evenkeel/api'

const timeUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `5s`, `3m10s`, `2h5m`, `4d`; empty for a time that cannot be read. */
export function ago(time: string, nowMs: number): string {
  const thenMs = parseTime(time)
  return thenMs === undefined ? '' : duration(nowMs - thenMs)
}

/** The largest unit, and the next one while it matters. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1000) * 1000)
  const index = timeUnits.findIndex(([, size]) => whole >= size)
  const [unit, size] = timeUnits[index] ?? timeUnits[3]
  const [nextUnit, nextSize] = timeUnits[index + 1] ?? ['', Infinity]
  const count = Math.floor(whole / size)
  const rest = Math.floor((whole % size) / nextSize)
  return `${count}${unit}${rest > 0 && count < 10 ? `${rest}${nextUnit}` : ''}`
}
