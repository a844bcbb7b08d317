import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityAsInteger,
  quantityAsNumber,
  quantityOf,
  subtractQuantities,
} from './quantity.ts'
import type { Quantity, QuantityFormat } from './quantity.ts'

const Ki = 1024n
type Row = [text: string, unscaled: bigint, scale: number, format: QuantityFormat]
const [D, B, X] = ['DecimalSI', 'BinarySI', 'DecimalExponent'] as const

const parsed: Row[] = [
  ['0', 0n, 0, D],
  ['0n', 0n, 0, D],
  ['0m', 0n, 0, D],
  ['0Ki', 0n, 0, B],
  ['0T', 0n, 0, D],
  ['0e5', 0n, 0, X],
  ['00', 0n, 0, D],
  ['1', 1n, 0, D],
  ['007', 7n, 0, D],
  // Binary suffixes.
  ['1Ki', Ki, 0, B],
  ['8Ki', 8n * Ki, 0, B],
  ['7Mi', 7n * Ki ** 2n, 0, B],
  ['6Gi', 6n * Ki ** 3n, 0, B],
  ['5Ti', 5n * Ki ** 4n, 0, B],
  ['4Pi', 4n * Ki ** 5n, 0, B],
  ['3Ei', 3n * Ki ** 6n, 0, B],
  ['100Ti', 100n * Ki ** 4n, 0, B],
  // Decimal suffixes.
  ['5n', 5n, -9, D],
  ['4u', 4n, -6, D],
  ['3m', 3n, -3, D],
  ['9', 9n, 0, D],
  ['8k', 8n, 3, D],
  ['50k', 5n, 4, D],
  ['7M', 7n, 6, D],
  ['6G', 6n, 9, D],
  ['40T', 4n, 13, D],
  ['2P', 2n, 15, D],
  ['1E', 1n, 18, D],
  ['12E', 12n, 18, D],
  // Exponents.
  ['1E-3', 1n, -3, X],
  ['1e3', 1n, 3, X],
  ['1E6', 1n, 6, X],
  ['1e14', 1n, 14, X],
  ['1.3E+6', 13n, 5, X],
  ['1.53E12', 153n, 10, X],
  ['0.5e-2', 5n, -3, X],
  // Fractions.
  ['0.001', 1n, -3, D],
  ['0.0005k', 5n, -1, D],
  ['0.50000', 5n, -1, D],
  ['100.035k', 100035n, 0, D],
  ['10.035M', 10035n, 3, D],
  ['6.987654321G', 6987654321n, 0, D],
  ['1.01E', 101n, 16, D],
  ['100.035Ki', 10243584n, -2, B],
  ['0.5Mi', 524288n, 0, B],
  ['0.05Gi', 536870912n, -1, B],
  ['0.025Ti', 274877906944n, -1, B],
  // Finer than a billionth: rounded away from zero.
  ['3.001n', 4n, -9, D],
  ['1.1E-9', 2n, -9, X],
  ['0.0000000001', 1n, -9, D],
  ['0.5e-9', 1n, -9, X],
  ['0.9n', 1n, -9, D],
  ['0.00000012345', 124n, -9, D],
  ['1e-400', 1n, -9, X],
  ['1e-99999999999', 1n, -9, X],
  // Too big for a binary suffix: capped.
  ['9Ei', 2n ** 63n - 1n, 0, B],
  ['9223372036854775807Ki', 2n ** 63n - 1n, 0, B],
  // Binary and below one: becomes decimal.
  ['0.000000000001Ki', 2n, -9, D],
  ['0.0009765625Ki', 1n, 0, B],
  // Odd, and fine upstream.
  ['.001', 1n, -3, D],
  ['.0001k', 1n, -1, D],
  ['1.', 1n, 0, D],
  ['1.G', 1n, 9, D],
  ['.', 0n, 0, D],
  ['Ki', 0n, 0, B],
  ['-', 0n, 0, D],
]

