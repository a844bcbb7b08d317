/**
 * Values while an expression runs.
 *
 *     null, boolean, string      themselves
 *     int                        a number while it is a safe integer, a bigint beyond (one form per value, so === is equality)
 *     double, uint               wrapped: a bare number is always an int
 *     list, map                  classes that read the caller's JSON where it lies; nothing is copied
 *
 * An error is a value too, because `false && error` is false: functions return an {@link EvaluationError} instead of throwing.
 * `undefined` is no value.
 */
import type { ListValue } from './list.ts'
import type { MapValue } from './map.ts'
import type { Duration, Timestamp } from './moment.ts'

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

/** What `type(x)` gives: only its name counts. */
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

/** A value only a library understands: a quantity, a URL, an address. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Opaque): boolean
  /** As messages show it. */
  abstract toString(): string
  /** What `size` is for the cost of functions that take it. */
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
