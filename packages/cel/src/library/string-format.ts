/**
 * `'%s has %d'.format([name, count])`, as in version 2 of the string extension: `%f` groups thousands and `%e` writes powers of
 * ten, because cel-go formats with the conventions of US English.
 *
 * {@link interpolate} iterates over the clauses; validation uses it too, with types in place of values.
 */
import { ListValue, MapValue } from '../collections.ts'
import { compareUtf8 } from '../primitives/text.ts'
import { quote } from '../primitives/text.ts'
import { Duration, printDuration, printTimestamp, Timestamp } from '../timestamps.ts'
import { typeNameOf } from '../type-names.ts'
import { Bytes, Double, EvaluationError, isInt, TypeValue, Uint, type Value } from '../values.ts'
import { fixedPoint, formatShortest, groupThousands, scientific } from './doubles.ts'

type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o'

/** An invalid format; `argument` is the index of the value that does not match, if there is one. */
export class FormatProblem {
  readonly message: string
  readonly argument: number | undefined

  constructor(message: string, argument?: number) {
    this.message = message
    this.argument = argument
  }
}

/** The types that each clause accepts, and the message for other types. */
export const clauseRules: Readonly<Record<Verb, { readonly types: readonly string[]; readonly complaint: string }>> = {
  s: {
    types: [
      'list',
      'map',
      'int',
      'uint',
      'double',
      'bool',
      'string',
      'google.protobuf.Timestamp',
      'bytes',
      'google.protobuf.Duration',
      'type',
      'null_type',
    ],
    complaint:
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given',
  },
  d: { types: ['int', 'uint'], complaint: 'decimal clause can only be used on integers, was given' },
  f: { types: ['double', 'string'], complaint: 'fixed-point clause can only be used on doubles, was given' },
  e: { types: ['double', 'string'], complaint: 'scientific clause can only be used on doubles, was given' },
  b: { types: ['int', 'uint', 'bool'], complaint: 'only integers and bools can be formatted as binary, was given' },
  x: {
    types: ['int', 'uint', 'string', 'bytes'],
    complaint: 'only integers, byte buffers, and strings can be formatted as hex, was given',
  },
  X: {
    types: ['int', 'uint', 'string', 'bytes'],
    complaint: 'only integers, byte buffers, and strings can be formatted as hex, was given',
  },
  o: { types: ['int', 'uint'], complaint: 'octal clause can only be used on integers, was given' },
}

export function formatText(format: string, values: ListValue): Value {
  const result = interpolate(format, values.size, (index, verb, precision) =>
    formatClause(values.at(index), verb, precision),
  )
  return typeof result === 'string' ? result : new EvaluationError(result.message)
}

/** Replaces every clause by the text that `write` returns for its argument. */
export function interpolate(
  format: string,
  count: number,
  write: (index: number, verb: Verb, precision?: number) => string | FormatProblem,
): string | FormatProblem {
  let result = ''
  let position = 0
  let index = 0
  while (position < format.length) {
    const next = format.indexOf('%', position)
    if (next < 0) return result + format.slice(position)
    result += format.slice(position, next)
    if (format[next + 1] === '%') {
      result += '%'
      position = next + 2
      continue
    }
    if (index >= count) return new FormatProblem(`index ${index} out of range`)
    const clause = readClause(format, next + 1)
    if (clause instanceof FormatProblem) return clause
    const written = write(index++, clause.verb, clause.precision)
    if (written instanceof FormatProblem)
      return new FormatProblem(`error during formatting: ${written.message}`, written.argument ?? index - 1)
    result += written
    position = clause.end
  }
  return result
}

function readClause(format: string, start: number): { verb: Verb; precision?: number; end: number } | FormatProblem {
  if (start >= format.length) return new FormatProblem('unexpected end of string')
  const match = /^(?:\.(\d*))?(.?)/su.exec(format.slice(start, start + 40))
  const [whole = '', digits, verb = ''] = match ?? []
  const unparsed = (reason: string) => new FormatProblem(`could not parse formatting clause: ${reason}`)
  if (digits !== undefined && verb === '')
    return unparsed('error while parsing precision: could not find end of precision specifier')
  if (digits === '')
    return unparsed(
      'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
    )
  if (!Object.hasOwn(clauseRules, verb)) return unparsed(`unrecognized formatting clause "${verb}"`)
  return {
    verb: verb as Verb,
    ...(digits !== undefined && { precision: Math.min(Number(digits), precisionMax) }),
    end: start + whole.length,
  }
}

