/**
 * The way out: the thing goes before its object does, and that it is gone is seen, not assumed.
 *
 * Nothing is removed that cannot be proven to be ours; what cannot be decided waits for an answer, visibly.
 */
import type { Reconciled } from '#controller'
import { makeOwnershipLabels } from '../driver/marks.ts'
import type { ResourceRecord } from '../memory/memory.ts'
import { createResource } from './create.ts'
import { resourceIdOf, locate } from './locate.ts'
import type { LocateResult } from './locate.ts'
import { reportNotSynced, writeReport } from './report.ts'
import { choicesFor, resolutionOf } from './resolution.ts'
import { CallFailed } from './session.ts'
import type { ExternalSession } from './session.ts'

interface DeleteOptions {
  /** Let go of what cannot be found out. */
  readonly isOrphaned: boolean
}

/** Nothing when it is done; otherwise when to go on, or what it waits for. */
export async function deleteResource(
  session: ExternalSession,
  { isOrphaned: isLetGo }: DeleteOptions = { isOrphaned: false },
): Promise<Reconciled> {
  const {
    policy: { deletion, manage, paused },
    object,
  } = session
  if (paused)
    return waitWith(
      session,
      { reason: 'Paused', message: 'it is not removed while paused' },
      { park: 'the end of the pause' },
    )
  await session.connect()
  const remembered = await session.readRecord({ live: true })
  const answer = resolutionOf(object, remembered)?.type
  if (deletion === 'orphan' || !manage.includes('delete') || answer === 'orphan') return orphan(session, remembered)
  const found = await locate(session, remembered, { isCleanup: true })
  switch (found.state) {
    case 'unsure':
      return waitWith(
        session,
        { reason: 'Deleting', message: 'it was begun to be made; until it is sure what came of that the object stays' },
        { afterMs: found.afterMs },
      )
    case 'unknown':
      return isLetGo ? orphan(session, remembered) : askWhat(session, remembered)
    case 'absent':
      return removeUnseen(session, remembered)
    case 'ours':
      return remove(session, remembered, [found.observation.id, ...duplicatesOf(session, found)])
    // What somebody said to be ours is; what only could become ours is not.
    case 'adoptable':
      return answer === 'adopt' || remembered.id === found.observation.id
        ? remove(session, remembered, [found.observation.id])
        : finish(session)
    case 'foreign':
      return leaveForeign(session, remembered, found)
    case 'missing':
      return finish(session)
  }
}

function waitWith(
  session: ExternalSession,
  words: { reason: string; message: string },
  result: Reconciled,
): Reconciled {
  reportNotSynced(session, words)
  return result
}

function askWhat(session: ExternalSession, { attempt, id }: ResourceRecord): Reconciled {
  const what =
    id === undefined
      ? `nobody knows whether it was made (attempt ${attempt?.key ?? ''})`
      : `${id} does not carry our marks (any more)`
  return waitWith(
    session,
    {
      reason: id === undefined ? 'CreateOutcomeUnknown' : 'MarksMissing',
      message: `${what}, so it is not removed: ${choicesFor(session.object, attempt, { isCleanup: true })}`,
    },
    { park: 'an answer on what to do about the thing' },
  )
}

/** What others have taken is theirs; what has only lost its marks may still be ours. */
function leaveForeign(
  session: ExternalSession,
  remembered: ResourceRecord,
  { observation, reason: why }: Extract<LocateResult, { state: 'foreign' }>,
): Reconciled | Promise<Reconciled> {
  const isLost = remembered.id === observation.id && (why === 'unmarked' || why === 'forged' || why === 'unproven')
  return isLost ? askWhat(session, remembered) : finish(session)
}

function duplicatesOf(
  { policy }: ExternalSession,
  { duplicates }: Extract<LocateResult, { state: 'ours' }>,
): readonly string[] {
  return policy.duplicates === 'delete' ? duplicates : []
}

/** Not shown, but it was made: a look may be old, and asking for the removal of nothing does no harm. */
async function removeUnseen(session: ExternalSession, remembered: ResourceRecord): Promise<Reconciled> {
  const {
    environment: { strategy, driver, observations: seen },
    uid,
  } = session
  const { attempt, id } = remembered
  const wasTried = id !== undefined || (attempt !== undefined && attempt.outcome !== 'Refused')
  if (!wasTried) return finish(session)
  if (strategy === 'S3' && id === undefined) return removeByToken(session, remembered)
  const at =
    driver.identify && (driver.capabilities.labels ?? 'none') !== 'none' ? undefined : resourceIdOf(session, remembered)
  if (at === undefined || seen.of(uid).removedAtMs !== undefined) return finish(session)
  return remove(session, remembered, [at])
}

/** Where it cannot be called off, only another create with the same token says what the first one has made. */
async function removeByToken(session: ExternalSession, remembered: ResourceRecord): Promise<Reconciled> {
  const {
    object,
    environment: { driver },
  } = session
  if (driver.cancel && remembered.attempt) {
    const { key } = remembered.attempt
    await session.call('remove', async (given) => driver.cancel?.(key, given))
    return finish(session)
  }
  if ((object as { readonly spec?: unknown }).spec === undefined) return askWhat(session, remembered)
  const made = await createResource(session, remembered, { isAnswered: false })
  return remove(session, made, made.id === undefined ? [] : [made.id])
}

/** After so long it is asked for again. */
const againMs = 60_000

async function remove(
  session: ExternalSession,
  remembered: ResourceRecord,
  ids: readonly string[],
): Promise<Reconciled> {
  const {
    environment: { driver, observations: seen },
    uid,
    nowMs,
    store: memory,
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
  if (left.length === 0) return finish(session)
  writeReport(session, remembered, { isObserved: true })
  const afterMs = Math.min(Math.max(nowMs - known.removingSinceMs, 1000), Math.max(pollIntervalMs, 1000))
  return waitWith(
    session,
    { reason: 'Deleting', message: `${left.join(', ')}: its removal was asked for, and it is still there` },
    { afterMs },
  )
}

async function removeOne(session: ExternalSession, id: string): Promise<void> {
  try {
    await session.call('remove', (given) => session.environment.driver.remove(id, given))
  } catch (error) {
    if (!(error instanceof CallFailed && error.failure === 'absent')) throw error
  }
}

/** The thing stays; its marks say that nobody looks after it any more, where they can be written. */
async function orphan(session: ExternalSession, remembered: ResourceRecord): Promise<Reconciled> {
  const {
    environment: { driver, identity: marker },
    object,
    base: { log },
  } = session
  const found = await locate(session, remembered, { isCleanup: true })
  if (found.state === 'ours' && driver.setLabels)
    await session.call('mark', async (given) =>
      driver.setLabels?.(found.observation.id, makeOwnershipLabels(object, marker, { state: 'orphaned' }), given),
    )
  log.warn('let go of a thing outside', { system: driver.name, id: remembered.id, attempt: remembered.attempt?.key })
  return finish(session)
}

async function finish(session: ExternalSession): Promise<Reconciled> {
  await session.store.forget()
  session.environment.observations.forget(session.uid)
  reportNotSynced(session, { reason: 'Deleted', message: 'nothing of it is left' })
  return undefined
}
