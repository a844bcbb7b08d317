/**
 * What expressions of mutating policies give, as JSON.
 */
import { misplacedParts, ObjectValue, toJson } from '../expressions/patches/object-value.ts'
import { PatchValue } from '../expressions/patches/patch-types.ts'
import { ListValue } from '../expressions/value/list.ts'
import { EvaluationError } from '../expressions/value/value.ts'
import type { Value } from '../expressions/value/value.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { JsonResult } from './load.ts'

export function configurationOf(value: unknown): JsonResult<JsonObject> {
  if (!(value instanceof ObjectValue)) return { error: 'unsupported return type from ApplyConfiguration expression' }
  const mistakes = misplacedParts(value)
  if (mistakes.length > 0) return { error: `type mismatch: ${mistakes.join('\n')}` }
  const json = toJson(value)
  return json instanceof EvaluationError
    ? { error: `invalid return type: ${json.message}` }
    : { json: json as JsonObject }
}

export function patchOf(value: unknown): JsonResult<readonly JsonObject[]> {
  if (!(value instanceof ListValue))
    return { error: 'type mismatch: JSONPatchType.expression should evaluate to array' }
  const operations: JsonObject[] = []
  for (const item of value.values()) {
    const made = operationOf(item)
    if (made.error !== undefined) return made
    operations.push(made.json)
  }
  return { json: operations }
}

function operationOf(item: Value): JsonResult<JsonObject> {
  if (!(item instanceof PatchValue))
    return { error: 'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch' }
  const operation: Record<string, JsonValue> = { op: stringField(item, 'op'), path: stringField(item, 'path') }
  if (stringField(item, 'from') !== '') operation['from'] = stringField(item, 'from')
  const value = item.fields.get('value')
  if (value === undefined) return { json: operation }
  const mistakes = value instanceof ObjectValue ? misplacedParts(value) : []
  if (mistakes.length > 0) return { error: `type mismatch: ${mistakes.join('\n')}` }
  const json = toJson(value)
  if (json instanceof EvaluationError)
    return { error: `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${json.message}` }
  operation['value'] = json
  return { json: operation }
}

function stringField({ fields }: PatchValue, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}
