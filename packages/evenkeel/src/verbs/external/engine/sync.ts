/**
 * Brings the thing of an object to what the object says: look, compare, act, look again.
 *
 *   not there ──▶ make it          not as desired ──▶ change it, or say so
 *   not ours, or nobody knows ──▶ say so and ask; nothing is touched
 */
import type { Reconciled } from '#controller'
import type { Sighting } from '../driver/driver.ts'
import type { Remembered } from '../memory/memory.ts'
import { driftOf } from '../policy/drift.ts'
import type { Drift } from '../policy/drift.ts'
import { create, firstAttempt } from './create.ts'
import { judge, locate } from './locate.ts'
import type { Found } from './locate.ts'
import { sayDrift, sayNotOwned, sayNotSynced, sayOwned, saySynced, shown, writeReport } from './report.ts'
import { choicesFor, resolutionOf } from './resolution.ts'
import type { Session } from './session.ts'
import { removeTwins } from './twins.ts'

export interface Synced {
  /** The thing, when it is there and ours. */
  readonly thing?: Sighting<unknown>
  readonly isSynced: boolean
  readonly isReady: boolean
  readonly result: Reconciled
}

/** @throws {CallFailed} and whatever the server says */
export async function sync(session: Session): Promise<Synced> {
  await session.connect()
  const remembered = await session.recall()
  const found = await locate(session, remembered, { isCleanup: false })
  switch (found.state) {
    case 'absent':
      return bringBack(session, remembered)
    case 'unsure':
      return waitFor(session, remembered, found.afterMs)
    case 'unknown':
      return ask(session, remembered, found)
    case 'foreign':
      return refuse(session, remembered, found)
    case 'missing':
      return waitForThing(session, found.id)
    case 'adoptable':
      return adopt(session, remembered, found.thing)
    case 'ours':
      return bring(session, rememberedAs(remembered, found.thing.id), found)
  }
}

/** What was begun and is found has been made. */
function rememberedAs(remembered: Remembered, id: string): Remembered {
  const { attempt } = remembered
  const isOpen = attempt !== undefined && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted'
  return { ...remembered, id, ...(isOpen && { attempt: { ...attempt, outcome: 'Created' as const } }) }
}

function stopped(result: Reconciled): Synced {
  return { isSynced: false, isReady: false, result }
}

function waitFor(session: Session, remembered: Remembered, afterMs: number): Synced {
  const { attempt } = remembered
  // A thing that was there a moment ago is looked for once more before anybody hears of it.
  if (attempt && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted') {
    sayNotSynced(session, {
      reason: 'Settling',
      message: 'it was begun to be made; until it is sure what came of that nothing is done',
    })
    writeReport(session, remembered, { isSeen: false })
  }
  return stopped({ afterMs })
}

/** Somebody named a thing to take over: another one would not be what was meant. */
function waitForThing(session: Session, id: string): Synced {
  sayNotSynced(session, { reason: 'AdoptionPending', message: `${id} is to be taken over, and is not there` })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}

function ask(session: Session, remembered: Remembered, { attempt }: Extract<Found, { state: 'unknown' }>): Synced {
  const {
    object,
    parts: { driver },
  } = session
  const choices = choicesFor(object, attempt, { isCleanup: false })
  sayNotSynced(session, {
    reason: 'CreateOutcomeUnknown',
    message: `${driver.name} did not say whether it was made (attempt ${attempt.key}), and it cannot be found out: ${choices}`,
  })
  sayNotOwned(session, { reason: 'CreateOutcomeUnknown', message: choices })
  writeReport(session, remembered, { isSeen: false })
  return stopped({ park: 'an answer on whether the thing was made' })
}

const foreignReasons = {
  unmarked: ['MarksMissing', 'it does not carry our marks (any more)'],
  otherInstance: ['OwnedByOther', 'it belongs to another installation'],
  otherKind: ['OwnedByOther', 'it belongs to an object of another kind'],
  otherObject: ['OwnedByOther', 'it belongs to another object'],
  orphaned: ['Orphaned', 'an object has let go of it'],
  forged: ['MarksForged', 'its marks are not sealed by us'],
  unproven: ['Unproven', 'nothing says that we made it'],
  ours: ['Owned', ''],
} as const

