/**
 * Layer 5: controllers. Which keys matter, one worker per key, and what follows from how a reconcile ended.
 */

export { Controller, ControllerSet, type EnqueueOptions, type ControllerEnvironment } from './controller.ts'
export {
  checkDeclaration,
  watching,
  type CleanupStep,
  type ControllerDeclaration,
  type OwnsDeclaration,
  type PolicyRule,
  type Reconciled,
  type ReconcileResult,
  type WatchDeclaration,
  type Verb,
  type VerbParts,
} from './declaration.ts'
export type { ControllerHealth } from './health.ts'
export { rulesFor } from './rbac.ts'

export {
  PerRun,
  type BaseContext,
  type ContextPlugin,
  type Extension,
  type PluginRun,
  type ReconcileContext,
  type StatusOf,
} from './context.ts'
export { ReconcileClient, type CachedListOptions } from './reconcile-client.ts'
export { StatusWriter, type ConditionFacts } from './status.ts'

export type { Cause, CauseType, RunCause, Writer, LedgerEntry, RunEnd, WriteRecord } from './run-record.ts'
export type { HotLoopOptions } from './hot-loops.ts'
export { Ledger, writeHooks, type LedgerOptions, type LedgerQuery, type WriteHookParts } from './ledger.ts'

export {
  isRunAborted,
  RunAborted,
  isStopReconcile,
  StopReconcile,
  isTerminalError,
  TerminalError,
  type AbortReason,
} from './errors.ts'
export type { RunningKey } from './worker.ts'

export { channelSource, type ChannelEvent, type ChannelSourceOptions } from './channel-source.ts'
export {
  enqueueMapped,
  enqueueOwner,
  enqueueSelf,
  ownerIndex,
  ownerUids,
  type EnqueueOwnerOptions,
  type EventHandler,
  type HandlerContext,
  type MapObject,
} from './handlers.ts'
export { kindSource, lowPriority, type KindSourceOptions } from './kind-source.ts'
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

export { findTracing, silentTracing, type Span, type SpanFacts, type Tracing } from './tracing.ts'
