import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixedPoint, formatShortest, groupThousands, parseFloating, scientific } from './doubles.ts'

const double = fc.double({ noNaN: true, noDefaultInfinity: true })

describe('fixedPoint', () => {
  test('is never further from the number than half of the last digit', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.integer({ min: 0, max: 6 }),
        (value, precision) => {
          expect(Math.abs(Number(fixedPoint(value, precision)) - value)).toBeLessThanOrEqual(
            0.5000001 * 10 ** -precision,
          )
        },
      ),
    )
  })

  test.each([
    [2.5, 0, '2'],
    [3.5, 0, '4'],
    [0.125, 2, '0.12'],
    [0.1, 20, '0.10000000000000000555'],
    [-0, 1, '-0.0'],
    [1e21, 1, '1000000000000000000000.0'],
  ])('writes %d with %d digits as %s: halves go to the even neighbour', (value, precision, text) => {
    expect(fixedPoint(value, precision)).toBe(text)
  })
})

describe('formatShortest', () => {
  test('is read back as the same double', () => {
    fc.assert(
      fc.property(double, (value) => {
        expect(Object.is(parseFloating(formatShortest(value))?.value, value)).toBe(true)
      }),
    )
  })

  test.each([
    [0, '0'],
    [100, '100'],
    [123456, '123456'],
    [1234567, '1.234567e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5, '-2.5'],
    [Infinity, '+Inf'],
  ])('writes %d as %s', (value, text) => {
    expect(formatShortest(value)).toBe(text)
  })
})

test('groupThousands sets commas only before the point', () => {
  expect(['1', '-123', '1234', '-1234567.1234'].map(groupThousands)).toEqual(['1', '-123', '1,234', '-1,234,567.1234'])
})

test('scientific writes the exponent with at least two raised digits', () => {
  expect([0, 1052.032911275, -0.00012345, 1e100].map(scientific)).toEqual([
    '0.000000×10⁰⁰',
    '1.052033×10⁰³',
    '-1.234500×10⁻⁰⁴',
    '1.000000×10¹⁰⁰',
  ])
})
