/**
 * What a manager is made from.
 */
import type { Clock, Logger, Metrics, Random } from '#base'
import type { Kind } from '#api'
import type { ObjectCacheOptions } from '#cache'
import type { ClientOptions } from '#client'
import type { ContextPlugin, ControllerDeclaration, ControllerEnvironment, LedgerOptions, Tracing } from '#controller'
import type { ChildrenOptions } from '#verbs'
import type { WebhookListenerOptions, Webhooks } from '#webhook'
import type { ClusterSource } from './connection.ts'
import type { EndpointsOptions } from './endpoints/endpoints.ts'
import type { ElectionSettings } from './leading.ts'
import type { ManagedContext } from './managed-context.ts'
import type { RequestRules } from './request-rules.ts'
import type { Runnable } from './runnable.ts'

/** Where health, metrics and what controllers are doing can be asked for. */
export interface EndpointSettings extends Pick<EndpointsOptions, 'host' | 'port' | 'live' | 'ready' | 'onListening'> {
  /** Serve `/metrics`. @default true */
  readonly metrics?: boolean
  /** Serve `/debug/reconciles`, and `/debug/rules` if there are any, to this machine only. @default true */
  readonly debug?: boolean
}

export interface WebhookSettings extends Omit<WebhookListenerOptions, 'transport' | 'clock' | 'log'> {
  readonly webhooks: Webhooks
}

export interface ManagerOptions extends ClusterSource {
  /** What the program is called: in its lease, its user agent, its roles and its logs. */
  readonly name: string
  /** @default none; see `addController` */
  readonly controllers?: readonly ControllerDeclaration<Kind, ManagedContext>[]
  /** What else runs, by default only on the leader. @default none; see `add` */
  readonly runnables?: readonly (Runnable & { readonly needsLeader?: boolean })[]
  /** How replicas agree on who works. @default on when there is a config, off for a server in this process */
  readonly leaderElection?: false | ElectionSettings
  /** @default false */
  readonly endpoints?: false | EndpointSettings
  /** @default none */
  readonly webhooks?: WebhookSettings
  /**
   * How long everything may take to stop; 0 for no time at all, Infinity for as long as it takes.
   *
   * @default 30_000
   */
  readonly gracePeriodMs?: number
  /**
   * How long those who come after the caches wait for them; afterwards they start all the same.
   *
   * @default 120_000
   */
  readonly cacheSyncMs?: number
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** How the clients behave. */
  readonly client?: Pick<ClientOptions, 'retry' | 'rateLimit' | 'timeoutMs' | 'onWarning' | 'responseBytesMax'>
  /** How much memory cached objects should take; above it the log says which kinds do, and what helps. */
  readonly cache?: Pick<ObjectCacheOptions, 'bytesMax'>
  /** How many runs and versions are remembered, to explain what caused what. */
  readonly ledger?: Pick<LedgerOptions, 'runsMax' | 'versionsMax'>
  /** Kinds that are known without asking the server, beside those of the controllers. @default none */
  readonly kinds?: readonly Kind[]
  /** What they add is in the context of every run. @default none */
  readonly plugins?: readonly ContextPlugin[]
  /** How the children of reconciles are looked after. */
  readonly children?: ChildrenOptions
  /** Looks at every request and says what is wrong with it: `liveRules` of `evenkeel/testing`. @default nobody */
  readonly rules?: RequestRules
  /** When a key that keeps causing itself is slowed down. */
  readonly hotLoops?: ControllerEnvironment['hotLoops']
  /** Tell of runs that do not end, and of a process that stood still. @default true */
  readonly watchdog?: boolean
  /** @default OpenTelemetry, if the program has it */
  readonly tracing?: Tracing
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** @default new ones */
  readonly metrics?: Metrics
}
