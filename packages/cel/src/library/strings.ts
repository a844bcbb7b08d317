/**
 * The string extension, version 2, and `strings.quote`.
 */
import { ListValue, MapValue } from '../collections.ts'
import { member, overload, unguarded, type Library, type Overload } from '../environment.ts'
import {
  characterAt,
  characterCount,
  findCharacters,
  findLastCharacters,
  sliceCharacters,
  utf8Length,
} from '../primitives/text.ts'
import { describeValue } from '../type-names.ts'
import { boolType, bytesType, dynType, intType, listOf, mapOf, parameterType, stringType } from '../types.ts'
import { Bytes, EvaluationError, noSuchOverload, type Int, type Value } from '../values.ts'
import { formatText } from './string-format.ts'

// Functions of CEL itself on strings and on values with a size.

const a = parameterType('A')
const listOfA = listOf(a)
const mapOfAB = mapOf(a, parameterType('B'))

export const text: Library = {
  contains: question('contains_string', (whole, part) => whole.includes(part)),
  endsWith: question('ends_with_string', (whole, end) => whole.endsWith(end)),
  startsWith: question('starts_with_string', (whole, start) => whole.startsWith(start)),
  size: unguarded(size, [
    overload('size_bytes', [bytesType], { to: intType }),
    member('bytes_size', [bytesType], { to: intType }),
    overload('size_list', [listOfA], { to: intType }),
    member('list_size', [listOfA], { to: intType }),
    overload('size_map', [mapOfAB], { to: intType }),
    member('map_size', [mapOfAB], { to: intType }),
    overload('size_string', [stringType], { to: intType }),
    member('string_size', [stringType], { to: intType }),
  ]),
}

function size(value: Value): Value {
  if (typeof value === 'string') return characterCount(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  return value instanceof Bytes ? value.value.length : sizeless
}

const sizeless = new EvaluationError('no such overload: size')

function question(id: string, ask: (whole: string, part: string) => boolean): Overload[] {
  const run = (whole: Value, part: Value) =>
    typeof whole === 'string' && typeof part === 'string' ? ask(whole, part) : noSuchOverload
  return unguarded(run, [member(id, [stringType, stringType], { to: boolType })])
}

const two = [stringType, stringType]
const texts = listOf(stringType)

export const strings: Library = {
  charAt: [member('string_char_at_int', [stringType, intType], { to: stringType, run: charAt })],
  indexOf: [
    member('string_index_of_string', two, { to: intType, run: (whole: string, part: string) => find(whole, part, 0) }),
    member('string_index_of_string_int', [...two, intType], { to: intType, run: find }),
  ],
  lastIndexOf: [
    member('string_last_index_of_string', two, { to: intType, run: findLastAnywhere }),
    member('string_last_index_of_string_int', [...two, intType], { to: intType, run: findLast }),
  ],
  lowerAscii: [
    member('string_lower_ascii', [stringType], {
      to: stringType,
      run: (text: string) => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()),
    }),
  ],
  upperAscii: [
    member('string_upper_ascii', [stringType], {
      to: stringType,
      run: (text: string) => text.replace(/[a-z]+/g, (lower) => lower.toUpperCase()),
    }),
  ],
  replace: [
    member('string_replace_string_string', [...two, stringType], {
      to: stringType,
      run: (text: string, from: string, to: string) => replace(text, from, { to, count: -1 }),
    }),
    member('string_replace_string_string_int', [...two, stringType, intType], {
      to: stringType,
      run: (text: string, from: string, ...[to, count]: [string, Int]) => replace(text, from, { to, count }),
    }),
  ],
  split: [
    member('string_split_string', two, {
      to: texts,
      run: (text: string, separator: string) => split(text, separator, -1),
    }),
    member('string_split_string_int', [...two, intType], { to: texts, run: split }),
  ],
  substring: [
    member('string_substring_int', [stringType, intType], {
      to: stringType,
      run: (text: string, start: Int) => substring(text, start),
    }),
    member('string_substring_int_int', [stringType, intType, intType], {
      to: stringType,
      run: (text: string, start: Int, end: Int) => substring(text, start, end),
    }),
  ],
  trim: [member('string_trim', [stringType], { to: stringType, run: trim })],
  join: [
    member('list_join', [texts], { to: stringType, run: (list: ListValue) => join(list, '') }),
    member('list_join_string', [texts, stringType], { to: stringType, run: join }),
  ],
  format: [
    {
      ...member('string_format', [stringType, listOf(dynType)], { to: stringType, run: formatText }),
      stopsEarly: true,
    },
  ],
  'strings.quote': [overload('strings_quote', [stringType], { to: stringType, run: quote })],
}

