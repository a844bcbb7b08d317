/**
 * Whether values are of the types an overload declares; of lists and maps only the first element is looked at, as upstream does.
 */
import type { Overload } from '../check/declarations.ts'
import type { Type } from '../check/type.ts'
import { ListValue } from '../value/list.ts'
import { MapValue } from '../value/map.ts'
import { typeNameOf } from '../value/names.ts'
import { EvaluationError, Optional, TypeValue, type Value } from '../value/value.ts'

export function acceptsAll({ parameters }: Overload, values: readonly Value[]): boolean {
  return parameters.length === values.length && parameters.every((type, index) => accepts(type, values[index]!))
}

/** Whether the types of the operands leave no doubt that the values will fit. */
export function isCertain({ run, isUnguarded, parameters }: Overload, types: readonly Type[]): boolean {
  return (
    run !== undefined &&
    (isUnguarded === true ||
      parameters.every(
        (wanted, index) =>
          wanted.kind === 'parameter' ||
          (types[index]!.kind === wanted.kind &&
            wanted.kind !== 'list' &&
            wanted.kind !== 'map' &&
            wanted.kind !== 'opaque'),
      ))
  )
}

function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return !(value instanceof EvaluationError)
    case 'list':
      return value instanceof ListValue && (value.size === 0 || accepts(type.parameters[0]!, value.at(0)))
    case 'map':
      return value instanceof MapValue && acceptsFirstEntry(type, value)
    case 'opaque':
      return type.name === 'optional_type' ? value instanceof Optional : typeNameOf(value) === type.name
    case 'type':
      return value instanceof TypeValue
    default:
      return typeNameOf(value) === type.name
  }
}

function acceptsFirstEntry({ parameters }: Type, map: MapValue): boolean {
  const [key] = map.keys()
  return key === undefined || (accepts(parameters[0]!, key) && accepts(parameters[1]!, map.find(key) ?? null))
}
