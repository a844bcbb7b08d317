/**
 * Locates the external resource of an object, and says how certain the result is.
 *
 * A resource is ours by its ownership labels, by its derived name, or by the record of its creation. It counts as absent
 * only when no pending call can still create it: a read may be outdated, and a call may arrive late.
 *
 * Where the verb would have to guess, a person decides with the annotation `external.evenkeel.dev/resolve`:
 *
 *   adopt:ID       this is the resource
 *   recreate:KEY   ignore the outcome of that create attempt, and create another resource
 *   orphan:KEY     ignore the outcome of that create attempt, and let the object be deleted
 *
 * The key of the attempt ties a decision to one attempt: the annotation may stay, and decides nothing later.
 */
import type { KubeObject } from '#api'
import type { Observation } from './driver.ts'
import { checkOwnership, kindLabel, readOwnershipLabels, resourceNameFor, type Ownership } from './ownership-labels.ts'
import { annotationOf, annotationPrefix } from './policy.ts'
import type { CreateAttempt, ResourceRecord } from './record.ts'
import type { ExternalSession } from './session.ts'

export type LocateResult =
  /** It does not exist, for certain. */
  | { readonly state: 'absent' }
  | { readonly state: 'ours'; readonly observation: Observation<unknown>; readonly duplicates: readonly string[] }
  /** Not ours, but may be adopted. */
  | { readonly state: 'adoptable'; readonly observation: Observation<unknown> }
  /** There is a resource at the expected id, and ownership is not proven. */
  | { readonly state: 'foreign'; readonly observation: Observation<unknown>; readonly reason: Ownership | 'unproven' }
  /** The resource that the annotation names for adoption does not exist. */
  | { readonly state: 'missing'; readonly id: string }
  /** It may still appear. */
  | { readonly state: 'unsure'; readonly afterMs: number }
  /** The outcome of a create attempt cannot be determined. */
  | { readonly state: 'unknown'; readonly attempt: CreateAttempt }

interface LocateOptions {
  /** Whether the object is being deleted: then no resource may appear later. */
  readonly isCleanup: boolean
}

export async function locate(
  session: ExternalSession,
  record: ResourceRecord,
  options: LocateOptions,
): Promise<LocateResult> {
  const resolution = resolutionOf(session.object, record)
  const id = resolution?.type === 'adopt' ? resolution.id : resourceIdOf(session, record)
  if (resolution?.type === 'recreate') return { state: 'absent' }
  const observation = id === undefined ? undefined : await session.observe(id)
  if (observation) return classify(session, record, { observation, isAnswer: resolution?.type === 'adopt' })
  const named = adoptionId(session)
  if (record.id === undefined && record.attempt === undefined && named !== undefined)
    return { state: 'missing', id: named }
  const labelled = await findLabelled(session, record, options)
  return labelled ?? classifyAbsence(session, record, options)
}

/** The expected id. */
export function resourceIdOf(session: ExternalSession, { id }: ResourceRecord): string | undefined {
  return id ?? adoptionId(session) ?? nameFor(session)
}

/** The name for a new resource, if the system lets clients choose. */
export function nameFor({
  environment: { strategy, driver, identity },
  object,
  uid,
}: ExternalSession): string | undefined {
  return strategy === 'S1' ? resourceNameFor(identity, uid) : driver.identify?.(object)
}

/** The resource that the annotation names for adoption. */
function adoptionId({ object, policy: { adoption, manage } }: ExternalSession): string | undefined {
  return adoption === 'explicitId' && manage.includes('adopt') ? annotationOf(object, 'adopt') : undefined
}

/** Classifies an observed resource by its owner. */
export function classify(
  session: ExternalSession,
  record: ResourceRecord,
  { observation, isAnswer }: { observation: Observation<unknown>; isAnswer: boolean },
): LocateResult {
  const known = session.environment.observations.of(session.uid)
  delete known.absentSinceMs
  const ownership = ownershipOf(session, record, observation)
  if (ownership === 'ours')
    return { state: 'ours', observation, duplicates: (known.duplicates ?? []).filter((id) => id !== observation.id) }
  const isFree = ownership === 'unlabelled' || ownership === 'orphaned' || ownership === 'unproven'
  return isFree && (isAnswer || mayAdopt(session, observation))
    ? { state: 'adoptable', observation }
    : { state: 'foreign', observation, reason: ownership }
}

function ownershipOf(
  { environment: { driver, strategy, identity }, uid }: ExternalSession,
  { id, attempt, isLost = false }: ResourceRecord,
  observation: Observation<unknown>,
): Ownership | 'unproven' {
  const isRecorded = id === observation.id && !isLost
  const { labels = 'none' } = driver.capabilities
  if (labels === 'none')
    return isRecorded || (strategy === 'S1' && observation.id === resourceNameFor(identity, uid)) ? 'ours' : 'unproven'
  const ownership = checkOwnership(observation.labels, identity, uid)
  if (ownership !== 'unlabelled' && ownership !== 'orphaned') return ownership
  // Adopted without writing labels, or just created and labelled by the next call.
  const isLabelledLater = labels === 'afterCreate' && attempt?.outcome === 'Created' && ownership === 'unlabelled'
  return isRecorded && (attempt?.outcome === 'Adopted' || isLabelledLater) ? 'ours' : ownership
}

function mayAdopt(session: ExternalSession, { id }: Observation<unknown>): boolean {
  const {
    policy: { adoption, manage },
    environment: { driver },
    object,
  } = session
  return (
    adoptionId(session) === id ||
    (adoption === 'byName' && manage.includes('adopt') && driver.identify?.(object) === id)
  )
}

