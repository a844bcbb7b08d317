/**
 * Verbs: the recurring tasks of an operator, each declared once: children, dependencies, actions, external resources.
 */

export {
  childrenPlugin,
  revisions,
  type Children,
  type ChildrenContext,
  type DeclaredChild,
  type DesiredOf,
  type UntypedChild,
  type AdoptPolicy,
  type ChildOptions,
  type RecreatePolicy,
  type ChildrenOptions,
  type Revisions,
  type RevisionsOptions,
} from './children/children.ts'
export {
  dependsOn,
  type Contract,
  type ContractOf,
  type DependencyReason,
  type DependsOn,
  type DependsOnOptions,
  type FoundDependency,
  type ObjectFor,
  type ResolvedDependency,
} from './depends-on/depends-on.ts'
export type { GroupKind, Reference } from './depends-on/reference.ts'
export { ClusterUsage, Usage, usageLabel, usageLabelOf } from './depends-on/usages.ts'
export { GatewayReferenceGrant, ReferenceGrant } from './depends-on/reference-grants.ts'
export { readinessOf, readinessCheckFor, type ReadinessCheck, type ReadyRule, type Readiness } from './readiness.ts'
export { external, type ExternalResource, type ExternalVerb } from './external/external.ts'
export {
  ExternalError,
  type Capabilities,
  type Strategy,
  type CreateCall,
  type Driver,
  type DriverCall,
  type DriverEvent,
  type ListQuery,
  type Observation,
  type ExternalReadiness,
  type UpdateCall,
} from './external/driver.ts'
export type { OwnershipLabels } from './external/ownership-labels.ts'
export { fileCheckpoint, type Checkpoint } from './external/record-store.ts'
export { ExternalRef, type ExternalRefObject } from './external/external-ref.ts'
export type {
  ExternalOptions,
  AdoptionPolicy,
  DriftRule,
  ManagementPolicy,
  ExternalPolicy,
  PolicySource,
} from './external/policy.ts'
export {
  ExternalSweep,
  type ExternalSweepObject,
  type SweepQuestion,
  type SweepReport,
} from './external/external-sweep.ts'
export {
  action,
  isCallAction,
  type StateAction,
  type CallRequest,
  type CallAction,
  type CallOptions,
  type TokenAction,
  type TokenRequest,
} from './action.ts'
export type { OperationAction, OperationOptions, OperationRun } from './operation.ts'
