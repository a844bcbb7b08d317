/**
 * Expressions in CEL, as Kubernetes has them: compiled against types, evaluated within a budget.
 *
 * Published as `evenkeel/unstable/expressions` and not part of `evenkeel/api`: nothing that starts needs it, and it is
 * large. Rules of custom resources and policies are built on it.
 */
export { baseEnvironment } from './library/base.ts'
export { schemaType } from './check/schema-type.ts'
export type { SchemaType, SchemaTypeOptions } from './check/schema-type.ts'
export { callCostMax, compileExpression, CompiledExpression, definitionEstimateMax, objectCostMax, ruleEstimateMax } from './expression.ts'
export type { CompileFailure, CompileOptions, EvaluateOptions, Evaluation } from './expression.ts'
export { adaptDynamic } from './value/json-adapter.ts'
