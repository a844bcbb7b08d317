/**
 * What controllers share: whom they talk to, what they remember, and where time and chance come from.
 */
import type { Clock, Logger, Metrics, Random } from '#base'
import type { ObjectCache } from '#cache'
import type { Client } from '#client'
import type { ContextPlugin } from './context/context.ts'
import type { HotLoopOptions } from './ledger/hot-loops.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Tracing } from './telemetry/tracing.ts'

export interface ControllerEnvironment {
  /** Made with `writeHooks` of the ledger and the cache; without them own writes are neither seen nor explained. */
  readonly client: Client
  readonly cache: ObjectCache
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** @default counted and shown to nobody */
  readonly metrics?: Metrics
  /** @default no spans */
  readonly tracing?: Tracing
  /** What they add is in the context of every run. @default none */
  readonly plugins?: readonly ContextPlugin[]
  /** When a key that keeps causing itself is slowed down. */
  readonly hotLoops?: Omit<HotLoopOptions, 'ledger'>
}
