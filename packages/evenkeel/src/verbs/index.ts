/**
 * Verbs: what every operator has to do again and again, declared once. Children, dependencies, cleanup, actions, and things outside.
 */
export type { Children, ChildrenContext, DeclaredChild, DesiredOf, UntypedChild } from './children/children.ts'
export type { AdoptPolicy, ChildOptions, RecreatePolicy } from './children/options.ts'
export { childrenPlugin } from './children/plugin.ts'
export type { ChildrenOptions } from './children/plugin.ts'
export { revisions } from './children/revisions.ts'
export type { Revisions, RevisionsOptions } from './children/revisions.ts'
export { dependsOn } from './depends/depends-on.ts'
export type {
  Contract,
  ContractOf,
  DependencyReason,
  DependsOn,
  DependsOnOptions,
  FoundDependency,
  ObjectFor,
  ResolvedDependency,
} from './depends/options.ts'
export type { GroupKind, Reference } from './depends/reference.ts'
export { ClusterUsage, Usage, usageLabel, usageLabelOf } from './depends/edges/usages.ts'
export { GatewayReferenceGrant, ReferenceGrant } from './depends/judging/grants.ts'
export { readinessOf } from './readiness/readiness.ts'
export { readinessCheckFor } from './readiness/ready-rule.ts'
export type { ReadinessCheck, ReadyRule } from './readiness/ready-rule.ts'
export type { Readiness } from './readiness/verdict.ts'
export { external } from './external/external.ts'
export type { ExternalResource, ExternalVerb } from './external/external.ts'
export type { Capabilities, Strategy } from './external/driver/capabilities.ts'
export type {
  CreateCall,
  Driver,
  DriverCall,
  DriverEvent,
  ListQuery,
  Observation,
  ExternalReadiness,
  UpdateCall,
} from './external/driver/driver.ts'
export { ExternalError } from './external/driver/failure.ts'
export type { OwnershipLabels } from './external/driver/marks.ts'
export { fileCheckpoint } from './external/memory/checkpoint.ts'
export type { Checkpoint } from './external/memory/checkpoint.ts'
export { ExternalRef } from './external/memory/external-ref.ts'
export type { ExternalRefObject } from './external/memory/external-ref.ts'
export type { ExternalOptions } from './external/options.ts'
export type {
  AdoptionPolicy,
  DriftRule,
  ManagementPolicy,
  ExternalPolicy,
  PolicySource,
} from './external/policy/policy.ts'
export { ExternalSweep } from './external/sweep/external-sweep.ts'
export type { ExternalSweepObject, SweepQuestion, SweepReport } from './external/sweep/external-sweep.ts'
export { action } from './actions/action.ts'
export type { StateAction } from './actions/action.ts'
export { isCallAction } from './actions/call.ts'
export type { CallRequest, CallAction, CallOptions } from './actions/call.ts'
export type { OperationAction, OperationOptions, OperationRun } from './actions/operation.ts'
export type { TokenAction, TokenRequest } from './actions/token.ts'
