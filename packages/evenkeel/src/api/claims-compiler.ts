/**
 * The CEL compiler for expressions about claims, users and objects. Loaded on demand: see claims.ts.
 */
import {
  adaptDynamic,
  baseEnvironment,
  boolType,
  CompiledExpression,
  compileExpression,
  dynType,
  EvaluationError,
  formatType,
  mapOf,
  stringType,
  toJson,
} from '@evenkeel/cel'
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { ClaimsCompileOptions, ClaimsEngine, ClaimsExpression, ClaimsResult } from './claims.ts'

export const claimsEngine: ClaimsEngine = { compile }

function compile(text: string, { variable: about, isRule = false }: ClaimsCompileOptions): ClaimsExpression {
  const environment = baseEnvironment.extend({ [about]: { type: mapOf(stringType, dynType), adapt: adaptDynamic } })
  const compiled = compileExpression(text, environment)
  if (!(compiled instanceof CompiledExpression))
    throw new RangeError(`${JSON.stringify(text)} is no expression about ${about}: ${compiled.errors}`)
  if (isRule && compiled.type !== boolType)
    throw new RangeError(`${JSON.stringify(text)} must evaluate to bool, got ${formatType(compiled.type)}`)
  return { text, evaluate: (variable) => resultOf(compiled, { [about]: variable }) }
}

function resultOf(compiled: CompiledExpression, bindings: Readonly<Record<string, JsonObject>>): ClaimsResult {
  const { value, error } = compiled.evaluate(bindings)
  if (error !== undefined) return { error: `expression '${compiled.text}' resulted in error: ${error}` }
  const json = toJson(value)
  return json instanceof EvaluationError ? { error: json.message } : { value: json }
}