describe('parseQuantity', () => {
  test.each(parsed)('%s', (...[text, unscaled, scale, format]) => {
    expect(parseQuantity(text)).toEqual(reduced({ unscaled, scale, format }))
  })

  test.each(parsed)('-%s and +%s', (...[text, unscaled, scale, format]) => {
    if (text.startsWith('-')) return
    expect(parseQuantity(`-${text}`)).toEqual(reduced({ unscaled: -unscaled, scale, format }))
    expect(parseQuantity(`+${text}`)).toEqual(reduced({ unscaled, scale, format }))
  })

  test.each(['', ' 1', '1 ', '1.1.M', '1+1.0M', 'aoeu', '1,5', '١', '1\n', '9'.repeat(2000)])(
    'refuses the format of %j',
    (text) => {
      expect(() => parseQuantity(text)).toThrow(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      )
      expect(isQuantity(text)).toBe(false)
    },
  )

  test.each([
    '0.1mi',
    '.5i',
    '1i',
    '-3.01i',
    '-3.01e-',
    '1K',
    '1ki',
    '1e',
    '1ee3',
    '1Ki3',
    '1m3',
    '1kk',
    '1e4001',
    '--1',
    '1e999999999999',
  ])('refuses the suffix of %j', (text) => {
    expect(() => parseQuantity(text)).toThrow("unable to parse quantity's suffix")
    expect(isQuantity(text)).toBe(false)
  })
})

describe('formatQuantity is canonical', () => {
  test.each([
    ['1Gi', '1024Mi'],
    ['300Mi', '307200Ki'],
    ['1001Gi', '1025024Mi'],
    ['1Ti', '1024Gi'],
    ['5', '5000m'],
    ['500m', '0.5'],
    ['1G', '1000M'],
    ['1G', '0.001T'],
    ['1m', '1000u'],
    ['1080m', '1.08'],
    ['1080m', '1080000000n'],
    ['1e9', '.001e12'],
    ['1e-3', '0.001e0'],
    ['1e-9', '1000e-12'],
    ['0', '00'],
    ['0', '0Ki'],
    ['1024m', '.001Ki'],
    ['1024u', '.000001Ki'],
    ['1024n', '.000000001Ki'],
    ['2n', '.000000000001Ki'],
    ['1', '+1'],
    ['1001m', '1.001'],
    ['5', '5e0'],
    ['1536Mi', '1.5Gi'],
    ['1k', '1000'],
    ['1025', '1025'],
    ['1234567M', '1234567M'],
    ['1e3', '1E3'],
    ['12e6', '12e6'],
    ['100e-3', '0.1e0'],
    ['1025Ki', '1025Ki'],
    ['1E', '1000P'],
    ['1000E', '1000E'],
    ['12345678E', '12345678000P'],
    ['1e21', '1e21'],
  ])('%s for %s', (canonical, text) => {
    expect(formatQuantity(parseQuantity(text))).toBe(canonical)
    expect(formatQuantity(parseQuantity(canonical))).toBe(canonical)
    if (canonical !== '0' && !text.startsWith('+'))
      expect(formatQuantity(parseQuantity(`-${text}`))).toBe(`-${canonical}`)
  })

  test.each<[number, QuantityFormat, string]>([
    [5, B, '5'],
    [1023, B, '1023'],
    [1024, B, '1Ki'],
    [1025, B, '1025'],
    [6 * 1024, B, '6Ki'],
    [1000, D, '1k'],
    [1024, D, '1024'],
    [1000, X, '1e3'],
    [0, B, '0'],
    [-2048, B, '-2Ki'],
    [-1024, B, '-1Ki'],
    [-1023, B, '-1023'],
  ])('%d as %s', (value, format, text) => expect(formatQuantity(quantityOf(value, { format }))).toBe(text))

  test('a binary sum beyond Ei keeps its digits', () => {
    const half = quantityOf(2n ** 62n, { format: B })
    const sum = [1, 2, 3, 4].reduce((total) => addQuantities(total, half), quantityOf(0))
    expect(formatQuantity(sum)).toBe('16Ei')
    expect(formatQuantity(quantityOf(2n ** 75n, { format: B }))).toBe('32768Ei')
  })
})

/** A quantity as text, together with its value in billionths. */
const anyQuantity = fc
  .record({
    digits: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
    suffix: fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'e3', 'E-6', 'e+1'),
  })
  .map(({ digits, suffix }) => {
    const powers: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, e3: 3, 'E-6': -6, 'e+1': 1 }
    return { text: `${digits}${suffix}`, nanos: digits * 10n ** BigInt((powers[suffix] ?? 0) + 9) }
  })