/** A limit of this package; cel-go allows an expression to create gigabytes of text. */
const precisionMax = 1000
const defaultPrecision = 6

function formatClause(value: Value, verb: Verb, precision = defaultPrecision): string | FormatProblem {
  switch (verb) {
    case 's':
      return formatString(value)
    case 'd':
      return isInt(value) || value instanceof Uint ? whole(value).toString() : unfit(verb, value)
    case 'f':
    case 'e':
      return formatFloating(value, verb, precision)
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : inBase(value, verb, 2)
    case 'o':
      return inBase(value, verb, 8)
    case 'x':
    case 'X':
      return hexadecimal(value, verb)
  }
}

function unfit(verb: Verb, value: Value): FormatProblem {
  return new FormatProblem(`${clauseRules[verb].complaint} ${typeNameOf(value)}`)
}

function whole(value: number | bigint | Uint): bigint {
  return value instanceof Uint ? value.value : BigInt(value)
}

function inBase(value: Value, verb: Verb, base: number): string | FormatProblem {
  return isInt(value) || value instanceof Uint ? whole(value).toString(base) : unfit(verb, value)
}

function hexadecimal(value: Value, verb: 'x' | 'X'): string | FormatProblem {
  const bytes =
    typeof value === 'string' ? new TextEncoder().encode(value) : value instanceof Bytes ? value.value : undefined
  const digits = bytes ? [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') : inBase(value, verb, 16)
  return typeof digits === 'string' && verb === 'X' ? digits.toUpperCase() : digits
}

function formatFloating(value: Value, verb: 'f' | 'e', precision: number): string | FormatProblem {
  const special = typeof value === 'string' ? specials.get(value) : undefined
  if (!(value instanceof Double) && special === undefined) return unfit(verb, value)
  const amount = value instanceof Double ? value.value : special!
  const shown = Number.isFinite(amount) ? undefined : Number.isNaN(amount) ? 'NaN' : amount > 0 ? '∞' : '-∞'
  // cel-go uses the precision of %e as a width.
  if (verb === 'e') return (shown ?? scientific(amount)).padStart(precision)
  return shown ?? groupThousands(fixedPoint(amount, precision))
}

const specials = new Map([
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

function formatString(value: Value): string | FormatProblem {
  if (value === null) return 'null'
  if (value instanceof ListValue || value instanceof MapValue) return formatNested(value)
  if (value instanceof Double) return formatShortest(value.value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Bytes) return decodeBytes(value)
  if (isInt(value) || value instanceof Uint) return whole(value).toString()
  return typeof value === 'boolean' || typeof value === 'string' ? String(value) : unfit('s', value)
}

function decodeBytes({ value }: Bytes): string | FormatProblem {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return new FormatProblem('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string')
  }
}

/** Inside lists and maps, values are formatted as CEL literals. */
function formatNested(value: Value): string | FormatProblem {
  if (value instanceof ListValue) return joinParts('[', value.values().map(formatNested), ']')
  if (value instanceof MapValue) return formatMap(value)
  if (value instanceof Timestamp) return `timestamp(${quote(printTimestamp(value))})`
  if (value instanceof Duration) return `duration(${quote(printDuration(value))})`
  if (value instanceof Double)
    return Number.isFinite(value.value) ? fixedPoint(value.value, defaultPrecision) : quote(formatShortest(value.value))
  const text = formatString(value)
  if (typeof text !== 'string') return new FormatProblem(`no formatting function for ${typeNameOf(value)}`)
  if (typeof value === 'string') return quote(text)
  return value instanceof Bytes ? `b${quote(text)}` : text
}

function formatMap(map: MapValue): string | FormatProblem {
  const entries: { key: string; text: string | FormatProblem }[] = []
  for (const key of map.keys()) {
    const shown =
      typeof key === 'string' || typeof key === 'boolean' || isInt(key) || key instanceof Uint
        ? formatNested(key)
        : undefined
    if (typeof shown !== 'string')
      return new FormatProblem(`no formatting function for map key of type ${typeNameOf(key)}`)
    const text = formatNested(map.find(key) ?? null)
    entries.push({ key: shown, text: typeof text === 'string' ? `${shown}:${text}` : text })
  }
  entries.sort((a, b) => compareUtf8(a.key, b.key))
  return joinParts(
    '{',
    entries.map(({ text }) => text),
    '}',
  )
}

function joinParts(open: string, parts: readonly (string | FormatProblem)[], close: string): string | FormatProblem {
  return parts.find((part) => part instanceof FormatProblem) ?? `${open}${parts.join(', ')}${close}`
}
