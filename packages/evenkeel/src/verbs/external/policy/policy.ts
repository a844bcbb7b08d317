/**
 * How the thing of an object is to be treated: what may be done, what becomes of it, what counts as drift.
 *
 * The verb's options say it for all, a function of theirs for some, annotations of an object for that one. What an
 * annotation says and is not understood is refused as a whole: doing half of what somebody meant is a guess.
 */
import type { KubeObject } from '#api'

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
