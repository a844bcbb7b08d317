/**
 * Doubles as text, the way Go reads and writes them.
 */
import { Double } from '../../value/value.ts'

/** Reads what Go's ParseFloat reads: decimals, `1_000`, `inf`, `NaN`, hexadecimal mantissas. Undefined when it is none or too large. */
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

/** The shortest text that is the same double: `%g`. */
export function formatShortest(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 6) return `${mantissa}e${twoDigits(exponent)}`
  return String(value).includes('e') ? value.toFixed(Math.max(0, mantissa.length - 2 - exponent)) : String(value)
}

/** An exponent with a sign and two digits at least. */
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
