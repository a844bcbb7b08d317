/**
 * The public CEL conformance data, all of it. A case is either run, or belongs to one of the groups below, whose sizes are
 * pinned; cases that are run and fail are listed one by one, with the reason, and must go on failing.
 *
 * The data is protobuf in JSON. Values are compared as texts that tell types apart (`1`, `1u`, `double 1`), so a double in place
 * of an int is a failure.
 */
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import { describe, expect, test } from 'vitest'
import { type Environment, type Variable } from '../check/declarations.ts'
import {
  boolType, bytesType, doubleType, durationType, dynType, formatType, intType, listOf, mapOf, nullType, optionalOf, stringType, timestampType, typeOf,
  uintType, type Type,
} from '../check/type.ts'
import { CompiledExpression, compileExpression } from '../expression.ts'
import { baseEnvironment } from '../library/base.ts'
import { intFromBigInt } from '../value/integer.ts'
import { ListValue } from '../value/list.ts'
import { EntryMap, MapValue } from '../value/map.ts'
import { Duration, Timestamp, printDuration, printTimestamp, readDuration, readTimestamp } from '../value/moment.ts'
import { typeNameOf } from '../value/names.ts'
import { Bytes, Double, EvaluationError, Optional, TypeValue, Uint, type Value } from '../value/value.ts'

/** A case as the data gives it; only what we look at. */
interface ConformanceCase {
  readonly name?: string
  readonly expr: string
  readonly container?: string
  readonly disableMacros?: boolean
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly typeEnv?: readonly { readonly name: string, readonly ident?: { readonly type: Json }, readonly function?: Json }[]
  readonly bindings?: Readonly<Record<string, { readonly value: Json }>>
  readonly value?: Json
  readonly evalError?: Json
  readonly anyEvalErrors?: Json
  readonly unknown?: Json
  readonly typedResult?: { readonly result?: Json, readonly deducedType: Json }
}

type Json = Readonly<Record<string, unknown>>

type Suite = Readonly<{ name: string, suites?: readonly Suite[], tests?: readonly { readonly original: unknown }[] }>

interface Named {
  readonly id: string
  readonly original: ConformanceCase
}

const messages = 'protobuf messages, wrappers and enums do not exist in Kubernetes'
const extensions = 'an extension that Kubernetes does not have'

/** Why whole suites are left out. */
const suitesLeftOut: Readonly<Record<string, string>> = {
  dynamic: messages, enums: messages, proto2: messages, proto3: messages, proto2_ext: messages, wrappers: messages,
  bindings_ext: extensions, block_ext: extensions, encoders_ext: extensions, math_ext: extensions,
}

const containers = 'Kubernetes has no containers'
const overwritten = 'a key that is written twice keeps the last value, as in cel-go'
const stringsVersion2 = 'Kubernetes has version 2 of the string extension, which formats by US English and quotes inside lists'
const absent = 'in Kubernetes, selecting from something that is no map finds nothing instead of failing'
const beyond = 'a place beyond the end is no error in cel-go'
const declared = 'declares functions of its own'
const messageTypes = 'about the type of a field of a message'

