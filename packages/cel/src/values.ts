/**
 * Run-time values, and the arithmetic of int and uint.
 *
 *     null, boolean, string      themselves
 *     int                        a number if it is a safe integer, a bigint otherwise (one form per value, so === is equality)
 *     double, uint               wrapped: a bare number is always an int
 *     list, map                  classes that read the JSON of the caller in place, without a copy
 *
 * An error is a value too, because `false && error` is false: functions return an {@link EvaluationError} instead of throwing.
 * `undefined` is not a value. Integer arithmetic (64 bits) is exact, and an overflow is an error; only ints beyond the safe range
 * pay for a bigint.
 *
 * Example. `9007199254740991 + 1` adds two numbers, leaves the safe range and returns the bigint 9007199254740992n; subtracting 1
 * returns the number 9007199254740991 again.
 */
import type { ListValue, MapValue } from './collections.ts'
import type { Duration, Timestamp } from './timestamps.ts'

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Uint
  | Bytes
  | ListValue
  | MapValue
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | Opaque
  | EvaluationError

export class Double {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** 0 to 2^64 - 1. */
export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Bytes {
  readonly value: Uint8Array

  constructor(value: Uint8Array) {
    this.value = value
  }
}

/** The result of `type(x)`, identified by its name. */
export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: Value | undefined

  private constructor(value: Value | undefined) {
    this.value = value
  }

  static of(value: Value): Optional {
    return new Optional(value)
  }
}

/** A value of a library: a quantity, a URL, an IP address. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Opaque): boolean
  /** The text in messages. */
  abstract toString(): string
  /** The size for the cost of functions that take it. */
  readonly costSize: number = 1
}

export class EvaluationError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

export const noSuchOverload = new EvaluationError('no such overload')

export type Int = number | bigint
type Result<T> = T | EvaluationError

export const intMin = -(2n ** 63n)
export const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

/** The canonical form of an int that fits into 64 bits. */
export function intFromBigInt(value: bigint): Int {
  return value >= safeMin && value <= safeMax ? Number(value) : value
}

/** The int, or undefined when it does not fit in 64 bits. */
export function intIfFits(value: bigint): Int | undefined {
  return value < intMin || value > intMax ? undefined : intFromBigInt(value)
}

/** The uint, or undefined when it does not fit in 64 bits. */
export function uintIfFits(value: bigint): Uint | undefined {
  return value < 0n || value > uintMax ? undefined : new Uint(value)
}

export function addInts(a: Int, b: Int): Result<Int> {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return intIfFits(BigInt(a) + BigInt(b)) ?? intOverflow
}

export function subtractInts(a: Int, b: Int): Result<Int> {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return intIfFits(BigInt(a) - BigInt(b)) ?? intOverflow
}

export function multiplyInts(a: Int, b: Int): Result<Int> {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    // + 0 converts the -0 of 0 * -1 to 0.
    if (Number.isSafeInteger(product)) return product + 0
  }
  return intIfFits(BigInt(a) * BigInt(b)) ?? intOverflow
}

export function divideInts(a: Int, b: Int): Result<Int> {
  if (b === 0) return divisionByZero
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0
  return intIfFits(BigInt(a) / BigInt(b)) ?? intOverflow
}

export function moduloInts(a: Int, b: Int): Result<Int> {
  if (b === 0) return modulusByZero
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
  // The quotient of the smallest int and -1 overflows, and cel-go reports that for the modulus too.
  if (BigInt(a) === intMin && b === -1) return intOverflow
  return intFromBigInt(BigInt(a) % BigInt(b))
}

export function negateInt(a: Int): Result<Int> {
  return typeof a === 'number' ? 0 - a : (intIfFits(-a) ?? intOverflow)
}

export function addUints(a: Uint, b: Uint): Result<Uint> {
  return uintIfFits(a.value + b.value) ?? uintOverflow
}

export function subtractUints(a: Uint, b: Uint): Result<Uint> {
  return uintIfFits(a.value - b.value) ?? uintOverflow
}

export function multiplyUints(a: Uint, b: Uint): Result<Uint> {
  return uintIfFits(a.value * b.value) ?? uintOverflow
}

export function divideUints(a: Uint, b: Uint): Result<Uint> {
  return b.value === 0n ? divisionByZero : new Uint(a.value / b.value)
}

export function moduloUints(a: Uint, b: Uint): Result<Uint> {
  return b.value === 0n ? modulusByZero : new Uint(a.value % b.value)
}

const safeMin = BigInt(Number.MIN_SAFE_INTEGER)
const safeMax = BigInt(Number.MAX_SAFE_INTEGER)
const intOverflow = new EvaluationError('integer overflow')
const uintOverflow = new EvaluationError('unsigned integer overflow')
const divisionByZero = new EvaluationError('division by zero')
const modulusByZero = new EvaluationError('modulus by zero')
