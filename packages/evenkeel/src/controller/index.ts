/**
 * Layer 5: controllers. Which keys matter, one worker per key, and what follows from how a reconcile ended.
 */

export { Controller, ControllerSet, type ControllerEnvironment } from './controller.ts'
export {
  checkDeclaration,
  verbsOf,
  watching,
  withVerbs,
  type CleanupStep,
  type ControllerDeclaration,
  type PolicyRule,
  type Reconciled,
  type ReconcileResult,
  type ScopedPolicyRule,
  type WatchDeclaration,
  type Verb,
  type VerbParts,
} from './declaration.ts'
export type { ControllerHealth } from './health.ts'
export { rulesFor } from './rbac.ts'

export {
  PerRun,
  type BaseContext,
  type ClosedGate,
  type ContextPlugin,
  type Extension,
  type PluginRun,
  type ReconcileContext,
} from './context.ts'
export { ReconcileClient } from './reconcile-client.ts'
export { StatusWriter, type ConditionFacts } from './status.ts'

export type { RunCause, LedgerEntry } from './run-record.ts'

export { Ledger, writeHooks, type LedgerOptions } from './ledger.ts'

export { isRunAborted, RunAborted, isStopReconcile, StopReconcile, isTerminalError, TerminalError } from './errors.ts'

export { channelSource, type ChannelEvent } from './channel-source.ts'
export {
  enqueueMapped,
  enqueueOwner,
  enqueueSelf,
  ownerIndex,
  ownerUids,
  type EventHandler,
  type HandlerContext,
} from './handlers.ts'
export { kindSource, lowPriority } from './kind-source.ts'
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  onUpdate,
  or,
  resourceVersionChanged,
  type Predicate,
} from './predicates.ts'
export type { AddedSource, Source, SourceContext, StartedSource } from './sources.ts'

export { findTracing, silentTracing, type Tracing } from './tracing.ts'
