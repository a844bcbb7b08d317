/**
 * How the thing of an object is to be treated: what may be done, what becomes of it, what counts as drift.
 *
 * The verb's options say it for all, a function of theirs for some, annotations of an object for that one. What an
 * annotation says and is not understood is refused as a whole: doing half of what somebody meant is a guess.
 */
import { deepEqual, getOwn, isJsonObject, type KubeObject } from '#api'
import type { Driver } from './driver.ts'
import type { Checkpoint } from './record-store.ts'

export type ManagementPolicy = 'observe' | 'create' | 'update' | 'delete' | 'adopt'
export type DriftRule = 'revert' | 'report' | 'ignore'
export type AdoptionPolicy = 'never' | 'explicitId' | 'ifMarked' | 'byName'

export interface ExternalPolicy {
  /** What may be done to things. @default all of it */
  readonly manage: readonly ManagementPolicy[]
  /** What becomes of a thing when its object goes. @default 'delete' */
  readonly deletion: 'delete' | 'orphan'
  /** What to do when somebody else changed a thing. @default 'revert' */
  readonly drift: DriftRule
  /** Other rules for some paths and what is below them. @default none */
  readonly driftPaths: Readonly<Record<string, DriftRule>>
  /** Which things that we did not make may become ours. @default 'never' */
  readonly adoption: AdoptionPolicy
  /** What to do about two things that say they belong to one object. @default 'report' */
  readonly duplicates: 'report' | 'delete'
  /** How often to look. @default 60_000 */
  readonly pollIntervalMs: number
  /** Look, and touch nothing. @default false */
  readonly paused: boolean
}

export const annotationPrefix = 'external.evenkeel.dev/'

const allowed = {
  manage: ['observe', 'create', 'update', 'delete', 'adopt'],
  deletion: ['delete', 'orphan'],
  drift: ['revert', 'report', 'ignore'],
  adoption: ['never', 'explicitId', 'ifMarked', 'byName'],
  duplicates: ['report', 'delete'],
} as const

const defaults: ExternalPolicy = {
  manage: allowed.manage,
  deletion: 'delete',
  drift: 'revert',
  driftPaths: {},
  adoption: 'never',
  duplicates: 'report',
  pollIntervalMs: 60_000,
  paused: false,
}

/** The least time between two looks: below it a typo is a denial of service. */
const pollMsMin = 100

export type PolicySource<T extends KubeObject> = Partial<ExternalPolicy> | ((object: T) => Partial<ExternalPolicy>)

/** The policy without any object's own words. @throws {RangeError} when it is none. */
export function basePolicy(given: Partial<ExternalPolicy> = {}): ExternalPolicy {
  const policy: ExternalPolicy = { ...defaults, ...given }
  for (const rule of [policy.drift, ...Object.values(policy.driftPaths)]) check('drift', rule)
  check('deletion', policy.deletion)
  check('adoption', policy.adoption)
  check('duplicates', policy.duplicates)
  for (const each of policy.manage) check('manage', each)
  if (!(policy.pollIntervalMs >= pollMsMin && policy.pollIntervalMs < Infinity))
    throw new RangeError(`pollIntervalMs must be ${pollMsMin} or more, got ${policy.pollIntervalMs}`)
  return policy
}

/** An object asks for something that is not understood. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
}

/** The policy for an object. @throws {PolicyError} when an annotation of it is not understood. */
export function policyFor<T extends KubeObject>(object: T, source: PolicySource<T>): ExternalPolicy {
  const given = typeof source === 'function' ? source(object) : source
  try {
    return basePolicy({ ...given, ...annotated(object, given) })
  } catch (error) {
    throw error instanceof RangeError ? new PolicyError(error.message) : error
  }
}

/** The value of one of our annotations; empty is none. */
export function annotationOf({ metadata: { annotations = {} } }: KubeObject, name: string): string | undefined {
  const full = `${annotationPrefix}${name}`
  return Object.hasOwn(annotations, full) && annotations[full] !== '' ? annotations[full] : undefined
}

