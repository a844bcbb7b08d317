/**
 * Layer 5: controllers. Which keys matter, one worker per key, and what follows from how a reconcile ended.
 */
export { Controller } from './controller.ts'
export type { EnqueueOptions } from './controller.ts'
export { ControllerSet } from './controller-set.ts'
export { watching } from './declaration.ts'
export type {
  CleanupStep,
  ControllerDeclaration,
  OwnsDeclaration,
  PolicyRule,
  Reconciled,
  ReconcileResult,
  WatchDeclaration,
} from './declaration.ts'
export type { ControllerEnvironment } from './environment.ts'
export type { ControllerHealth } from './health.ts'
export { rulesFor } from './rules-for.ts'
export type { Verb, VerbParts } from './verb.ts'

export type { BaseContext, ContextPlugin, Extension, PluginRun, ReconcileContext, StatusOf } from './context/context.ts'
export { PerRun } from './context/per-run.ts'
export { ReconcileClient } from './context/reconcile-client.ts'
export type { CachedListOptions } from './context/reconcile-client.ts'
export { StatusWriter } from './context/status-writer.ts'
export type { ConditionFacts } from './context/status-writer.ts'

export type { Cause, CauseType, RunCause, Writer } from './ledger/cause.ts'
export type { HotLoopOptions } from './ledger/hot-loops.ts'
export { Ledger } from './ledger/ledger.ts'
export type { LedgerOptions, LedgerQuery } from './ledger/ledger.ts'
export type { LedgerEntry, RunEnd, WriteRecord } from './ledger/run-record.ts'
export { writeHooks } from './ledger/write-hooks.ts'
export type { WriteHookParts } from './ledger/write-hooks.ts'

export { isRunAborted, RunAborted } from './running/run-aborted.ts'
export type { AbortReason } from './running/run-aborted.ts'
export { isStopReconcile, StopReconcile } from './running/stop-reconcile.ts'
export { isTerminalError, TerminalError } from './running/terminal-error.ts'
export type { RunningKey } from './running/worker.ts'

export { channelSource } from './sourcing/channel-source.ts'
export type { ChannelEvent, ChannelSourceOptions } from './sourcing/channel-source.ts'
export { enqueueMapped, enqueueOwner, enqueueSelf } from './sourcing/handler.ts'
export type { EnqueueOwnerOptions, EventHandler, HandlerContext, MapObject } from './sourcing/handler.ts'
export { ownerIndex, ownerUids } from './sourcing/owner-index.ts'
export { kindSource, lowPriority } from './sourcing/kind-source.ts'
export type { KindSourceOptions } from './sourcing/kind-source.ts'
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  onUpdate,
  or,
  resourceVersionChanged,
} from './sourcing/predicate.ts'
export type { Predicate } from './sourcing/predicate.ts'
export type { AddedSource, Source, SourceContext, StartedSource } from './sourcing/source.ts'

export { findTracing, silentTracing } from './telemetry/tracing.ts'
export type { Span, SpanFacts, Tracing } from './telemetry/tracing.ts'
