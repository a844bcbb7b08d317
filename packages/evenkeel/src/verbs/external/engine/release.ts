/**
 * The way out: the thing goes before its object does, and that it is gone is seen, not assumed.
 *
 * Nothing is removed that cannot be proven to be ours; what cannot be decided waits for an answer, visibly.
 */
import type { Reconciled } from '#controller'
import { makeMarks } from '../driver/marks.ts'
import type { Remembered } from '../memory/memory.ts'
import { create } from './create.ts'
import { idOf, locate } from './locate.ts'
import type { Found } from './locate.ts'
import { sayNotSynced, writeReport } from './report.ts'
import { choicesFor, resolutionOf } from './resolution.ts'
import { CallFailed } from './session.ts'
import type { Session } from './session.ts'

interface ReleaseOptions {
  /** Let go of what cannot be found out. */
  readonly isLetGo: boolean
}

/** Nothing when it is done; otherwise when to go on, or what it waits for. */
export async function release(session: Session, { isLetGo }: ReleaseOptions = { isLetGo: false }): Promise<Reconciled> {
  const {
    policy: { deletion, manage, paused },
    object,
  } = session
  if (paused)
    return wait(
      session,
      { reason: 'Paused', message: 'it is not removed while paused' },
      { park: 'the end of the pause' },
    )
  await session.connect()
  const remembered = await session.recall({ live: true })
  const answer = resolutionOf(object, remembered)?.type
  if (deletion === 'orphan' || !manage.includes('delete') || answer === 'orphan') return letGo(session, remembered)
  const found = await locate(session, remembered, { isCleanup: true })
  switch (found.state) {
    case 'unsure':
      return wait(
        session,
        { reason: 'Deleting', message: 'it was begun to be made; until it is sure what came of that the object stays' },
        { afterMs: found.afterMs },
      )
    case 'unknown':
      return isLetGo ? letGo(session, remembered) : askWhat(session, remembered)
    case 'absent':
      return removeUnseen(session, remembered)
    case 'ours':
      return remove(session, remembered, [found.thing.id, ...twinsOf(session, found)])
    // What somebody said to be ours is; what only could become ours is not.
    case 'adoptable':
      return answer === 'adopt' || remembered.id === found.thing.id
        ? remove(session, remembered, [found.thing.id])
        : done(session)
    case 'foreign':
      return leave(session, remembered, found)
    case 'missing':
      return done(session)
  }
}

function wait(session: Session, words: { reason: string; message: string }, result: Reconciled): Reconciled {
  sayNotSynced(session, words)
  return result
}

function askWhat(session: Session, { attempt, id }: Remembered): Reconciled {
  const what =
    id === undefined
      ? `nobody knows whether it was made (attempt ${attempt?.key ?? ''})`
      : `${id} does not carry our marks (any more)`
  return wait(
    session,
    {
      reason: id === undefined ? 'CreateOutcomeUnknown' : 'MarksMissing',
      message: `${what}, so it is not removed: ${choicesFor(session.object, attempt, { isCleanup: true })}`,
    },
    { park: 'an answer on what to do about the thing' },
  )
}

/** What others have taken is theirs; what has only lost its marks may still be ours. */
function leave(
  session: Session,
  remembered: Remembered,
  { thing, why }: Extract<Found, { state: 'foreign' }>,
): Reconciled | Promise<Reconciled> {
  const isLost = remembered.id === thing.id && (why === 'unmarked' || why === 'forged' || why === 'unproven')
  return isLost ? askWhat(session, remembered) : done(session)
}

function twinsOf({ policy: { duplicates } }: Session, { twins }: Extract<Found, { state: 'ours' }>): readonly string[] {
  return duplicates === 'delete' ? twins : []
}

/** Not shown, but it was made: a look may be old, and asking for the removal of nothing does no harm. */
async function removeUnseen(session: Session, remembered: Remembered): Promise<Reconciled> {
  const {
    parts: { strategy, driver, seen },
    uid,
  } = session
  const { attempt, id } = remembered
  const wasTried = id !== undefined || (attempt !== undefined && attempt.outcome !== 'Refused')
  if (!wasTried) return done(session)
  if (strategy === 'S3' && id === undefined) return removeByToken(session, remembered)
  const at = driver.identify && (driver.capabilities.marks ?? 'none') !== 'none' ? undefined : idOf(session, remembered)
  if (at === undefined || seen.of(uid).removedAtMs !== undefined) return done(session)
  return remove(session, remembered, [at])
}

/** Where it cannot be called off, only another create with the same token says what the first one has made. */
async function removeByToken(session: Session, remembered: Remembered): Promise<Reconciled> {
  const {
    object,
    parts: { driver },
  } = session
  if (driver.cancel && remembered.attempt) {
    const { key } = remembered.attempt
    await session.call('remove', async (given) => driver.cancel?.(key, given))
    return done(session)
  }
  if ((object as { readonly spec?: unknown }).spec === undefined) return askWhat(session, remembered)
  const made = await create(session, remembered, { isAnswered: false })
  return remove(session, made, made.id === undefined ? [] : [made.id])
}

/** After so long it is asked for again. */
const againMs = 60_000

async function remove(session: Session, remembered: Remembered, ids: readonly string[]): Promise<Reconciled> {
  const {
    parts: { driver, seen },
    uid,
    nowMs,
    memory,
    policy: { pollIntervalMs },
    base: { log },
  } = session
  const known = seen.of(uid)
  known.removingSinceMs ??= nowMs
  if (known.removedAtMs === undefined || nowMs - known.removedAtMs >= againMs) {
    await memory.note({ ...remembered, isDeleting: true })
    for (const id of ids) await removeOne(session, id)
    known.removedAtMs = nowMs
    log.info('asked for the removal of a thing outside', { system: driver.name, ids })
  }
  const left: string[] = []
  for (const id of ids) if (await session.observe(id)) left.push(id)
  if (left.length === 0) return done(session)
  writeReport(session, remembered, { isSeen: true })
  const afterMs = Math.min(Math.max(nowMs - known.removingSinceMs, 1000), Math.max(pollIntervalMs, 1000))
  return wait(
    session,
    { reason: 'Deleting', message: `${left.join(', ')}: its removal was asked for, and it is still there` },
    { afterMs },
  )
}

async function removeOne(session: Session, id: string): Promise<void> {
  try {
    await session.call('remove', (given) => session.parts.driver.remove(id, given))
  } catch (error) {
    if (!(error instanceof CallFailed && error.failure === 'absent')) throw error
  }
}

/** The thing stays; its marks say that nobody looks after it any more, where they can be written. */
async function letGo(session: Session, remembered: Remembered): Promise<Reconciled> {
  const {
    parts: { driver, marker },
    object,
    base: { log },
  } = session
  const found = await locate(session, remembered, { isCleanup: true })
  if (found.state === 'ours' && driver.mark)
    await session.call('mark', async (given) =>
      driver.mark?.(found.thing.id, makeMarks(object, marker, { state: 'orphaned' }), given),
    )
  log.warn('let go of a thing outside', { system: driver.name, id: remembered.id, attempt: remembered.attempt?.key })
  return done(session)
}

async function done(session: Session): Promise<Reconciled> {
  await session.memory.forget()
  session.parts.seen.forget(session.uid)
  sayNotSynced(session, { reason: 'Deleted', message: 'nothing of it is left' })
  return undefined
}