function annotated(object: KubeObject, { driftPaths = {} }: Partial<ExternalPolicy>): Partial<ExternalPolicy> {
  const [manage, deletion, drift, adoption, duplicates, poll, paused] = [
    'manage',
    'deletion',
    'drift',
    'adoption',
    'duplicates',
    'poll-interval-ms',
    'paused',
  ].map((name) => annotationOf(object, name))
  if (paused !== undefined && paused !== 'true' && paused !== 'false')
    throw new RangeError(`${annotationPrefix}paused must be true or false, got ${JSON.stringify(paused)}`)
  return {
    ...(manage !== undefined && { manage: manage.split(',').map((each) => each.trim()) as ManagementPolicy[] }),
    ...(deletion !== undefined && { deletion: deletion as ExternalPolicy['deletion'] }),
    ...(drift !== undefined && driftPathsFrom(drift, driftPaths)),
    ...(adoption !== undefined && { adoption: adoption as AdoptionPolicy }),
    ...(duplicates !== undefined && { duplicates: duplicates as ExternalPolicy['duplicates'] }),
    ...(poll !== undefined && { pollIntervalMs: Number(poll) }),
    ...(paused !== undefined && { paused: paused === 'true' }),
  }
}

/** `report`, or `report,color=ignore`. */
function driftPathsFrom(text: string, known: ExternalPolicy['driftPaths']): Partial<ExternalPolicy> {
  const paths: Record<string, DriftRule> = { ...known }
  let drift: DriftRule | undefined
  for (const part of text.split(',').map((each) => each.trim())) {
    const at = part.lastIndexOf('=')
    if (at < 0) drift = part as DriftRule
    else
      Object.defineProperty(paths, part.slice(0, at), {
        value: part.slice(at + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return { ...(drift !== undefined && { drift }), driftPaths: paths }
}

function check(what: keyof typeof allowed, value: string): void {
  if (!(allowed[what] as readonly string[]).includes(value))
    throw new RangeError(`${what} must be one of ${allowed[what].join(', ')}, got ${JSON.stringify(value)}`)
}

/*
 * In what a thing differs from what is desired, and which of that matters.
 *
 * By default only what is desired is compared: a system adds fields of its own, and those are nobody's mistake.
 */

/** Differences by what is to be done about them; sorted. */
export type Drift = Readonly<Record<DriftRule, readonly string[]>>

const depthMax = 32

/** Paths of `desired` at which something else is there: `size.width`. Lists are compared as a whole. */
function differences(
  desired: unknown,
  observed: unknown,
  { path = '', depth = 0 }: { path?: string; depth?: number } = {},
): string[] {
  if (desired === undefined) return []
  if (depth >= depthMax || !isJsonObject(desired) || !isJsonObject(observed))
    return deepEqual(desired, observed) ? [] : [path]
  return Object.keys(desired).flatMap((name) =>
    differences(getOwn(desired, name), getOwn(observed, name), {
      path: path === '' ? name : `${path}.${name}`,
      depth: depth + 1,
    }),
  )
}

/** What differs, sorted by rule. */
export function driftOf(
  desired: unknown,
  observed: unknown,
  { driver, policy }: { driver: Pick<Driver, 'diff'>; policy: Pick<ExternalPolicy, 'drift' | 'driftPaths'> },
): Drift {
  const drift: Record<DriftRule, string[]> = { revert: [], report: [], ignore: [] }
  const paths = driver.diff ? driver.diff(desired, observed) : differences(desired, observed)
  for (const path of [...new Set(paths)].sort()) drift[ruleFor(path, policy)].push(path)
  return drift
}

/** The rule of the nearest path above. */
function ruleFor(path: string, { drift, driftPaths }: Pick<ExternalPolicy, 'drift' | 'driftPaths'>): DriftRule {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const rule = Object.hasOwn(driftPaths, at) ? driftPaths[at] : undefined
    if (rule !== undefined) return rule
  }
  return drift
}

/*
 * How a verb `external` behaves, with defaults.
 */

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
