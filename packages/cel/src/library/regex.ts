/**
 * Regular expressions by RE2, which takes linear time for every pattern. Constant patterns are compiled once; the most recent
 * other patterns are cached.
 */
import { RE2JS } from 're2js'
import { ListValue } from '../collections.ts'
import { member, overload, type Library, type Overload, type Run } from '../environment.ts'
import { boolType, intType, listOf, stringType } from '../types.ts'
import { EvaluationError, noSuchOverload, type Int, type Value } from '../values.ts'

const two = [stringType, stringType]
const texts = listOf(stringType)

export const regex: Library = {
  matches: [
    withPattern(overload('matches', two, { to: boolType }), (pattern, text) => pattern.test(text), ''),
    withPattern(member('matches_string', two, { to: boolType }), (pattern, text) => pattern.test(text), ''),
  ],
  find: [withPattern(member('string_find_string', two, { to: stringType }), find, 'Illegal regex: ')],
  findAll: [
    withPattern(
      member('string_find_all_string', two, { to: texts }),
      (pattern, text) => findAll(pattern, text, -1),
      'Illegal regex: ',
    ),
    withPattern(
      member('string_find_all_string_int', [...two, intType], { to: texts }),
      (pattern, text, limit) => findAll(pattern, text, limit as Int),
      'Illegal regex: ',
    ),
  ],
}

type Search = (pattern: RE2JS, text: string, limit?: Value) => Value

function withPattern(declared: Overload, search: Search, complaint: string): Overload {
  const run: Run = (text, pattern, limit) => {
    const compiled = compilePattern(pattern as string)
    return compiled instanceof EvaluationError
      ? new EvaluationError(complaint + compiled.message)
      : search(compiled, text as string, limit)
  }
  return { ...declared, run, prepare: { operand: 1, run: (constant) => prepare(constant, search) } }
}

function prepare(constant: Value, search: Search): Run | EvaluationError {
  if (typeof constant !== 'string') return () => noSuchOverload
  const pattern = compilePattern(constant)
  if (pattern instanceof EvaluationError) return pattern
  return (text, _, limit) => (typeof text === 'string' ? search(pattern, text, limit ?? -1) : noSuchOverload)
}

function compile(pattern: string): RE2JS | EvaluationError {
  if (pattern.length > patternMax)
    return new EvaluationError(`error parsing regexp: the pattern is longer than ${patternMax}`)
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return new EvaluationError(error instanceof Error ? error.message : String(error))
  }
}

/** A limit of this package: compilation takes more than linear time, and patterns may come from the data. */
const patternMax = 65_536
const recent = new Map<string, RE2JS | EvaluationError>()
const recentMax = 200

/** A compiled pattern, or the error of an invalid one. */
export function compilePattern(pattern: string): RE2JS | EvaluationError {
  const known = recent.get(pattern)
  if (known) return known
  const compiled = compile(pattern)
  if (recent.size >= recentMax) recent.delete(recent.keys().next().value!)
  recent.set(pattern, compiled)
  return compiled
}

function find(pattern: RE2JS, text: string): string {
  const matcher = pattern.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(pattern: RE2JS, text: string, limit: Int): ListValue {
  const found: string[] = []
  const matcher = pattern.matcher(text)
  const most = limit < 0 ? Infinity : Number(limit)
  while (found.length < most && matcher.find()) found.push(matcher.group() ?? '')
  return ListValue.of(found)
}
