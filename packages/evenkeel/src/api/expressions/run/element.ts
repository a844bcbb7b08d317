/**
 * Elements of lists by index, which may be any number that is whole.
 */
import type { ListValue } from '../value/list.ts'
import { typeNameOf } from '../value/names.ts'
import { Double, EvaluationError, Uint, type Value } from '../value/value.ts'

/** The element; undefined when the index is outside; an error when it is no index. */
export function listElement(list: ListValue, index: Value): Value | undefined {
  const position = wholeNumber(index)
  if (position === undefined) return new EvaluationError(`unsupported index type '${typeNameOf(index)}' in list`)
  return position >= 0 && position < list.size ? list.at(position) : undefined
}

function wholeNumber(index: Value): number | undefined {
  if (typeof index === 'number') return index
  if (typeof index === 'bigint') return -1
  if (index instanceof Uint) return Number(index.value)
  return index instanceof Double && Number.isInteger(index.value) ? index.value : undefined
}
