import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addInts,
  divideInts,
  EvaluationError,
  intFromBigInt,
  intMax,
  intMin,
  moduloInts,
  multiplyInts,
  negateInt,
  subtractInts,
  type Int,
} from './values.ts'

/** Small ones, those around 2^53 and 2^63, and any. */
const int = fc.oneof(
  fc.bigInt({ min: -100n, max: 100n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: intMax - 3n, max: intMax }),
  fc.bigInt({ min: intMin, max: intMin + 3n }),
  fc.bigInt({ min: intMin, max: intMax }),
)

type Operation = readonly [
  string,
  (a: Int, b: Int) => Int | EvaluationError,
  (a: bigint, b: bigint) => bigint | undefined,
]

const operations: readonly Operation[] = [
  ['addInts', addInts, (a, b) => a + b],
  ['subtractInts', subtractInts, (a, b) => a - b],
  ['multiplyInts', multiplyInts, (a, b) => a * b],
  ['divideInts', divideInts, (a, b) => (b === 0n ? undefined : a / b)],
  ['moduloInts', moduloInts, (a, b) => (b === 0n || (a === intMin && b === -1n) ? undefined : a % b)],
]

describe('ints', () => {
  test.each(operations)(
    '%s is exact within 64 bits and an error outside, in one form per value',
    (_, operation, model) => {
      fc.assert(
        fc.property(int, int, (a, b) => {
          const wanted = model(a, b)
          const result = operation(intFromBigInt(a), intFromBigInt(b))
          if (wanted === undefined || wanted < intMin || wanted > intMax) expect(result).toBeInstanceOf(EvaluationError)
          else expect(Object.is(result, intFromBigInt(wanted))).toBe(true)
        }),
      )
    },
  )

  test('negateInt never makes a negative zero', () => {
    expect(Object.is(negateInt(0), 0)).toBe(true)
    expect(negateInt(intMin)).toBeInstanceOf(EvaluationError)
  })
})
