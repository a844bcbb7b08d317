/**
 * Verbs: the recurring tasks of an operator, each declared once: children, dependencies, actions, external resources.
 */

export {
  childrenPlugin,
  revisions,
  type Children,
  type ChildrenContext,
  type AdoptPolicy,
  type ChildOptions,
  type ChildrenOptions,
  type OnceOptions,
} from './children/children.ts'
export { dependsOn, type DependsOn, type DependsOnOptions } from './depends-on/depends-on.ts'
export type { Reference } from './depends-on/reference.ts'
export { ClusterUsage, Usage, usageLabel, usageLabelOf } from './depends-on/usages.ts'
export { GatewayReferenceGrant, ReferenceGrant } from './depends-on/reference-grants.ts'
export { readinessOf, type Readiness } from './readiness.ts'
export { external } from './external/external.ts'
export {
  ExternalError,
  type Capabilities,
  type ConnectCall,
  type CreateCall,
  type Driver,
  type DriverCall,
  type DriverEvent,
  type ListQuery,
  type Observation,
  type UpdateCall,
} from './external/driver.ts'
export type { OwnershipLabels } from './external/ownership-labels.ts'
export { fileCheckpoint, type Checkpoint } from './external/record-store.ts'
export { ExternalRef } from './external/external-ref.ts'
export type { ExternalOptions, ExternalPolicy } from './external/policy.ts'
export { ExternalSweep, type ExternalSweepObject } from './external/external-sweep.ts'
export { action, isCallAction, type CallRequest } from './action.ts'
export type { RetryOptions } from './retry.ts'
