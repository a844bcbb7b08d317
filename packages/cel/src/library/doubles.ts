/**
 * Parsing and formatting of doubles as in Go.
 */
import { Double } from '../values.ts'

/** Parses like Go's ParseFloat: decimals, `1_000`, `inf`, `NaN`, hexadecimal mantissas. Undefined for invalid text or an overflow. */
export function parseFloating(written: string): Double | undefined {
  const text = written.replace(/(?<=\d)_(?=\d)/g, '')
  const special = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(text)
  if (special)
    return special[2] === undefined
      ? special[1] === ''
        ? new Double(NaN)
        : undefined
      : new Double(special[1] === '-' ? -Infinity : Infinity)
  if (/^[+-]?0[xX]/.test(text)) return parseHexadecimal(text)
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? new Double(value) : undefined
}

/** The shortest text of a double: `%g`. */
export function formatShortest(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 6) return `${mantissa}e${twoDigits(exponent)}`
  return String(value).includes('e') ? value.toFixed(Math.max(0, mantissa.length - 2 - exponent)) : String(value)
}

/** An exponent with a sign and at least two digits. */
function twoDigits(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function parseHexadecimal(text: string): Double | undefined {
  const match = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,5})$/.exec(text)
  const digits = match ? `${match[2]}${match[3]}` : ''
  if (!match || digits === '' || digits.length > 400) return undefined
  const value = Number(BigInt(`0x${digits}`)) * 2 ** (Number(match[4]) - 4 * match[3]!.length)
  return Number.isFinite(value) ? new Double(match[1] === '-' ? -value : value) : undefined
}

// Fixed precision, rounded as in Go: exactly, and halves to even.

/** `%.2f`. The number is finite. */
export function fixedPoint(value: number, precision: number): string {
  const { numerator, denominator } = exactFraction(Math.abs(value))
  const scaled = numerator * 10n ** BigInt(precision)
  let rounded = scaled / denominator
  const twice = (scaled % denominator) * 2n
  if (twice > denominator || (twice === denominator && rounded % 2n === 1n)) rounded++
  const digits = rounded.toString().padStart(precision + 1, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return precision === 0 ? sign + digits : `${sign}${digits.slice(0, -precision)}.${digits.slice(-precision)}`
}

/** `1234567.5` as `1,234,567.5`. */
export function groupThousands(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** `1.052033×10⁰³`. The number is finite. */
export function scientific(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(6).split('e')
  const power = Number(exponent)
  const digits = [...String(Math.abs(power)).padStart(2, '0')].map((digit) => superscripts[Number(digit)]).join('')
  return `${Object.is(value, -0) ? '-' : ''}${mantissa}×10${power < 0 ? '⁻' : ''}${digits}`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** A double as an exact fraction: an integer times a power of two. */
function exactFraction(value: number): { numerator: bigint; denominator: bigint } {
  let [scaled, denominator] = [value, 1n]
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    denominator *= 2n
  }
  return { numerator: BigInt(scaled), denominator }
}
