/**
 * Where the thing of an object is, and whether that is certain.
 *
 * A thing is ours if its marks say so, or its name, or what we wrote down before we made it. That it is not there is only
 * believed when nothing that is under way can make it appear: looks may be old, and calls may still arrive.
 */
import type { Sighting } from '../driver/driver.ts'
import { judgeMarks, kindMark, ownName, readMarks } from '../driver/marks.ts'
import type { MarkVerdict } from '../driver/marks.ts'
import type { Attempt, Remembered } from '../memory/memory.ts'
import { annotationOf } from '../policy/policy.ts'
import { resolutionOf } from './resolution.ts'
import type { Session } from './session.ts'

export type Found =
  /** It is surely not there. */
  | { readonly state: 'absent' }
  | { readonly state: 'ours'; readonly thing: Sighting<unknown>; readonly twins: readonly string[] }
  /** Not ours yet, and may become it. */
  | { readonly state: 'adoptable'; readonly thing: Sighting<unknown> }
  /** Where ours should be there is one that cannot be proven to be ours. */
  | { readonly state: 'foreign'; readonly thing: Sighting<unknown>; readonly why: MarkVerdict | 'unproven' }
  /** The one that somebody named is not there. */
  | { readonly state: 'missing'; readonly id: string }
  /** Too early to say. */
  | { readonly state: 'unsure'; readonly afterMs: number }
  /** Somebody began to make it, and nobody can say what came of that. */
  | { readonly state: 'unknown'; readonly attempt: Attempt }

interface LocateOptions {
  /** Whether it is to be removed: then nothing may appear afterwards. */
  readonly isCleanup: boolean
}

export async function locate(session: Session, remembered: Remembered, options: LocateOptions): Promise<Found> {
  const resolution = resolutionOf(session.object, remembered)
  const id = resolution?.type === 'adopt' ? resolution.id : idOf(session, remembered)
  if (resolution?.type === 'recreate') return { state: 'absent' }
  const thing = id === undefined ? undefined : await session.observe(id)
  if (thing) return judge(session, remembered, { thing, isAnswer: resolution?.type === 'adopt' })
  const named = namedBy(session)
  if (remembered.id === undefined && remembered.attempt === undefined && named !== undefined)
    return { state: 'missing', id: named }
  const marked = await findMarked(session, remembered, options)
  return marked ?? judgeAbsence(session, remembered, options)
}

/** Where it should be. */
export function idOf(session: Session, { id }: Remembered): string | undefined {
  return id ?? namedBy(session) ?? nameFor(session)
}

/** The name that it is given, where names can be chosen. */
export function nameFor({ parts: { strategy, driver, marker }, object, uid }: Session): string | undefined {
  return strategy === 'S1' ? ownName(marker, uid) : driver.identify?.(object)
}

/** The thing that somebody wants to be taken over. */
function namedBy({ object, policy: { adoption, manage } }: Session): string | undefined {
  return adoption === 'explicitId' && manage.includes('adopt') ? annotationOf(object, 'adopt') : undefined
}

/** Whose a thing is. */
export function judge(
  session: Session,
  remembered: Remembered,
  { thing, isAnswer }: { thing: Sighting<unknown>; isAnswer: boolean },
): Found {
  const known = session.parts.seen.of(session.uid)
  delete known.absentSinceMs
  const why = verdictOf(session, remembered, thing)
  if (why === 'ours') return { state: 'ours', thing, twins: (known.twins ?? []).filter((id) => id !== thing.id) }
  const isFree = why === 'unmarked' || why === 'orphaned' || why === 'unproven'
  return isFree && (isAnswer || mayAdopt(session, thing))
    ? { state: 'adoptable', thing }
    : { state: 'foreign', thing, why }
}