/** Cases that are run and differ. */
const differences: Readonly<Record<string, string>> = {
  'fields/qualified_identifier_resolution/map_value_repeat_key': overwritten,
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous': overwritten,
  'namespace/namespace/self_eval_container_lookup': containers,
  'optionals/optionals/map_null_entry_no_such_key': absent,
  'optionals/optionals/map_present_key_invalid_field': absent,
  'string_ext/format/scientific notation formatting clause': stringsVersion2,
  'string_ext/format/default precision for scientific notation': stringsVersion2,
  'string_ext/format/NaN support for scientific notation': stringsVersion2,
  'string_ext/format/positive infinity support for scientific notation': stringsVersion2,
  'string_ext/format/negative infinity support for scientific notation': stringsVersion2,
  'string_ext/format/NaN support for decimal': stringsVersion2,
  'string_ext/format/positive infinity support for decimal': stringsVersion2,
  'string_ext/format/negative infinity support for decimal': stringsVersion2,
  'string_ext/format/positive infinity support for fixed-point': stringsVersion2,
  'string_ext/format/negative infinity support for fixed-point': stringsVersion2,
  'string_ext/format/list support for string': stringsVersion2,
  'string_ext/format/map support for string': stringsVersion2,
  'string_ext/format/map support (all key types)': stringsVersion2,
  'string_ext/format/dyntype support for scientific notation': stringsVersion2,
  'string_ext/format/dyntype NaN/infinity support': stringsVersion2,
  'string_ext/format/dyntype support for lists': stringsVersion2,
  'string_ext/format/dyntype support for maps': stringsVersion2,
  'string_ext/format/scientific notation formatting clause in a string variable': stringsVersion2,
  'string_ext/value_errors/indexof_out_of_range': beyond,
  'string_ext/value_errors/lastindexof_out_of_range': beyond,
  'timestamps/duration_converters/get_milliseconds': 'cel-go gives all milliseconds of a duration, not those within the second',
  'type_deductions/functions/function_result_type': declared,
  'type_deductions/flexible_type_parameter_assignment/comprehension_type_var_aliasing': messageTypes,
  'type_deductions/flexible_type_parameter_assignment/overload_type_var_aliasing': messageTypes,
  'type_deductions/type_parameters/multiple_parameters_generality': declared,
  'type_deductions/type_parameters/multiple_parameters_generality_2': declared,
  'type_deductions/type_parameters/multiple_parameters_parameterized_ovl': declared,
  'type_deductions/type_parameters/multiple_parameters_parameterized_ovl_2': declared,
  'type_deductions/legacy_nullable_types/null_assignable_to_duration_parameter_candidate': messageTypes,
  'type_deductions/legacy_nullable_types/null_assignable_to_message_parameter_candidate': messageTypes,
  'type_deductions/legacy_nullable_types/null_assignable_to_timestamp_parameter_candidate': messageTypes,
}

const primitives: Readonly<Record<string, Type>> = {
  BOOL: boolType, INT64: intType, UINT64: uintType, DOUBLE: doubleType, STRING: stringType, BYTES: bytesType, TIMESTAMP: timestampType, DURATION: durationType,
}

const all = collect(tests as Suite, [])
const run = all.filter(({ id, original }) => reasonToLeaveOut(id, original) === undefined)
const failed = run.filter(({ original }) => judge(original) !== undefined)

describe('CEL conformance', () => {
  test('leaves out what Kubernetes does not have, and nothing else', () => {
    const reasons = all.map(({ id, original }) => reasonToLeaveOut(id, original))
    expect(reasons.filter(reason => reason === messages).length).toBe(667)
    expect(reasons.filter(reason => reason === extensions).length).toBe(245)
    expect(run.length).toBe(2344 - 667 - 245)
  })

  test('refuses what only runs without type checking', () => {
    expect(failed.filter(({ original }) => original.disableCheck).length).toBe(29)
  })

  test('passes every other case but the listed differences', () => {
    expect(failed.filter(({ original }) => !original.disableCheck).map(({ id }) => id).sort()).toEqual(Object.keys(differences).sort())
  })
})

function collect({ suites = [], tests: cases = [] }: Suite, path: readonly string[]): Named[] {
  const own = cases.map(({ original }) => ({ id: [...path, (original as ConformanceCase).name].join('/'), original: original as ConformanceCase }))
  return [...own, ...suites.flatMap(suite => collect(suite, [...path, suite.name]))]
}

