/**
 * The changes that a mutating policy makes to one object, one after the other.
 *
 * An apply configuration is laid over the object by its schema; a JSON patch changes it step by step, and one whose own
 * test fails is left out. What comes of it must be an object of the kind, or the policy is wrong.
 */
import { applyJsonPatch, matchConditionsCostMax, internalError, isApiError, isFailedTest, overlay } from '#api'
import type {
  AdmissionCompiler,
  AdmissionExpression,
  AdmissionInput,
  AdmissionEngine,
  JsonObject,
  JsonValue,
} from '#api'
import { Warnings } from '../../answers/warnings.ts'
import { objectIn, objectsIn, textIn } from '../../builtin/rules/reading.ts'
import { shapeObject } from '../../decode.ts'
import { managedSchema } from '../../resources/manage.ts'
import type { Resource } from '../../resources/resource.ts'
import { meetsConditions } from '../matching/conditions.ts'
import type { AdmissionPolicy } from './policy.ts'

interface Mutation {
  readonly isPatch: boolean
  readonly expression: AdmissionExpression
}

export interface CompiledMutations {
  readonly language: AdmissionEngine
  readonly compiler: AdmissionCompiler
  readonly conditions: readonly AdmissionExpression[]
  readonly mutations: readonly Mutation[]
  /** Wants to be asked again when something changes after it. */
  readonly isReinvoked: boolean
}

/** Something that a policy could not do. */
export class MutationError extends Error {}

export function compileMutations({ spec, paramKind }: AdmissionPolicy, language: AdmissionEngine): CompiledMutations {
  const compiler = language.compiler({ hasParams: paramKind !== undefined, hasVariables: true, hasPatches: true })
  for (const variable of objectsIn(spec, 'variables'))
    compiler.define(textIn(variable, 'name'), textIn(variable, 'expression'))
  return {
    language,
    compiler,
    conditions: objectsIn(spec, 'matchConditions').map((condition) =>
      compiler.compile(textIn(condition, 'expression'), { resultTypes: ['bool'] }),
    ),
    mutations: objectsIn(spec, 'mutations').map((mutation) => {
      const isPatch = textIn(mutation, 'patchType') === 'JSONPatch'
      const text = textIn(objectIn(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration'), 'expression')
      return { isPatch, expression: compiler.compile(text, { resultTypes: [isPatch ? 'list(JSONPatch)' : 'Object'] }) }
    }),
    isReinvoked: textIn(spec, 'reinvocationPolicy') === 'IfNeeded',
  }
}

/** @throws {MutationError} when the conditions cannot be evaluated. */
export async function meetsMatchConditions(
  { compiler, conditions }: CompiledMutations,
  input: AdmissionInput,
): Promise<boolean> {
  if (conditions.length === 0) return true
  const met = await meetsConditions(conditions, compiler.start(input, { budget: matchConditionsCostMax }))
  if (met.error !== undefined) throw new MutationError(met.error)
  return met.isMet
}

/**
 * What one mutation makes of the object of `input`, which is not changed.
 *
 * @throws {MutationError} when it cannot be done.
 * @throws {ApiError} 500, when what comes of it is no object of the kind.
 */
export async function applyMutation(
  { isPatch, expression }: Mutation,
  { language, compiler }: CompiledMutations,
  { input, form }: { input: AdmissionInput; form: Resource },
): Promise<JsonObject> {
  const object = input.object ?? {}
  if (expression.error !== undefined) throw new MutationError(expression.error)
  const outcome = await compiler.start(input).evaluate(expression)
  if (outcome.error !== undefined) throw new MutationError(outcome.error)
  if (isPatch) return patched(object, unwrap(language.patchOf(outcome.value)), form)
  const part = unwrap(language.configurationOf(outcome.value))
  const { apiVersion, kind } = object
  const laid = overlay(
    object,
    { ...part, ...(apiVersion !== undefined && { apiVersion }), ...(kind !== undefined && { kind }) },
    managedSchema(form),
  )
  if (laid.error !== undefined) throw new MutationError(`error applying patch: ${laid.error}`)
  return laid.json
}

function unwrap<T>(made: { readonly json: T; readonly error?: undefined } | { readonly error: string }): T {
  if (made.error !== undefined) throw new MutationError(made.error)
  return made.json
}

function patched(object: JsonObject, patch: readonly JsonObject[], form: Resource): JsonObject {
  const value = applied(object, patch)
  if (!form.custom && value !== object) requireKnown(value, form)
  return value as JsonObject
}

function applied(object: JsonObject, patch: readonly JsonObject[]): JsonValue {
  try {
    return applyJsonPatch(object, patch, { negativeIndices: true, missingIsNull: true })
  } catch (error) {
    if (isFailedTest(error)) return object
    if (isApiError(error))
      throw new MutationError(`JSON Patch: ${error.message.slice(error.message.indexOf(': ') + 2)}`)
    throw error
  }
}

/** A patch that adds what a built-in kind does not have is a mistake, unlike a webhook's. */
function requireKnown(value: JsonValue, form: Resource): void {
  try {
    shapeObject({ value, duplicates: [] }, form, { fieldValidation: 'Strict', warnings: new Warnings() })
  } catch (error) {
    throw isApiError(error) ? internalError(error) : error
  }
}