function verdictOf(
  { parts: { driver, strategy, marker }, uid }: Session,
  { id, attempt, isLost = false }: Remembered,
  thing: Sighting<unknown>,
): MarkVerdict | 'unproven' {
  const isRemembered = id === thing.id && !isLost
  const { marks = 'none' } = driver.capabilities
  if (marks === 'none')
    return isRemembered || (strategy === 'S1' && thing.id === ownName(marker, uid)) ? 'ours' : 'unproven'
  const verdict = judgeMarks(thing.marks, marker, uid)
  if (verdict !== 'unmarked' && verdict !== 'orphaned') return verdict
  // Taken over without a write; or made a moment ago, and the marks come next.
  const isMarkedLater = marks === 'afterCreate' && attempt?.outcome === 'Created' && verdict === 'unmarked'
  return isRemembered && (attempt?.outcome === 'Adopted' || isMarkedLater) ? 'ours' : verdict
}

function mayAdopt(session: Session, { id }: Sighting<unknown>): boolean {
  const {
    policy: { adoption, manage },
    parts: { driver },
    object,
  } = session
  return (
    namedBy(session) === id || (adoption === 'byName' && manage.includes('adopt') && driver.identify?.(object) === id)
  )
}

/** By its marks, where things have them from the first moment. */
async function findMarked(
  session: Session,
  { attempt, id }: Remembered,
  { isCleanup }: LocateOptions,
): Promise<Found | undefined> {
  const {
    parts: { driver, strategy, marker, seen },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
    policy: { adoption, manage },
  } = session
  if (!driver.list || (driver.capabilities.marks ?? 'none') === 'none' || strategy === 'S1') return undefined
  const wasTried = (attempt !== undefined && !isRefused(session, attempt)) || id !== undefined
  const takesOver = !isCleanup && adoption === 'ifMarked' && manage.includes('adopt')
  // What nobody began to make is not there: that was written down first. But a status can be lost as a whole.
  if (!wasTried && !takesOver && !seen.mayHave(uid)) return undefined
  const things = await session.list({
    instance: marker.instance,
    kind: kindMark(marker),
    namespace,
    name,
    ...(!takesOver && { uid }),
  })
  const ours = things
    .filter((thing) => judgeMarks(thing.marks, marker, uid) === 'ours')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const [first, ...others] = ours
  if (first) return { state: 'ours', thing: first, twins: others.map((other) => other.id) }
  const left = takesOver ? things.filter((thing) => isLeft(thing, session)).sort((a, b) => (a.id < b.id ? -1 : 1)) : []
  return left[0] && { state: 'adoptable', thing: left[0] }
}

/** Of an object of the same name that is no more. */
function isLeft(
  thing: Sighting<unknown>,
  {
    parts: { marker },
    object: {
      metadata: { namespace = '', name = '' },
    },
    uid,
  }: Session,
): boolean {
  const marks = readMarks(thing.marks)
  return judgeMarks(thing.marks, marker, uid) === 'otherObject' && marks?.namespace === namespace && marks.name === name
}

function isRefused({ parts: { seen }, uid }: Session, { key, outcome }: Attempt): boolean {
  return outcome === 'Refused' || (outcome === 'Pending' && seen.of(uid).refusedKey === key)
}

function judgeAbsence(
  session: Session,
  { attempt, id, observedGeneration }: Remembered,
  { isCleanup }: LocateOptions,
): Found {
  const {
    parts: { strategy, seen, driver },
    uid,
    nowMs,
    windowMs,
    settleMs,
  } = session
  if (!attempt) return id === undefined || strategy === 'S1' ? { state: 'absent' } : again(session)
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
  return isOpen && isHarmless ? { state: 'absent' } : again(session)
}

/** One look is not enough to make another thing, or to let the object go: the look may be old, or wrong. */
function again({ parts: { seen }, uid, nowMs, windowMs }: Session): Found {
  const known = seen.of(uid)
  if (known.absentSinceMs !== undefined && nowMs - known.absentSinceMs >= windowMs) return { state: 'absent' }
  known.absentSinceMs ??= nowMs
  return { state: 'unsure', afterMs: Math.max(windowMs - (nowMs - known.absentSinceMs), 1) }
}
