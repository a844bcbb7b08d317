/**
 * Doubles with a fixed number of digits, rounded as Go rounds: exactly, and halves to the even neighbour.
 */

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

/** A double is a whole number times a power of two; as a fraction it is exact. */
function exactFraction(value: number): { numerator: bigint; denominator: bigint } {
  let [scaled, denominator] = [value, 1n]
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    denominator *= 2n
  }
  return { numerator: BigInt(scaled), denominator }
}
