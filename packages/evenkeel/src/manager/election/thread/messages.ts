/**
 * What the thread that renews the lease and the one that works say to each other. Plain data, copied on the way.
 */
import type { ConnectionConfig, Credential } from '#client'
import type { CampaignEnd, CampaignEvent } from '../candidate.ts'
import type { LeaseName } from '../lease/lock.ts'
import type { CheckedTimes } from '../lease/times.ts'

/** What the thread starts with. */
export interface RenewalData {
  readonly config: ConnectionConfig
  readonly lease: LeaseName
  readonly identity: string
  readonly times: CheckedTimes
  readonly release: boolean
  readonly userAgent: string
  readonly memory: SharedArrayBuffer
  /** Set when credentials are handed over instead of being fetched by the thread itself. */
  readonly credential?: Credential
}

/** To the thread. */
export type RenewalOrder =
  /** The monotonic clock of the main thread, at a moment before this arrives. */
  | { readonly type: 'clock'; readonly monotonicMs: number }
  | { readonly type: 'credential'; readonly credential: Credential }
  | { readonly type: 'stop' }

/** From the thread. */
export type RenewalReport =
  | { readonly type: 'ready' }
  /** The deadline was moved. Answered by a look at the clock, so that the two threads agree ever better. */
  | { readonly type: 'renewed' }
  | { readonly type: 'event'; readonly event: CampaignEvent }
  | { readonly type: 'end'; readonly end: CampaignEnd }
  /** Another credential, please; `refused` when the server did not take the last one. */
  | { readonly type: 'want-credential'; readonly refused: boolean }
  | { readonly type: 'log'; readonly level: 'debug' | 'warn'; readonly message: string; readonly error: string }
