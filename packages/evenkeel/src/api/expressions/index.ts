/**
 * Expressions in CEL, as Kubernetes has them: compiled against types, evaluated within a budget.
 *
 * Published as `evenkeel/unstable/expressions` and not part of `evenkeel/api`: nothing that starts needs it, and it is
 * large. Rules of custom resources and policies are built on it.
 */
export { baseEnvironment } from './library/base.ts'
export { schemaDeclType } from './check/schema-type.ts'
export type { DeclType, DeclTypeOptions } from './check/schema-type.ts'
export {
  callCostMax,
  compileExpression,
  CompiledExpression,
  crdEstimateMax,
  objectCostMax,
  ruleEstimateMax,
} from './expression.ts'
export type { CompileFailure, CompileOptions, EvaluateOptions, Evaluation } from './expression.ts'
export { adaptDynamic } from './value/json-adapter.ts'
export { Environment } from './check/declarations.ts'
export type { Messages, MessageType, Overload, Variable } from './check/declarations.ts'
export { misplacedParts, ObjectValue, toJson } from './patches/object-value.ts'
export {
  patchFunctions,
  patchMessages,
  patchOperationType,
  PatchValue,
  wholeObjectType,
} from './patches/patch-types.ts'
export {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  formatType,
  intType,
  listOf,
  mapOf,
  nullType,
  objectType,
  opaqueType,
  parameterType,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from './check/type.ts'
export type { Type } from './check/type.ts'
export { intFromBigInt } from './value/integer.ts'
export { ListValue } from './value/list.ts'
export { EntryMap, MapValue } from './value/map.ts'
export { Duration, printDuration, printTimestamp, readDuration, readTimestamp, Timestamp } from './value/moment.ts'
export { Bytes, Double, EvaluationError, Opaque, Optional, TypeValue, Uint } from './value/value.ts'
export type { Value } from './value/value.ts'
