/**
 * Where the thing of an object is, and whether that is certain.
 *
 * A thing is ours if its marks say so, or its name, or what we wrote down before we made it. That it is not there is only
 * believed when nothing that is under way can make it appear: looks may be old, and calls may still arrive.
 */
import type { KubeObject } from '#api'
import type { Observation } from './driver.ts'
import { checkOwnership, kindLabel, readOwnershipLabels, resourceNameFor, type Ownership } from './ownership-labels.ts'
import { annotationOf, annotationPrefix } from './policy.ts'
import type { CreateAttempt, ResourceRecord } from './record.ts'
import type { ExternalSession } from './session.ts'

export type LocateResult =
  /** It is surely not there. */
  | { readonly state: 'absent' }
  | { readonly state: 'ours'; readonly observation: Observation<unknown>; readonly duplicates: readonly string[] }
  /** Not ours yet, and may become it. */
  | { readonly state: 'adoptable'; readonly observation: Observation<unknown> }
  /** Where ours should be there is one that cannot be proven to be ours. */
  | { readonly state: 'foreign'; readonly observation: Observation<unknown>; readonly reason: Ownership | 'unproven' }
  /** The one that somebody named is not there. */
  | { readonly state: 'missing'; readonly id: string }
  /** Too early to say. */
  | { readonly state: 'unsure'; readonly afterMs: number }
  /** Somebody began to make it, and nobody can say what came of that. */
  | { readonly state: 'unknown'; readonly attempt: CreateAttempt }

interface LocateOptions {
  /** Whether it is to be removed: then nothing may appear afterwards. */
  readonly isCleanup: boolean
}

export async function locate(
  session: ExternalSession,
  remembered: ResourceRecord,
  options: LocateOptions,
): Promise<LocateResult> {
  const resolution = resolutionOf(session.object, remembered)
  const id = resolution?.type === 'adopt' ? resolution.id : resourceIdOf(session, remembered)
  if (resolution?.type === 'recreate') return { state: 'absent' }
  const observation = id === undefined ? undefined : await session.observe(id)
  if (observation) return classify(session, remembered, { observation, isAnswer: resolution?.type === 'adopt' })
  const named = namedBy(session)
  if (remembered.id === undefined && remembered.attempt === undefined && named !== undefined)
    return { state: 'missing', id: named }
  const marked = await findLabelled(session, remembered, options)
  return marked ?? classifyAbsence(session, remembered, options)
}

/** Where it should be. */
export function resourceIdOf(session: ExternalSession, { id }: ResourceRecord): string | undefined {
  return id ?? namedBy(session) ?? nameFor(session)
}

/** The name that it is given, where names can be chosen. */
export function nameFor({
  environment: { strategy, driver, identity: marker },
  object,
  uid,
}: ExternalSession): string | undefined {
  return strategy === 'S1' ? resourceNameFor(marker, uid) : driver.identify?.(object)
}

/** The thing that somebody wants to be taken over. */
function namedBy({ object, policy: { adoption, manage } }: ExternalSession): string | undefined {
  return adoption === 'explicitId' && manage.includes('adopt') ? annotationOf(object, 'adopt') : undefined
}

/** Whose a thing is. */
export function classify(
  session: ExternalSession,
  remembered: ResourceRecord,
  { observation, isAnswer }: { observation: Observation<unknown>; isAnswer: boolean },
): LocateResult {
  const known = session.environment.observations.of(session.uid)
  delete known.absentSinceMs
  const why = ownershipOf(session, remembered, observation)
  if (why === 'ours')
    return { state: 'ours', observation, duplicates: (known.duplicates ?? []).filter((id) => id !== observation.id) }
  const isFree = why === 'unmarked' || why === 'orphaned' || why === 'unproven'
  return isFree && (isAnswer || mayAdopt(session, observation))
    ? { state: 'adoptable', observation }
    : { state: 'foreign', observation, reason: why }
}

function ownershipOf(
  { environment: { driver, strategy, identity: marker }, uid }: ExternalSession,
  { id, attempt, isLost = false }: ResourceRecord,
  observation: Observation<unknown>,
): Ownership | 'unproven' {
  const isRemembered = id === observation.id && !isLost
  const { labels: labels = 'none' } = driver.capabilities
  if (labels === 'none')
    return isRemembered || (strategy === 'S1' && observation.id === resourceNameFor(marker, uid)) ? 'ours' : 'unproven'
  const verdict = checkOwnership(observation.labels, marker, uid)
  if (verdict !== 'unmarked' && verdict !== 'orphaned') return verdict
  // Taken over without a write; or made a moment ago, and the marks come next.
  const isMarkedLater = labels === 'afterCreate' && attempt?.outcome === 'Created' && verdict === 'unmarked'
  return isRemembered && (attempt?.outcome === 'Adopted' || isMarkedLater) ? 'ours' : verdict
}

function mayAdopt(session: ExternalSession, { id }: Observation<unknown>): boolean {
  const {
    policy: { adoption, manage },
    environment: { driver },
    object,
  } = session
  return (
    namedBy(session) === id || (adoption === 'byName' && manage.includes('adopt') && driver.identify?.(object) === id)
  )
}

