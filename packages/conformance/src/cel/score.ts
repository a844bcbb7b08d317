/**
 * How our expressions do on the conformance data of CEL, compared with Kubernetes.
 *
 * Every case runs, also those that Kubernetes fails: we should fail them too, except for the few where we deliberately
 * support more. That list must stay exact, so that every change of a result is noticed.
 */
import { baseEnvironment, CompiledExpression, compileExpression, Environment, formatType } from '@evenkeel/cel'
import type { Overload, Variable } from '@evenkeel/cel'
import { readCases, readExcuses } from './data.ts'
import type { CelCase, DeclaredOverload, Excuse } from './data.ts'
import { showValue, typeFrom, valueFrom } from './protobuf-json.ts'

/** `excused`: both we and Kubernetes fail it. `beyond`: we deliberately pass it. */
type CelOutcome = 'passed' | 'excused' | 'beyond' | 'failed'

export interface CelResult {
  readonly id: string
  readonly outcome: CelOutcome
  /** The wrong result; absent when the case passed. */
  readonly problem?: string
  /** Why Kubernetes fails it. */
  readonly reason?: string
  readonly why?: string
  /** Why we pass it, or a note. */
  readonly note?: string
}

const backticks = 'field names in backticks are understood, as in newer versions of cel-go'
const constantKey = 'an operand that fails does not count when the other one decides, whatever it is'

/** Cases that we pass and Kubernetes does not. */
const beyond: Readonly<Record<string, string>> = {
  'fields/quoted_map_fields/field_access_slash': backticks,
  'fields/quoted_map_fields/field_access_dot': backticks,
  'fields/quoted_map_fields/has_field_slash': backticks,
  'fields/quoted_map_fields/has_field_dot': backticks,
  'fields/map_fields/map_bad_key_type_or_true': constantKey,
  'fields/map_fields/map_bad_key_type_and_false': constantKey,
}

/** Runs every case whose id contains the text. */
export function scoreCel({ filter = '' }: { filter?: string } = {}): readonly CelResult[] {
  const excuses = readExcuses()
  return readCases()
    .filter(({ id }) => id.includes(filter))
    .map(({ id, test }) => {
      const problem = judge(test)
      const excuse = excuses.get(id)
      return {
        id,
        ...(problem !== undefined && { problem }),
        ...(excuse ? excused(id, problem, excuse) : { outcome: problem === undefined ? 'passed' : 'failed' }),
      }
    })
}

function excused(id: string, problem: string | undefined, excuse: Excuse): Omit<CelResult, 'id'> {
  const note = beyond[id]
  if (problem === undefined)
    return note === undefined
      ? { outcome: 'failed', ...excuse, note: 'it passes, and Kubernetes does not pass it' }
      : { outcome: 'beyond', ...excuse, note }
  return note === undefined
    ? { outcome: 'excused', ...excuse }
    : { outcome: 'failed', ...excuse, note: 'it is said to pass' }
}

/** The failure; undefined when the case passed. */
function judge(test: CelCase): string | undefined {
  const compiled = compileExpression(test.expr, environmentOf(test))
  const wantsError = test.evalError !== undefined || test.anyEvalErrors !== undefined
  if (!(compiled instanceof CompiledExpression)) return wantsError ? undefined : compiled.errors.split('\n', 1)[0]
  const { deducedType, result } = test.typedResult ?? {}
  const [type, wantedType] = [
    formatType(compiled.type),
    formatType(deducedType ? typeFrom(deducedType) : compiled.type),
  ]
  if (type !== wantedType) return `type ${type}, wanted ${wantedType}`
  if (test.checkOnly) return undefined
  const bindings = Object.fromEntries(
    Object.entries(test.bindings ?? {}).map(([name, { value }]) => [name, valueFrom(value)]),
  )
  const evaluation = compiled.evaluate(bindings)
  if (evaluation.error !== undefined) return wantsError ? undefined : evaluation.error
  const [shown, wanted] = [
    showValue(evaluation.value),
    wantsError ? 'an error' : showValue(valueFrom(test.value ?? result ?? { boolValue: true })),
  ]
  return shown === wanted ? undefined : `${shown}, wanted ${wanted}`
}

function environmentOf({ typeEnv = [] }: CelCase): Environment {
  const variables = typeEnv.flatMap(({ name, ident }): [string, Variable][] =>
    ident ? [[name, { type: typeFrom(ident.type) }]] : [],
  )
  const functions = typeEnv.flatMap(({ name, function: declared }): [string, Overload[]][] =>
    declared ? [[name, declared.overloads.map(overloadFrom)]] : [],
  )
  return new Environment({ parent: baseEnvironment, variables: new Map(variables), functions: new Map(functions) })
}

function overloadFrom({ overloadId, params = [], resultType, isInstanceFunction = false }: DeclaredOverload): Overload {
  return {
    id: overloadId,
    isMember: isInstanceFunction,
    parameters: params.map(typeFrom),
    result: typeFrom(resultType),
  }
}
