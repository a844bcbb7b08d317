/**
 * Values as rules compare them: a field that is absent, null or the zero value of its type is the same to every client of
 * this group, because Go programs write zero values and others leave them out.
 */
import { isDeepStrictEqual } from 'node:util'

export type Values = Readonly<Record<string, unknown>>

/** Whether two values mean the same. */
export function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(withoutZeros(a), withoutZeros(b))
}

/** `{ a: '', b: { c: 0 }, d: ['x'] }` becomes `{ d: ['x'] }`; what is nothing at all becomes undefined. */
function withoutZeros(value: unknown): unknown {
  if (value === null || value === '' || value === 0 || value === false) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutZeros(item) ?? null)
  if (typeof value !== 'object') return value
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const left = withoutZeros(field)
    return left === undefined ? [] : [[name, left] as const]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

export function textOf(values: Values | undefined, name: string): string {
  const value = values?.[name]
  return typeof value === 'string' ? value : ''
}

export function isSet(values: Values | undefined, name: string): boolean {
  return values?.[name] === true
}

export function numberOf(values: Values | undefined, name: string): number | undefined {
  const value = values?.[name]
  return typeof value === 'number' ? value : undefined
}

export function valuesOf(values: Values | undefined, name: string): Values | undefined {
  const value = values?.[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : undefined
}

export function itemsOf(values: Values | undefined, name: string): readonly unknown[] {
  const value = values?.[name]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function recordsOf(values: Values | undefined, name: string): readonly Values[] {
  return itemsOf(values, name).map((item) => (typeof item === 'object' && item !== null ? (item as Values) : {}))
}
