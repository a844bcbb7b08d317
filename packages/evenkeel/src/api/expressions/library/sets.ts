/**
 * The set extension: lists compared as sets.
 */
import { boolType, listOf, parameterType } from '../check/type.ts'
import { listContains } from '../value/equality.ts'
import type { ListValue } from '../value/list.ts'
import type { EvaluationError } from '../value/value.ts'
import { overload, type Library } from './declare.ts'

const setOfT = listOf(parameterType('T'))
const twoSets = [setOfT, setOfT]

export const sets: Library = {
  'sets.contains': [overload('list_sets_contains_list', twoSets, { to: boolType, run: contains })],
  'sets.equivalent': [overload('list_sets_equivalent_list', twoSets, { to: boolType, run: equivalent })],
  'sets.intersects': [
    overload('list_sets_intersects_list', twoSets, {
      to: boolType,
      run: (a: ListValue, b: ListValue) => a.values().some((value) => listContains(b, value) === true),
    }),
  ],
}

function contains(whole: ListValue, part: ListValue): boolean | EvaluationError {
  for (const value of part.values()) {
    const found = listContains(whole, value)
    if (found !== true) return found
  }
  return true
}

function equivalent(a: ListValue, b: ListValue): boolean | EvaluationError {
  const found = contains(a, b)
  return found === true ? contains(b, a) : found
}