/** Finds the resource by its ownership labels. */
async function findLabelled(
  session: ExternalSession,
  { attempt, id }: ResourceRecord,
  { isCleanup }: LocateOptions,
): Promise<LocateResult | undefined> {
  const {
    environment: { driver, strategy, identity, observations: cache },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
    policy: { adoption, manage },
  } = session
  if (!driver.list || (driver.capabilities.labels ?? 'none') === 'none' || strategy === 'S1') return undefined
  const wasTried = (attempt !== undefined && !isRefused(session, attempt)) || id !== undefined
  const isAdopting = !isCleanup && adoption === 'ifLabelled' && manage.includes('adopt')
  // Without an attempt no resource exists, because the attempt is written first. But a whole status can be lost.
  if (!wasTried && !isAdopting && !cache.mayHave(uid)) return undefined
  const observations = await session.list({
    instance: identity.instance,
    kind: kindLabel(identity),
    namespace,
    name,
    ...(!isAdopting && { uid }),
  })
  const ours = observations
    .filter((observation) => checkOwnership(observation.labels, identity, uid) === 'ours')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const [first, ...others] = ours
  if (first) return { state: 'ours', observation: first, duplicates: others.map((other) => other.id) }
  const left = isAdopting
    ? observations.filter((observation) => isOfPredecessor(observation, session)).sort((a, b) => (a.id < b.id ? -1 : 1))
    : []
  return left[0] && { state: 'adoptable', observation: left[0] }
}

/** Whether the labels name an earlier object of the same name. */
function isOfPredecessor(
  observation: Observation<unknown>,
  {
    environment: { identity },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
  }: ExternalSession,
): boolean {
  const labels = readOwnershipLabels(observation.labels)
  return (
    checkOwnership(observation.labels, identity, uid) === 'otherObject' &&
    labels?.namespace === namespace &&
    labels?.name === name
  )
}

function isRefused(
  { environment: { observations: cache }, uid }: ExternalSession,
  { key, outcome }: CreateAttempt,
): boolean {
  return outcome === 'Refused' || (outcome === 'Pending' && cache.of(uid).refusedKey === key)
}

function classifyAbsence(
  session: ExternalSession,
  { attempt, id, observedGeneration }: ResourceRecord,
  { isCleanup }: LocateOptions,
): LocateResult {
  const {
    environment: { strategy, observations: cache, driver },
    uid,
    nowMs,
    windowMs,
    settleMs,
  } = session
  if (!attempt) return id === undefined || strategy === 'S1' ? { state: 'absent' } : confirmAbsence(session)
  if (isRefused(session, attempt) && id === undefined) return { state: 'absent' }
  const isOpen = attempt.outcome === 'Pending' || attempt.outcome === 'Unknown'
  const sinceMs = nowMs - cache.attemptSeen(uid, attempt.key, nowMs)
  if (isOpen && (strategy === 'S4' || strategy === 'S5')) return { state: 'unknown', attempt }
  // A repeated create call with the same name or token is idempotent. A resource that appears after the deletion would
  // leak, unless the create call can be cancelled.
  const isIdempotent =
    (!isCleanup && (strategy === 'S1' || strategy === 'S3')) ||
    (isCleanup && strategy === 'S3' && driver.cancel !== undefined)
  const waitMs = isOpen ? (isIdempotent ? 0 : settleMs) : windowMs
  if (sinceMs < waitMs) return { state: 'unsure', afterMs: waitMs - sinceMs }
  // Created, and never observed: the driver returned an id at which there is no resource.
  if (!isOpen && observedGeneration === undefined && !isIdempotent && !isCleanup) return { state: 'unknown', attempt }
  return isOpen && isIdempotent ? { state: 'absent' } : confirmAbsence(session)
}

/** Absence must persist for the consistency window before another resource is created or the object is deleted. */
function confirmAbsence({ environment: { observations: cache }, uid, nowMs, windowMs }: ExternalSession): LocateResult {
  const known = cache.of(uid)
  if (known.absentSinceMs !== undefined && nowMs - known.absentSinceMs >= windowMs) return { state: 'absent' }
  known.absentSinceMs ??= nowMs
  return { state: 'unsure', afterMs: Math.max(windowMs - (nowMs - known.absentSinceMs), 1) }
}

type Resolution =
  | { readonly type: 'adopt'; readonly id: string }
  | { readonly type: 'recreate' }
  | { readonly type: 'orphan' }

/** The decision of a person about this record. */
export function resolutionOf(object: KubeObject, { id, attempt }: ResourceRecord): Resolution | undefined {
  const text = annotationOf(object, 'resolve') ?? ''
  const colon = text.indexOf(':')
  const [verb, subject] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)]
  if (subject === '') return undefined
  // A known resource needs no decision, unless the decision names that resource.
  if (verb === 'adopt') return id === undefined || id === subject ? { type: 'adopt', id: subject } : undefined
  if (attempt?.key !== subject) return undefined
  return verb === 'recreate' || verb === 'orphan' ? { type: verb } : undefined
}

/** The command lines for the possible decisions. */
export function choicesFor(
  { kind, metadata: { name = '', namespace } }: KubeObject,
  attempt: CreateAttempt | undefined,
  { isCleanup }: { isCleanup: boolean },
): string {
  const where = `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
  const answers = ['adopt:ID', ...(attempt ? [`${isCleanup ? 'orphan' : 'recreate'}:${attempt.key}`] : [])]
  return `decide with: kubectl annotate --overwrite ${where} ${annotationPrefix}resolve=${answers.join(' or ')}`
}
