/**
 * The manager layer: runs controllers with leader election, events, health endpoints, metrics and webhooks.
 */

export {
  Candidate,
  type CandidateOptions,
  type Campaign,
  type CampaignEnd,
  type CampaignEvent,
  type CampaignOptions,
} from './election/candidate.ts'
export {
  checkWriteGate,
  gateWrites,
  isLeaseNotVerified,
  LeaseNotVerifiedError,
  LeaseDeadline,
} from './election/write-gate.ts'
export {
  makeElectionIdentity,
  LeaderElection,
  LeaseLostError,
  type ElectionState,
  type LeaderElectionOptions,
  type ElectionSettings,
} from './election/leader-election.ts'
export {
  leaseKind,
  leaseLock,
  checkTimes,
  type LeaseObject,
  type LeaseLock,
  type LeaseName,
  type CheckedTimes,
  type LeaseTimes,
} from './election/lease.ts'
export {
  preferThread,
  renewalThread,
  RenewalThreadError,
  type RenewalThreadOptions,
} from './election/renewal-thread.ts'
export { runEndpoints, type EndpointsOptions } from './endpoints.ts'
export type { HealthCheck } from './health.ts'
export type { EventApi, EventNote } from './event-sink.ts'
export {
  EventRecorder,
  type EventRecorderOptions,
  type TransitionOptions,
  type EventContext,
} from './event-recorder.ts'
export type { MissingRequirement, Preflight } from './preflight.ts'
export { rbacOf, type Rbac, type ScopedRules, type SubjectOptions } from './rbac.ts'
export { ClusterManagers, type ClusterManagersOptions } from './cluster-managers.ts'
export type { ClusterSource, Grant, RequestRules } from './cluster.ts'
export {
  Manager,
  type ManagedContext,
  type EndpointSettings,
  type ManagerOptions,
  type WebhookSettings,
  type RunnableOptions,
  type RunFunction,
  type Runnable,
  type RunnableContext,
} from './manager.ts'
export { defineController, type ControllersOf } from './define-controller.ts'
export { GraceExceededError } from './run-group.ts'
export { stopSignal, type SignalledProcess, type StopSignal } from './stop-signals.ts'
