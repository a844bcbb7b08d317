/**
 * Estimates are ranges of 64-bit counts that stop at the largest count instead of overflowing.
 */

export interface CountRange {
  readonly min: bigint
  readonly max: bigint
}

export const countMax = 2n ** 64n - 1n
export const nothing: CountRange = { min: 0n, max: 0n }
export const unknownRange: CountRange = { min: 0n, max: countMax }

export function exactly(count: bigint | number): CountRange {
  const value = BigInt(count)
  return { min: value, max: value }
}

export function sum(...ranges: readonly CountRange[]): CountRange {
  return ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }), nothing)
}

export function product(a: CountRange, b: CountRange): CountRange {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) }
}

/** Times a price per unit, rounded up; computed in doubles, as upstream does. */
export function scaled({ min, max }: CountRange, factor: number): CountRange {
  return { min: scaledCount(min, factor), max: scaledCount(max, factor) }
}

/** The range that covers both. */
export function union(a: CountRange, b: CountRange): CountRange {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max }
}

function capped(count: bigint): bigint {
  return count > countMax ? countMax : count
}

function scaledCount(count: bigint, factor: number): bigint {
  const value = Number(count)
  if (value > 0 && factor > 0 && value > Number(countMax) / factor) return countMax
  const result = Math.ceil(value * factor)
  return result >= 2 ** 64 ? countMax : BigInt(result)
}