const nanosOf = (quantity: ReturnType<typeof parseQuantity>): bigint => quantityAsInteger(quantity, { scale: -9 })

describe('arithmetic agrees with whole billionths', () => {
  test('parse, format and parse again', () => {
    fc.assert(
      fc.property(anyQuantity, ({ text, nanos }) => {
        const quantity = parseQuantity(text)
        expect(nanosOf(quantity)).toBe(nanos)
        const canonical = formatQuantity(quantity)
        expect(canonical).not.toContain('.')
        expect(nanosOf(parseQuantity(canonical))).toBe(nanos)
        expect(formatQuantity(parseQuantity(canonical))).toBe(canonical)
      }),
    )
  })

  test('compare, add and subtract', () => {
    fc.assert(
      fc.property(anyQuantity, anyQuantity, (left, right) => {
        const [a, b] = [parseQuantity(left.text), parseQuantity(right.text)]
        expect(Math.sign(compareQuantities(a, b))).toBe(
          left.nanos === right.nanos ? 0 : left.nanos < right.nanos ? -1 : 1,
        )
        expect(nanosOf(addQuantities(a, b))).toBe(left.nanos + right.nanos)
        expect(nanosOf(subtractQuantities(a, b))).toBe(left.nanos - right.nanos)
        expect(subtractQuantities(addQuantities(a, b), b).unscaled).toBe(a.unscaled)
      }),
    )
  })

  test('binary suffixes are exact', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 52n }), fc.constantFrom('', 'Ki'), (value, suffix) => {
        const quantity = parseQuantity(`${value}${suffix}`)
        const exact = value * (suffix === 'Ki' ? 1024n : 1n)
        expect(quantityAsInteger(quantity)).toBe(exact)
        expect(quantityAsInteger(parseQuantity(formatQuantity(quantity)))).toBe(exact)
      }),
    )
  })

  test.each([
    ['10000T', '100Gi', 1],
    ['100m', '50m', 1],
    ['1', '1000m', 0],
    ['1Ki', '1024', 0],
    ['-1', '1', -1],
    ['1e4000', '1E', 1],
  ])('%s against %s', (a, b, sign) => {
    expect(compareQuantities(parseQuantity(a), parseQuantity(b))).toBe(sign)
    expect(compareQuantities(parseQuantity(b), parseQuantity(a))).toBe(sign === 0 ? 0 : -sign)
  })

  test('the format of a sum is the left one, unless that is zero', () => {
    const sums = [
      ['1Gi', '1G'],
      ['1G', '1Gi'],
      ['0', '100m'],
      ['0', '1Gi'],
      ['1Gi', '0'],
    ].map(([a = '', b = '']) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b))))
    expect(sums).toEqual(['2073741824', '2073741824', '100m', '1Gi', '1Gi'])
    expect(addQuantities(parseQuantity('1Gi'), parseQuantity('1G')).format).toBe(B)
    expect(formatQuantity(subtractQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('-1Gi')
  })
})

test.each([
  ['1500m', 2n, 1500n],
  ['-1500m', -2n, -1500n],
  ['1n', 1n, 1n],
  ['2', 2n, 2000n],
  ['1Ki', 1024n, 1_024_000n],
  ['0', 0n, 0n],
])('quantityAsInteger rounds %s away from zero', (text, ones, thousandths) => {
  expect(quantityAsInteger(parseQuantity(text))).toBe(ones)
  expect(quantityAsInteger(parseQuantity(text), { scale: -3 })).toBe(thousandths)
})

test.each([
  ['100m', 0.1],
  ['1.5Gi', 1610612736],
  ['-1u', -1e-6],
  ['0', 0],
  ['0.3', 0.3],
  ['12E', 12e18],
  ['1e400', Infinity],
])('quantityAsNumber(%s)', (text, value) => {
  expect(quantityAsNumber(parseQuantity(text))).toBe(value)
})

/** No factor 10 is left in `unscaled`: the promise that makes equal values equal records. */
function reduced({ unscaled, scale, format }: Quantity): Quantity {
  return unscaled === 0n || unscaled % 10n !== 0n
    ? { unscaled, scale, format }
    : reduced({ unscaled: unscaled / 10n, scale: scale + 1, format })
}
