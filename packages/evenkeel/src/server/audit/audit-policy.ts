/**
 * Audit policies in the form of `audit.k8s.io/v1`: which requests are logged, and at which level.
 *
 * The first matching rule decides; a request without a matching rule is not logged.
 */
import type { RequestContext, RequestInfo, User } from '../request-context.ts'

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const

/** Nothing; metadata; also the request body; also the response body. */
export type AuditLevel = (typeof levels)[number]

const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const

/** `ResponseStarted` is for watches only. `Panic` replaces `ResponseComplete` after an internal error. */
export type AuditStage = (typeof stages)[number]

export interface AuditResources {
  /** Empty for the core group, `*` for all. */
  readonly group?: string
  /** `pods`, `pods/log`, `pods/*` (itself and all below), `*` for all, a star and `/scale` for that of all; none for all of the group. */
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** An absent field matches everything. */
export interface AuditRule {
  readonly level: AuditLevel
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly AuditResources[]
  /** The empty name matches cluster-scoped resources. */
  readonly namespaces?: readonly string[]
  /** `/healthz*`, `/metrics`, `*`. */
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly AuditStage[]
  readonly omitManagedFields?: boolean
}

export interface AuditPolicy {
  readonly rules: readonly AuditRule[]
  readonly omitStages?: readonly AuditStage[]
  readonly omitManagedFields?: boolean
}

/** Metadata of all requests that may change something. */
export const defaultAuditPolicy: AuditPolicy = {
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', verbs: ['get', 'list', 'watch', 'head', 'options'] }, { level: 'Metadata' }],
}

/** The decision of a policy about one request. */
export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** The input of a policy; `user` is absent when authentication failed. */
type AuditSubject = Pick<RequestInfo, 'verb' | 'path' | 'resourcePath'> & Partial<Pick<RequestContext, 'user'>>

export function decideAudit(
  { rules, omitStages = [], omitManagedFields = false }: AuditPolicy,
  audited: AuditSubject,
): AuditDecision {
  const rule = rules.find((one) => fits(one, audited))
  return {
    level: rule?.level ?? 'None',
    omitStages: new Set([...omitStages, ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? omitManagedFields,
  }
}

/** Whether a level includes another. */
export function reaches(level: AuditLevel, wanted: AuditLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(wanted)
}

/**
 * Refuses an invalid policy.
 *
 * @throws {RangeError}
 */
export function checkAuditPolicy({ rules, omitStages = [] }: AuditPolicy): void {
  checkStages(omitStages)
  for (const [index, rule] of rules.entries()) {
    if (!levels.includes(rule.level))
      throw new RangeError(
        `rule ${index} of the audit policy: there is no level ${JSON.stringify(rule.level)}, only ${levels.join(', ')}`,
      )
    if (rule.nonResourceURLs?.length && (rule.resources?.length || rule.namespaces?.length))
      throw new RangeError(`rule ${index} of the audit policy is about resources and about other paths: make it two`)
    checkStages(rule.omitStages ?? [])
  }
}

function checkStages(given: readonly AuditStage[]): void {
  for (const stage of given)
    if (!stages.includes(stage))
      throw new RangeError(`there is no audit stage ${JSON.stringify(stage)}, only ${stages.join(', ')}`)
}

function fits(rule: AuditRule, audited: AuditSubject): boolean {
  const { users = [], userGroups = [], verbs = [], resources = [], namespaces = [], nonResourceURLs = [] } = rule
  if (users.length > 0 && !(audited.user && users.includes(audited.user.name))) return false
  if (userGroups.length > 0 && !isMember(audited.user, userGroups)) return false
  if (verbs.length > 0 && !verbs.includes(audited.verb)) return false
  if (resources.length > 0 || namespaces.length > 0) return fitsResourcePath(rule, audited)
  return (
    nonResourceURLs.length === 0 ||
    (audited.resourcePath === undefined && nonResourceURLs.some((pattern) => fitsPath(pattern, audited.path)))
  )
}

function isMember(user: User | undefined, groups: readonly string[]): boolean {
  return user?.groups.some((group) => groups.includes(group)) ?? false
}

function fitsPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')))
}

function fitsResourcePath(
  { resources = [], namespaces = [] }: AuditRule,
  { resourcePath: place }: AuditSubject,
): boolean {
  if (place === undefined || (namespaces.length > 0 && !namespaces.includes(place.namespace))) return false
  return resources.length === 0 || resources.some((one) => fitsResources(one, place))
}

function fitsResources(
  { group = '', resources = [], resourceNames = [] }: AuditResources,
  place: NonNullable<RequestInfo['resourcePath']>,
): boolean {
  if (group !== place.group && group !== '*') return false
  if (resources.length === 0) return true
  if (resourceNames.length > 0 && !resourceNames.includes(place.name)) return false
  const { resource, subresource } = place
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some(
    (one) =>
      one === whole || one === '*' || one === `${resource}/*` || (subresource !== '' && one === `*/${subresource}`),
  )
}
