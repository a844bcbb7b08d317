/**
 * Policies and options of `external`: what may be done to a resource, what happens on deletion, what counts as drift.
 *
 * The policy option applies to all objects, a policy function to some, and the annotations of an object to that object.
 * An object with an invalid annotation is not synced at all: half of a policy would be a guess.
 *
 * Drift compares only the desired fields, because systems add fields of their own. The rule of the longest matching
 * path applies: with `drift: 'revert', driftPaths: { 'size': 'report', 'size.depth': 'ignore' }` a change of `color` is
 * reverted, a change of `size.width` is reported, and a change of `size.depth` is ignored.
 */
import { deepEqual, getOwn, isJsonObject, type KubeObject } from '#api'
import type { Driver } from './driver.ts'
import type { NeedVerbs } from './needs.ts'
import type { Checkpoint } from './record-store.ts'

type ManagementPolicy = 'observe' | 'create' | 'update' | 'delete' | 'adopt'
type DriftRule = 'revert' | 'report' | 'ignore'
type AdoptionPolicy = 'never' | 'explicitId' | 'ifLabelled' | 'byName'

export interface ExternalPolicy {
  /** What may be done to the resource. @default everything */
  readonly manage: readonly ManagementPolicy[]
  /** What happens to the resource when its object is deleted. @default 'delete' */
  readonly deletion: 'delete' | 'orphan'
  /** What to do when the resource was changed by someone else. @default 'revert' */
  readonly drift: DriftRule
  /** Other rules for paths and everything below them. @default none */
  readonly driftPaths: Readonly<Record<string, DriftRule>>
  /** Which existing resources may be adopted. @default 'never' */
  readonly adoption: AdoptionPolicy
  /** What to do about duplicates: resources whose labels name the same object. @default 'report' */
  readonly duplicates: 'report' | 'delete'
  /** How often to observe the resource. @default 60_000 */
  readonly pollIntervalMs: number
  /** Observe, and change nothing. @default false */
  readonly paused: boolean
}

export const annotationPrefix = 'external.evenkeel.dev/'

const allowed = {
  manage: ['observe', 'create', 'update', 'delete', 'adopt'],
  deletion: ['delete', 'orphan'],
  drift: ['revert', 'report', 'ignore'],
  adoption: ['never', 'explicitId', 'ifLabelled', 'byName'],
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

/** The shortest poll interval: below it, a typo is a denial of service. */
const pollMsMin = 100

type PolicySource<T extends KubeObject> = Partial<ExternalPolicy> | ((object: T) => Partial<ExternalPolicy>)

/** The policy with defaults, without annotations. @throws {RangeError} for an invalid value. */
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

/** An annotation of an object is invalid. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
}

/** The policy for an object. @throws {PolicyError} for an invalid annotation. */
export function policyFor<T extends KubeObject>(object: T, source: PolicySource<T>): ExternalPolicy {
  const given = typeof source === 'function' ? source(object) : source
  try {
    return basePolicy({ ...given, ...annotatedPolicy(object, given) })
  } catch (error) {
    throw error instanceof RangeError ? new PolicyError(error.message) : error
  }
}

/** The value of an `external.evenkeel.dev/` annotation; an empty value counts as absent. */
export function annotationOf({ metadata: { annotations = {} } }: KubeObject, name: string): string | undefined {
  const full = `${annotationPrefix}${name}`
  return Object.hasOwn(annotations, full) && annotations[full] !== '' ? annotations[full] : undefined
}

function annotatedPolicy(object: KubeObject, { driftPaths = {} }: Partial<ExternalPolicy>): Partial<ExternalPolicy> {
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

/** Paths that differ, grouped by the rule for them and sorted. */
export type Drift = Readonly<Record<DriftRule, readonly string[]>>

const depthMax = 32

/** Paths of `desired` with another observed value, such as `size.width`. Lists are compared as a whole. */
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

/** Compares the desired and the observed state. */
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

/** The rule of the longest matching path. */
function ruleFor(path: string, { drift, driftPaths }: Pick<ExternalPolicy, 'drift' | 'driftPaths'>): DriftRule {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const rule = Object.hasOwn(driftPaths, at) ? driftPaths[at] : undefined
    if (rule !== undefined) return rule
  }
  return drift
}

export interface ExternalOptions<T extends KubeObject = KubeObject, N extends NeedVerbs = NeedVerbs> {
  /**
   * Name of this installation in ownership labels and resource names. Two installations that share one account need
   * different names: otherwise each treats the resources of the other as its own orphans.
   */
  readonly instance: string
  /**
   * Objects that the driver needs, each by a `dependsOn(...)`: `desired` and `connect` get them, and nothing is created
   * or changed while one is missing. They need not be listed in `verbs`.
   *
   * @default none
   */
  readonly needs?: N
  /** The policy for all objects, or a function of each object; annotations of an object take precedence. */
  readonly policy?: PolicySource<T>
  /** Seals ownership labels, so that forged labels are detected. @default no seal */
  readonly secret?: string
  /**
   * What to do with resources whose object was deleted without cleanup. @default 'delete' if ownership is certain (a
   * seal, or a record), otherwise 'report'
   */
  readonly orphans?: 'delete' | 'report'
  /** `exclusive`: everything in the scope may be deleted, but only after a person has confirmed the list. @default 'shared' */
  readonly use?: 'shared' | 'exclusive'
  /** For exclusive use: the scope that `list` gets. */
  readonly scope?: string
  /** The reconcile calls `sync` itself. @default false: `sync` runs before every reconcile */
  readonly manual?: boolean
  /** Timeout of a driver call. @default 20_000 */
  readonly callTimeoutMs?: number
  /** How long a status may say Synced without a new observation. @default 3_600_000 */
  readonly maxAgeMs?: number
  /** How many percent of the expected resources may be missing in a list before the list counts as wrong. @default 50 */
  readonly missingPercentMax?: number
  /** Where to store records instead of ExternalRef objects: on this machine only. @default ExternalRef objects */
  readonly checkpoint?: Checkpoint
  /** Keep a record of every resource although the status could hold it: a record survives a force-deleted object. @default false */
  readonly track?: boolean
}

/** The options with defaults. */
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
  /** How often to sweep: the poll interval of the base policy. */
  readonly sweepMs: number
}

/** @throws {RangeError} for an invalid option. */
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
}: Omit<ExternalOptions<T>, 'needs'>): ExternalSettings {
  if (typeof instance !== 'string' || !/^[a-z0-9](?:[-a-z0-9]{0,18}[a-z0-9])?$/.test(instance))
    throw new RangeError(
      `instance must be at most 20 lower-case letters, digits and dashes, got ${JSON.stringify(instance)}`,
    )
  if (use === 'exclusive' && (scope === undefined || scope === ''))
    throw new RangeError("use: 'exclusive' needs a scope: every resource in it that no object declares is deleted")
  if (use === 'shared' && scope !== undefined) throw new RangeError("scope is for use: 'exclusive' only")
  if (secret === '') throw new RangeError('secret must not be empty: remove it, or set a value')
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
