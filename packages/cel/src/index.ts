/**
 * CEL in the dialect of Kubernetes: expressions are compiled against static types and evaluated within a cost limit.
 *
 * This package knows nothing of a control plane. `@evenkeel/cel/primitives` has the small parts that need no engine
 * (JSON, quantities, timestamps, names), so that a program can use them without loading the compiler.
 */

export { baseEnvironment } from './library/base.ts'
export type { DeclType } from './estimate.ts'
export {
  callCostMax,
  compileExpression,
  CompiledExpression,
  type CompileFailure,
  type CompileOptions,
  type EvaluateOptions,
  type Evaluation,
} from './expression.ts'
export { adaptDynamic, misplacedParts, ObjectValue, toJson } from './json.ts'
export { Environment, member, type Messages, type MessageType, type Overload, type Variable } from './environment.ts'
export { patchFunctions, patchMessages, patchOperationType, PatchValue, wholeObjectType } from './library/json-patch.ts'
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
  optionalOf,
  type Type,
} from './types.ts'
export {
  intFromBigInt,
  Bytes,
  Double,
  EvaluationError,
  Opaque,
  Optional,
  TypeValue,
  Uint,
  intMax,
  type Value,
} from './values.ts'
export { ListValue, EntryMap, MapValue, JsonMap, type Adapt, type ListSemantics } from './collections.ts'
export { Duration, printDuration, printTimestamp, readDuration, readTimestamp, Timestamp } from './timestamps.ts'
export { escapeName, fieldNamed, unescapeName } from './escape.ts'
export { countMax } from './cost.ts'
export { formatShortest } from './library/doubles.ts'
