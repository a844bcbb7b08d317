/**
 * Functions of CEL itself on texts and on everything that has a size.
 */
import type { Overload } from '../../check/declarations.ts'
import { boolType, bytesType, intType, listOf, mapOf, parameterType, stringType } from '../../check/type.ts'
import { characterCount } from '../../value/characters.ts'
import { ListValue } from '../../value/list.ts'
import { MapValue } from '../../value/map.ts'
import { Bytes, EvaluationError, noSuchOverload, type Value } from '../../value/value.ts'
import { member, overload, unguarded, type Library } from '../declare.ts'

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