function refuse(
  session: Session,
  remembered: Remembered,
  { thing, why }: Extract<Found, { state: 'foreign' }>,
): Synced {
  const {
    object,
    policy: { pollIntervalMs },
  } = session
  const [reason, sentence] = foreignReasons[why]
  const message = `${thing.id}: ${sentence}, so it is not touched; ${choicesFor(object, remembered.attempt, { isCleanup: false })}`
  sayNotOwned(session, { reason, message })
  sayNotSynced(session, { reason, message: `${thing.id}: ${sentence}` })
  writeReport(session, remembered, { isSeen: true })
  return stopped({ afterMs: pollIntervalMs })
}

async function adopt(session: Session, remembered: Remembered, thing: Sighting<unknown>): Promise<Synced> {
  const {
    memory,
    policy: { paused },
    parts: { driver },
    marks,
    base: { log },
  } = session
  if (paused) {
    sayNotSynced(session, { reason: 'Paused', message: `${thing.id} would be taken over` })
    return stopped({ afterMs: session.policy.pollIntervalMs })
  }
  const next: Remembered = {
    id: thing.id,
    attempt: { ...(remembered.attempt ?? firstAttempt(session)), outcome: 'Adopted' },
  }
  await memory.write(next)
  log.info('took over a thing outside', { system: driver.name, id: thing.id })
  // Another object's marks on it would be believed; none at all is no harm.
  if (thing.marks !== undefined && driver.mark)
    await session.call('mark', async (given) => driver.mark?.(thing.id, marks, given))
  return bring(session, next, { thing, twins: [] })
}

async function bringBack(session: Session, remembered: Remembered): Promise<Synced> {
  const {
    object,
    policy: { paused, manage, drift, pollIntervalMs },
  } = session
  const isAnswered = resolutionOf(object, remembered)?.type === 'recreate'
  const wasThere = remembered.observedGeneration !== undefined && !isAnswered
  const isDrift = wasThere && remembered.observedGeneration === session.generation
  const why = paused
    ? 'Paused'
    : !manage.includes('create')
      ? 'CreateNotAllowed'
      : isDrift && drift !== 'revert'
        ? 'Missing'
        : undefined
  if (why !== undefined) {
    sayNotSynced(session, { reason: why, message: 'it is not there, and is not made' })
    if (wasThere) sayDrift(session, drift === 'report' ? [''] : [], { reason: 'Missing' })
    writeReport(session, remembered, { isSeen: true })
    return stopped({ afterMs: pollIntervalMs })
  }
  const made = await create(session, remembered, { isAnswered })
  const thing = await session.observe(made.id ?? '')
  if (!thing) return notSeenYet(session, made)
  const found = judge(session, made, { thing, isAnswer: false })
  if (found.state === 'foreign') return refuse(session, made, found)
  return bring(session, made, { thing, twins: [], isBack: isDrift })
}

function notSeenYet(session: Session, made: Remembered): Synced {
  sayOwned(session)
  sayNotSynced(session, { reason: 'Settling', message: 'it was made, and is not shown yet' })
  writeReport(session, made, { isSeen: false })
  return stopped({ afterMs: Math.max(session.windowMs, 1000) })
}

interface Bringing {
  readonly thing: Sighting<unknown>
  readonly twins: readonly string[]
  /** It was gone, and has just been made again. @default false */
  readonly isBack?: boolean
}

async function bring(
  session: Session,
  remembered: Remembered,
  { thing, twins, isBack = false }: Bringing,
): Promise<Synced> {
  const {
    parts: { seen },
    uid,
    nowMs,
  } = session
  seen.of(uid).lastSeenMs = nowMs
  const left = await removeTwins(session, thing.id, twins)
  if (left.length > 0) return tellTwins(session, remembered, [thing.id, ...left])
  sayOwned(session)
  const drift = compare(session, thing)
  const isNewWish = remembered.observedGeneration !== session.generation
  const wanted = isNewWish ? [...drift.revert, ...drift.report].sort() : drift.revert
  const waitMs = isNewWish ? 0 : doubtMs(session, drift)
  // A single look may be old, and would be taken for a change of somebody else.
  if (waitMs > 0) return stopped({ afterMs: waitMs })
  if (wanted.length === 0)
    return settled(session, { remembered, thing, reported: isNewWish ? [] : drift.report, isReverted: isBack })
  return change(session, { remembered, thing, paths: wanted, isNewWish })
}