/** By its marks, where things have them from the first moment. */
async function findLabelled(
  session: ExternalSession,
  { attempt, id }: ResourceRecord,
  { isCleanup }: LocateOptions,
): Promise<LocateResult | undefined> {
  const {
    environment: { driver, strategy, identity: marker, observations: seen },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
    policy: { adoption, manage },
  } = session
  if (!driver.list || (driver.capabilities.labels ?? 'none') === 'none' || strategy === 'S1') return undefined
  const wasTried = (attempt !== undefined && !isRefused(session, attempt)) || id !== undefined
  const takesOver = !isCleanup && adoption === 'ifMarked' && manage.includes('adopt')
  // What nobody began to make is not there: that was written down first. But a status can be lost as a whole.
  if (!wasTried && !takesOver && !seen.mayHave(uid)) return undefined
  const observations = await session.list({
    instance: marker.instance,
    kind: kindLabel(marker),
    namespace,
    name,
    ...(!takesOver && { uid }),
  })
  const ours = observations
    .filter((observation) => checkOwnership(observation.labels, marker, uid) === 'ours')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const [first, ...others] = ours
  if (first) return { state: 'ours', observation: first, duplicates: others.map((other) => other.id) }
  const left = takesOver
    ? observations.filter((observation) => isLeft(observation, session)).sort((a, b) => (a.id < b.id ? -1 : 1))
    : []
  return left[0] && { state: 'adoptable', observation: left[0] }
}

/** Of an object of the same name that is no more. */
function isLeft(
  observation: Observation<unknown>,
  {
    environment: { identity: marker },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
  }: ExternalSession,
): boolean {
  const labels = readOwnershipLabels(observation.labels)
  return (
    checkOwnership(observation.labels, marker, uid) === 'otherObject' &&
    labels?.namespace === namespace &&
    labels.name === name
  )
}

function isRefused(
  { environment: { observations: seen }, uid }: ExternalSession,
  { key, outcome }: CreateAttempt,
): boolean {
  return outcome === 'Refused' || (outcome === 'Pending' && seen.of(uid).refusedKey === key)
}

function classifyAbsence(
  session: ExternalSession,
  { attempt, id, observedGeneration }: ResourceRecord,
  { isCleanup }: LocateOptions,
): LocateResult {
  const {
    environment: { strategy, observations: seen, driver },
    uid,
    nowMs,
    windowMs,
    settleMs,
  } = session
  if (!attempt) return id === undefined || strategy === 'S1' ? { state: 'absent' } : lookAgain(session)
  if (isRefused(session, attempt) && id === undefined) return { state: 'absent' }
  const isOpen = attempt.outcome === 'Pending' || attempt.outcome === 'Unknown'
  const sinceMs = nowMs - seen.attemptSeen(uid, attempt.key, nowMs)
  if (isOpen && (strategy === 'S4' || strategy === 'S5')) return { state: 'unknown', attempt }
  // A second create under the same name, or with the same token, does no harm; something that appears
  // after a removal does, unless it can be called off.
  const isHarmless =
    (!isCleanup && (strategy === 'S1' || strategy === 'S3')) ||
    (isCleanup && strategy === 'S3' && driver.cancel !== undefined)
  const waitMs = isOpen ? (isHarmless ? 0 : settleMs) : windowMs
  if (sinceMs < waitMs) return { state: 'unsure', afterMs: waitMs - sinceMs }
  // Made, and never seen: whatever the driver made, it is not where it says.
  if (!isOpen && observedGeneration === undefined && !isHarmless && !isCleanup) return { state: 'unknown', attempt }
  return isOpen && isHarmless ? { state: 'absent' } : lookAgain(session)
}

/** One look is not enough to make another thing, or to let the object go: the look may be old, or wrong. */
function lookAgain({ environment: { observations: seen }, uid, nowMs, windowMs }: ExternalSession): LocateResult {
  const known = seen.of(uid)
  if (known.absentSinceMs !== undefined && nowMs - known.absentSinceMs >= windowMs) return { state: 'absent' }
  known.absentSinceMs ??= nowMs
  return { state: 'unsure', afterMs: Math.max(windowMs - (nowMs - known.absentSinceMs), 1) }
}

/*
 * What a person answered where the engine would have had to guess, in the annotation `external.evenkeel.dev/resolve`:
 *
 *   adopt:ID       this one is it
 *   recreate:KEY   whatever came of that attempt, make another one
 *   orphan:KEY     let go of whatever came of it
 *
 * The key of the attempt makes it an answer to one question: it stays on the object and answers no other.
 */

type Resolution =
  | { readonly type: 'adopt'; readonly id: string }
  | { readonly type: 'recreate' }
  | { readonly type: 'orphan' }

export function resolutionOf(object: KubeObject, { id, attempt }: ResourceRecord): Resolution | undefined {
  const text = annotationOf(object, 'resolve') ?? ''
  const at = text.indexOf(':')
  const [verb, about] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
  if (about === '') return undefined
  // A thing that is known already needs no answer, unless the answer is about that very one.
  if (verb === 'adopt') return id === undefined || id === about ? { type: 'adopt', id: about } : undefined
  if (attempt?.key !== about) return undefined
  return verb === 'recreate' || verb === 'orphan' ? { type: verb } : undefined
}

/** The choices, as they can be typed. */
export function choicesFor(
  { kind, metadata: { name = '', namespace } }: KubeObject,
  attempt: CreateAttempt | undefined,
  { isCleanup }: { isCleanup: boolean },
): string {
  const where = `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
  const answers = ['adopt:ID', ...(attempt ? [`${isCleanup ? 'orphan' : 'recreate'}:${attempt.key}`] : [])]
  return `answer with: kubectl annotate --overwrite ${where} ${annotationPrefix}resolve=${answers.join(' or ')}`
}
