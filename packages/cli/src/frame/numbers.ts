/**
 * Numbers and times that people type.
 */
import { Failure } from './failure.ts'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A whole number above 0. @throws {Failure} `usage` */
export function countOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text)
  throw new Failure('usage', `--${name} must be a whole number above 0, got ${JSON.stringify(text)}`, {
    hint: `--${name} 2`,
  })
}

/** `500ms`, `60s`, `1.5m`, `1h`, in milliseconds. @throws {Failure} `usage` */
export function durationOf(name: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text) ?? []
  const ms = Number(number) * (units[unit] ?? 0)
  if (ms > 0) return ms
  throw new Failure('usage', `--${name} must be a time with its unit, got ${JSON.stringify(text)}`, {
    hint: `--${name} 60s`,
  })
}