/** How long until a difference is believed. */
function doubtMs({ parts: { seen }, uid, nowMs, windowMs }: Session, { revert, report }: Drift): number {
  const known = seen.of(uid)
  if (revert.length === 0 && report.length === 0) delete known.driftSinceMs
  else known.driftSinceMs ??= nowMs
  return known.driftSinceMs === undefined ? 0 : windowMs - (nowMs - known.driftSinceMs)
}

function compare({ parts: { driver }, object, policy }: Session, { observed }: Sighting<unknown>): Drift {
  return driftOf(driver.desired(object as never), observed, { driver, policy })
}

interface Change {
  readonly remembered: Remembered
  readonly thing: Sighting<unknown>
  readonly paths: readonly string[]
  readonly isNewWish: boolean
}

async function change(session: Session, { remembered, thing, paths, isNewWish }: Change): Promise<Synced> {
  const {
    policy: { paused, manage, pollIntervalMs },
    parts: { driver },
    object,
    marks,
    windowMs,
    base: { log },
  } = session
  sayDrift(session, isNewWish ? [] : paths)
  if (paused || !manage.includes('update')) {
    sayNotSynced(session, {
      reason: paused ? 'Paused' : 'UpdateNotAllowed',
      message: `not as desired, and not changed: ${shown(paths)}`,
    })
    await session.memory.note(remembered)
    writeReport(session, remembered, { isSeen: true, drift: { paths } })
    return { thing, ...stopped({ afterMs: pollIntervalMs }) }
  }
  await session.assertCurrent()
  await session.call('update', (given) =>
    driver.update(thing.id, driver.desired(object as never), { ...given, observed: thing.observed, paths, marks }),
  )
  log.info('changed a thing outside', { system: driver.name, id: thing.id, paths: shown(paths) })
  const after = await session.observe(thing.id)
  const left = after ? compare(session, after) : undefined
  if (after && left?.revert.length === 0)
    return settled(session, {
      remembered,
      thing: after,
      reported: isNewWish ? [] : left.report,
      isReverted: !isNewWish,
    })
  sayNotSynced(session, { reason: 'Settling', message: `changed, and not shown yet: ${shown(paths)}` })
  await session.memory.note(remembered)
  writeReport(session, remembered, { isSeen: true, drift: { paths } })
  return stopped({ afterMs: windowMs > 0 ? windowMs : pollIntervalMs })
}

interface Settled {
  readonly remembered: Remembered
  readonly thing: Sighting<unknown>
  readonly reported: readonly string[]
  readonly isReverted: boolean
}

async function settled(session: Session, { remembered, thing, reported, isReverted }: Settled): Promise<Synced> {
  const {
    parts: { driver, seen },
    uid,
    generation,
    policy: { pollIntervalMs },
  } = session
  if (reported.length === 0) delete seen.of(uid).driftSinceMs
  const readiness = driver.ready?.(thing.observed) ?? true
  const isReady = typeof readiness === 'boolean' ? readiness : readiness.ready
  const next: Remembered = { ...remembered, observedGeneration: generation }
  await session.memory.note(next)
  sayDrift(session, reported)
  if (reported.length > 0)
    sayNotSynced(session, { reason: 'Drifted', message: `somebody changed it: ${shown(reported)}` })
  else saySynced(session, readiness)
  writeReport(session, next, { isSeen: true, drift: { paths: reported, isReverted } })
  // What a list shows need not be asked for one by one; what is not ready yet soon is, or is not.
  const result = isReady
    ? driver.list
      ? undefined
      : { afterMs: session.jittered(pollIntervalMs) }
    : { afterMs: Math.min(unreadyMs, pollIntervalMs) }
  return { thing, isSynced: reported.length === 0, isReady, result }
}

const unreadyMs = 5000

function tellTwins(session: Session, remembered: Remembered, ids: readonly string[]): Synced {
  const words = {
    reason: 'Duplicate',
    message: `${ids.length} things say that they are of this object: ${ids.join(', ')}; none is touched. Remove the wrong one, or set duplicates to delete to keep ${ids[0] ?? ''}`,
  }
  sayNotOwned(session, words)
  sayNotSynced(session, words)
  writeReport(session, remembered, { isSeen: true })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}