/** Longer strings would exceed the cost limit of any evaluation; cel-go creates them first and charges afterwards. */
const lengthMax = 16_000_000
const tooLong = new EvaluationError('the resulting text is too long')

function outOfRange(index: Int): EvaluationError {
  return new EvaluationError(`index out of range: ${index}`)
}

function charAt(text: string, index: Int): Value {
  return index < 0 || index > characterCount(text) ? outOfRange(index) : characterAt(text, Number(index))
}

function find(whole: string, part: string, from: Int): Value {
  if (part === '') return from
  if (from < 0) return outOfRange(from)
  return from >= characterCount(whole) ? -1 : findCharacters(whole, part, Number(from))
}

function findLastAnywhere(whole: string, part: string): Value {
  const length = characterCount(whole)
  if (part === '') return length
  return utf8Length(whole) < utf8Length(part) ? -1 : findLast(whole, part, length - 1)
}

function findLast(whole: string, part: string, from: Int): Value {
  if (part === '') return from
  if (from < 0) return outOfRange(from)
  return from >= characterCount(whole) ? -1 : findLastCharacters(whole, part, Number(from))
}

/** Replaces the first `count` occurrences, all if it is negative. An empty `from` matches between all characters. */
function replace(text: string, from: string, { to, count }: { to: string; count: Int }): Value {
  const pieces = from === '' ? ['', ...text] : text.split(from)
  if (text.length + pieces.length * to.length > lengthMax) return tooLong
  if (count < 0 && from !== '') return pieces.join(to)
  const places = from === '' ? pieces.length : pieces.length - 1
  const replaced = count < 0 ? places : Math.min(places, Number(count))
  if (replaced === 0) return text
  if (from === '') return pieces.map((piece, index) => piece + (index < replaced ? to : '')).join('')
  return (
    pieces.slice(0, replaced + 1).join(to) +
    pieces
      .slice(replaced + 1)
      .map((piece) => from + piece)
      .join('')
  )
}

function split(text: string, separator: string, limit: Int): ListValue {
  if (limit === 0) return ListValue.of([])
  const pieces = separator === '' ? [...text] : text.split(separator)
  if (limit < 0 || pieces.length <= limit) return ListValue.of(pieces)
  const count = Number(limit)
  return ListValue.of([...pieces.slice(0, count - 1), pieces.slice(count - 1).join(separator)])
}

function substring(text: string, start: Int, end?: Int): Value {
  const length = characterCount(text)
  if (end !== undefined && start > end)
    return new EvaluationError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0 || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0 || end > length)) return outOfRange(end)
  return sliceCharacters(text, Number(start), end === undefined ? undefined : Number(end))
}

/** Unicode white space, which differs slightly from `String.trim`. */
function trim(text: string): string {
  return text.replace(/^[\p{White_Space}]+/u, '').replace(/[\p{White_Space}]+$/u, '')
}

function join(list: ListValue, separator: string): Value {
  const values = list.values()
  let length = separator.length * values.length
  for (const value of values) {
    if (typeof value !== 'string') return new EvaluationError(`join: invalid input: ${describeValue(value)}`)
    length += value.length
  }
  return length > lengthMax ? tooLong : values.join(separator)
}

const quoted = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
])

function quote(text: string): string {
  // Go shows lone surrogates as replacement characters.
  return `"${[...text].map((character) => quoted.get(character) ?? (/^[\ud800-\udfff]$/.test(character) ? '\ufffd' : character)).join('')}"`
}