function reasonToLeaveOut(id: string, { expr }: ConformanceCase): string | undefined {
  const suite = suitesLeftOut[id.split('/', 1)[0]!]
  if (suite !== undefined) return suite
  return /TestAllTypes|google\.protobuf\.\w+\s*\{|conformance\./.test(expr) ? messages : undefined
}

/** What went wrong; undefined when the case passed. */
function judge(test: ConformanceCase): string | undefined {
  const compiled = compileExpression(test.expr, environmentOf(test), { isStrict: false })
  const wantsError = test.evalError !== undefined || test.anyEvalErrors !== undefined
  if (!(compiled instanceof CompiledExpression)) return wantsError ? undefined : compiled.errors
  const { deducedType, result } = test.typedResult ?? {}
  if (deducedType && formatType(compiled.type) !== formatType(typeFrom(deducedType))) return `type ${formatType(compiled.type)}, wanted ${formatType(typeFrom(deducedType))}`
  if (test.checkOnly) return undefined
  const bindings = Object.fromEntries(Object.entries(test.bindings ?? {}).map(([name, { value }]) => [name, valueFrom(value)]))
  const evaluation = compiled.evaluate(bindings)
  if (evaluation.error !== undefined) return wantsError ? undefined : evaluation.error
  if (wantsError) return `${show(evaluation.value)}, wanted an error`
  const wanted = show(valueFrom(test.value ?? result ?? { boolValue: true }))
  return show(evaluation.value) === wanted ? undefined : `${show(evaluation.value)}, wanted ${wanted}`
}

function environmentOf({ typeEnv = [] }: ConformanceCase): Environment {
  const variables: Record<string, Variable> = {}
  for (const { name, ident } of typeEnv) if (ident) variables[name] = { type: typeFrom(ident.type) }
  return baseEnvironment.extend(variables)
}

function typeFrom(json: Json): Type {
  const { primitive, wellKnown, listType, mapType, type, abstractType } = json as Record<string, Json & string>
  if ('null' in json) return nullType
  if (typeof primitive === 'string' || typeof wellKnown === 'string') return primitives[primitive ?? wellKnown ?? ''] ?? dynType
  if (listType) return listOf(typeFrom((listType['elemType'] ?? { dyn: {} }) as Json))
  if (mapType) return mapOf(typeFrom(mapType['keyType'] as Json), typeFrom(mapType['valueType'] as Json))
  if (type) return typeOf(typeFrom(type))
  if (abstractType) return optionalOf(typeFrom((abstractType['parameterTypes'] as unknown as Json[])[0]!))
  return dynType
}

function valueFrom(json: Json): Value {
  const [[kind, content] = ['nullValue', null]] = Object.entries(json)
  switch (kind) {
    case 'int64Value':
      return intFromBigInt(BigInt(String(content)))
    case 'uint64Value':
      return new Uint(BigInt(String(content)))
    case 'doubleValue':
      return new Double(Number(content))
    case 'bytesValue':
      return new Bytes(Uint8Array.from(atob(String(content)), character => character.charCodeAt(0)))
    case 'typeValue':
      return new TypeValue(String(content))
    case 'listValue':
      return ListValue.of((((content as Json)['values'] ?? []) as Json[]).map(valueFrom))
    case 'mapValue':
      return mapFrom(((content as Json)['entries'] ?? []) as { key: Json, value: Json }[])
    case 'objectValue':
      return messageFrom(content as Json)
    default:
      return content as Value
  }
}

function mapFrom(entries: readonly { key: Json, value: Json }[]): Value {
  return EntryMap.from(entries.map(({ key, value }) => [valueFrom(key), valueFrom(value)]))
}

/** Of messages only moments and durations are values for us. */
function messageFrom(json: Json): Value {
  const text = String(json['value'])
  if (json['@type'] === 'type.googleapis.com/google.protobuf.Timestamp') return readTimestamp(text) ?? null
  if (json['@type'] === 'type.googleapis.com/google.protobuf.Duration') return readDuration(text) ?? null
  return new EvaluationError(`no value for ${String(json['@type'])}`)
}

function show(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Double) return `double ${Object.is(value.value, -0) ? '-0' : value.value}`
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Bytes) return `bytes ${value.value.join(' ')}`
  if (value instanceof TypeValue) return `type ${value.name}`
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Optional) return value.value === undefined ? 'nothing' : `optional ${show(value.value)}`
  if (value instanceof ListValue) return `[${value.values().map(show).join(', ')}]`
  if (value instanceof MapValue) return `{${[...value.keys()].map(key => `${show(key)}: ${show(value.find(key) ?? null)}`).sort().join(', ')}}`
  return typeof value === 'object' && value !== null ? typeNameOf(value) : String(value)
}
