/**
 * How a verb `external` behaves, with defaults.
 */
import type { KubeObject } from '#api'
import type { Checkpoint } from './memory/checkpoint.ts'
import { basePolicy } from './policy/policy.ts'
import type { ExternalPolicy, PolicySource } from './policy/policy.ts'

export interface ExternalOptions<T extends KubeObject = KubeObject> {
  /**
   * Which installation of which program this is, in marks and names. Two installations that share one account must have
   * different ones, or each takes the other's things for leftovers of its own.
   */
  readonly instance: string
  /** How things are treated, for all objects or as a function of each; annotations of an object go first. */
  readonly policy?: PolicySource<T>
  /** Seals marks, so that forged ones show. @default no seal */
  readonly secret?: string
  /**
   * What becomes of things of ours whose object is gone without its cleanup. @default 'delete' if that they are ours is
   * certain (a seal, or a record of ours), otherwise 'report'
   */
  readonly orphans?: 'delete' | 'report'
  /** Whether everything in the scope is ours to delete: always listed first, and only after a person has agreed. @default 'shared' */
  readonly use?: 'shared' | 'exclusive'
  /** Of exclusive use: what `list` is given. */
  readonly scope?: string
  /** Reconcile calls `sync` itself. @default false: it is done before every reconcile */
  readonly manual?: boolean
  /** How long a call may take. @default 20_000 */
  readonly callTimeoutMs?: number
  /** After how long without a look a status stops saying that it is in sync. @default 3_600_000 */
  readonly maxAgeMs?: number
  /** How many of a hundred things may be missing in a list before it is taken for a mistake of the list. @default 50 */
  readonly missingPercentMax?: number
  /** Where to remember what the system cannot say itself, instead of ExternalRef objects: this machine only. @default objects */
  readonly checkpoint?: Checkpoint
  /** Keep a record of every thing although the status could remember it: it is still there when an object was forced away. @default false */
  readonly track?: boolean
}

export interface ExternalSettings {
  readonly instance: string
  readonly policy: PolicySource<never>
  readonly secret: string | undefined
  readonly orphans: 'delete' | 'report' | undefined
  readonly scope: string | undefined
  readonly manual: boolean
  readonly callTimeoutMs: number
  readonly maxAgeMs: number
  readonly missingPercentMax: number
  readonly checkpoint: Checkpoint | undefined
  readonly track: boolean
  /** How often to sweep: what holds for objects that say nothing themselves. */
  readonly sweepMs: number
}

/** @throws {RangeError} for what cannot be meant. */
export function settingsOf<T extends KubeObject>({
  instance,
  policy = {},
  secret,
  orphans,
  use = 'shared',
  scope,
  manual = false,
  callTimeoutMs = 20_000,
  maxAgeMs = 3_600_000,
  missingPercentMax = 50,
  checkpoint,
  track = false,
}: ExternalOptions<T>): ExternalSettings {
  if (typeof instance !== 'string' || !/^[a-z0-9](?:[-a-z0-9]{0,18}[a-z0-9])?$/.test(instance))
    throw new RangeError(
      `instance must be up to 20 letters in lower case, digits and dashes, got ${JSON.stringify(instance)}`,
    )
  if (use === 'exclusive' && (scope === undefined || scope === ''))
    throw new RangeError('exclusive use needs a scope: everything in it that no object asks for is deleted')
  if (use === 'shared' && scope !== undefined) throw new RangeError('a scope is only for exclusive use')
  if (secret === '') throw new RangeError('an empty secret seals nothing: leave it out')
  if (!(callTimeoutMs > 0 && callTimeoutMs < Infinity))
    throw new RangeError(`callTimeoutMs must be above 0, got ${callTimeoutMs}`)
  if (!(missingPercentMax >= 0 && missingPercentMax <= 100))
    throw new RangeError(`missingPercentMax must be from 0 to 100, got ${missingPercentMax}`)
  const sweepMs = sweepIntervalOf(policy as PolicySource<never>)
  if (!(maxAgeMs >= sweepMs))
    throw new RangeError(`maxAgeMs must be at least pollIntervalMs (${sweepMs}), got ${maxAgeMs}`)
  return {
    instance,
    policy: policy as PolicySource<never>,
    secret,
    orphans,
    scope,
    manual,
    callTimeoutMs,
    maxAgeMs,
    missingPercentMax,
    checkpoint,
    track,
    sweepMs,
  }
}

function sweepIntervalOf(policy: PolicySource<never>): ExternalPolicy['pollIntervalMs'] {
  return basePolicy(typeof policy === 'function' ? {} : policy).pollIntervalMs
}
