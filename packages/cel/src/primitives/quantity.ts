/**
 * Resource quantities: `100m`, `1.5Gi`, `12e6`. They are exact: decimal fractions with a BigInt.
 *
 *     value = unscaled * 10^scale         1.5 is 15 * 10^-1         2Gi is 2147483648 * 10^0
 *
 * Invariants: `unscaled` has no factor 10 left (zero is 0 * 10^0), so equal values are equal records; nothing is finer
 * than a billionth (parsing rounds away from zero); a quantity with a binary suffix is at most 2^63 - 1. `format` is the
 * family of suffixes that the quantity was written with, and formatting uses it again.
 */

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  readonly unscaled: bigint
  readonly scale: number
  readonly format: QuantityFormat
}

/**
 * Parses a quantity as leniently as Kubernetes: `.5`, `1.` and `+1` are valid, and missing digits (`Ki`) mean zero.
 *
 * @throws {RangeError} with the message of Kubernetes for an invalid quantity.
 */
export function parseQuantity(text: string): Quantity {
  const match = text === '' || text.length > textLengthMax ? null : pattern.exec(text)
  if (!match) throw new RangeError(`quantities must match the regular expression '${documentedPattern}'`)
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  const { format, exponent, factor } = interpretSuffix(suffix)
  const magnitude = roundToNano(BigInt(`${whole}${fraction}` || '0') * factor, exponent - fraction.length)
  const capped = format === 'BinarySI' && compareMagnitudes(magnitude, binaryMax) > 0 ? binaryMax : magnitude
  const below1 = capped.unscaled > 0n && compareMagnitudes(capped, one) < 0
  const unscaled = sign === '-' ? -capped.unscaled : capped.unscaled
  return { unscaled, scale: capped.scale, format: format === 'BinarySI' && below1 ? 'DecimalSI' : format }
}

/** Whether a text is a quantity. */
export function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch {
    return false
  }
}

/** An integer as a quantity. */
export function quantityOf(
  value: number | bigint,
  { format = 'DecimalSI' }: { format?: QuantityFormat } = {},
): Quantity {
  return normalize(BigInt(value), 0, format)
}

/**
 * The canonical text: no fraction, the largest suffix without loss, a sign only if negative.
 *
 * A binary quantity that is small or has a fraction is formatted with decimal suffixes instead of being rounded.
 */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.unscaled === 0n) return '0'
  if (quantity.format === 'BinarySI' && quantity.scale >= 0) {
    const value = quantity.unscaled * tenTo(quantity.scale)
    if (value <= -1024n || value >= 1024n) return formatBinary(value)
  }
  return formatDecimal(quantity, quantity.format === 'DecimalExponent')
}

/** Below 0 when `a` is less than `b`, 0 when they are equal, above 0 when it is greater. The format is ignored. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return compareMagnitudes(a, b)
}

/** The sum. It has the format of `a`, or of `b` when `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale)
  return normalize(atScale(a, scale) + atScale(b, scale), scale, a.unscaled === 0n ? b.format : a.format)
}

/** The difference. It has the format of `a`, or of `b` when `a` is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, unscaled: -b.unscaled })
}

/** The nearest double; large or fine values lose precision. */
export function quantityAsNumber({ unscaled, scale }: Quantity): number {
  return Number(`${unscaled}e${scale}`)
}

/**
 * The value in units of 10^`scale`, rounded away from zero: 1500m is 2 in ones (scale 0) and 1500 in thousandths (-3).
 */
export function quantityAsInteger(quantity: Quantity, { scale = 0 }: { scale?: number } = {}): bigint {
  if (quantity.scale >= scale) return quantity.unscaled * tenTo(quantity.scale - scale)
  return divideAwayFromZero(quantity.unscaled, tenTo(scale - quantity.scale))
}

interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

const documentedPattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
// More lenient than the message says, exactly like the scanner of Kubernetes: every part may be missing.
const pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/
/** Limits of this package; Kubernetes has none, and 1e999999999 keeps it busy for very long. */
const textLengthMax = 1000
const exponentMax = 4000
const nanoScale = -9
const binaryMax: Decimal = { unscaled: 2n ** 63n - 1n, scale: 0 }
const one: Decimal = { unscaled: 1n, scale: 0 }

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

function interpretSuffix(suffix: string): { format: QuantityFormat; exponent: number; factor: bigint } {
  const decimal = decimalSuffixes.indexOf(suffix)
  if (decimal >= 0) return { format: 'DecimalSI', exponent: nanoScale + 3 * decimal, factor: 1n }
  const binary = binarySuffixes.indexOf(suffix)
  if (binary >= 0) return { format: 'BinarySI', exponent: 0, factor: 1024n ** BigInt(binary) }
  const exponent = /^[eE]([+-]?[0-9]+)$/.test(suffix) ? Number(suffix.slice(1)) : NaN
  if (!(exponent <= exponentMax)) throw new RangeError("unable to parse quantity's suffix")
  // A value this small rounds to a billionth, so the exact exponent does not matter.
  return { format: 'DecimalExponent', exponent: Math.max(exponent, -exponentMax), factor: 1n }
}

function roundToNano(unscaled: bigint, scale: number): Decimal {
  if (scale >= nanoScale) return stripZeros(unscaled, scale)
  return stripZeros(divideAwayFromZero(unscaled, tenTo(nanoScale - scale)), nanoScale)
}

function normalize(unscaled: bigint, scale: number, format: QuantityFormat): Quantity {
  return { ...stripZeros(unscaled, scale), format }
}

function stripZeros(unscaled: bigint, scale: number): Decimal {
  if (unscaled === 0n) return { unscaled, scale: 0 }
  const digits = unscaled.toString()
  const zeros = digits.length - digits.replace(/0+$/, '').length
  return zeros === 0 ? { unscaled, scale } : { unscaled: BigInt(digits.slice(0, -zeros)), scale: scale + zeros }
}

function formatBinary(value: bigint): string {
  let [rest, steps] = [value, 0]
  while (steps < binarySuffixes.length - 1 && rest % 1024n === 0n) [rest, steps] = [rest / 1024n, steps + 1]
  return `${rest}${binarySuffixes[steps]}`
}

function formatDecimal({ unscaled, scale }: Decimal, asExponent: boolean): string {
  // Suffixes exist for every third power. Beyond E, Kubernetes prints no suffix; this prints more digits before the E.
  const third = 3 * Math.floor(scale / 3)
  const exponent = asExponent ? third : Math.min(third, 18)
  const digits = `${unscaled}${'0'.repeat(scale - exponent)}`
  if (!asExponent) return `${digits}${decimalSuffixes[(exponent - nanoScale) / 3]}`
  return exponent === 0 ? digits : `${digits}e${exponent}`
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  const scale = Math.min(a.scale, b.scale)
  const [left, right] = [atScale(a, scale), atScale(b, scale)]
  if (left === right) return 0
  return left < right ? -1 : 1
}

function atScale({ unscaled, scale }: Decimal, target: number): bigint {
  return unscaled * tenTo(scale - target)
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  if (dividend % divisor === 0n) return quotient
  return dividend < 0n ? quotient - 1n : quotient + 1n
}

function tenTo(power: number): bigint {
  return 10n ** BigInt(power)
}
