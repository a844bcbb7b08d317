/**
 * Checks the expressions of a validating policy against the types it is about: what nobody does when the policy is
 * written, because the types may come later.
 *
 * Warnings only: a policy does what it does, whatever they say.
 */
import type { Environment, Variable } from '../expressions/check/declarations.ts'
import { schemaDeclType } from '../expressions/check/schema-type.ts'
import { dynType, objectType } from '../expressions/check/type.ts'
import type { Type } from '../expressions/check/type.ts'
import { CompiledExpression, compileExpression } from '../expressions/expression.ts'
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { admissionEnvironment } from './environment.ts'
import type { PolicyTypes, TypeWarning } from './load.ts'

export function typeWarnings(spec: JsonObject, { objects, params }: PolicyTypes): readonly TypeWarning[] {
  const hasParams = isJsonObject(spec['paramKind'])
  const environments = objects.map(({ name, schema }) => ({
    name,
    environment: withVariables(
      spec,
      admissionEnvironment({ hasParams, object: objectVariables(schema), params: objectVariables(params) }),
    ),
  }))
  return listIn(spec, 'validations').flatMap((validation, index) =>
    ['expression', 'messageExpression'].flatMap((field) => {
      const text = validation[field]
      if (typeof text !== 'string' || text === '') return []
      const warnings = environments.flatMap(({ name, environment }) => warningsOf(text, name, environment))
      return warnings.length === 0
        ? []
        : [{ fieldRef: `spec.validations[${index}].${field}`, warning: warnings.join('\n') }]
    }),
  )
}

function warningsOf(text: string, name: string, environment: Environment): string[] {
  const found = compileExpression(text, environment, { trustsTypes: false })
  // What can be checked and never run is told when it is written.
  return found instanceof CompiledExpression || found.stage === 'instantiation' ? [] : [`${name}: ${found.errors}\n`]
}

function withVariables(spec: JsonObject, base: Environment): Environment {
  const fields = new Map<string, Type>()
  const environment = base.extend({ variables: { type: objectType('kubernetes.variables', fields) } })
  for (const { name, expression } of listIn(spec, 'variables')) {
    if (typeof name !== 'string' || typeof expression !== 'string') continue
    const found = compileExpression(expression, environment, { trustsTypes: false })
    fields.set(name, found instanceof CompiledExpression ? found.type : dynType)
  }
  return environment
}

function objectVariables(schema: Schema | undefined): Variable {
  // What a server publishes of a kind is complete, metadata too.
  const seen = schema && schemaDeclType(schema)
  return { type: seen?.type ?? dynType }
}

function listIn(spec: JsonObject, field: string): readonly JsonObject[] {
  const list: JsonValue | undefined = spec[field]
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
