/**
 * Making a thing: first it is written down that it is about to be made, then it is made, then looked at.
 *
 * Whatever happens in between, whoever comes next reads that an attempt is open and knows where to look. The number of
 * an attempt goes up only when the one before is known to have ended, so a repeated attempt carries the same token.
 */
import { formatTime } from '#api'
import type { Reconciled } from '#controller'
import { choicesFor, locate, nameFor, resolutionOf, resourceIdOf, type LocateResult } from './locate.ts'
import { makeOwnershipLabels } from './ownership-labels.ts'
import type { CreateAttempt, ResourceRecord } from './record.ts'
import { CallFailed, type ExternalSession } from './session.ts'
import { reportNotSynced, writeReport } from './status.ts'

/** What is remembered once it is made. @throws {CallFailed} */
export async function createResource(
  session: ExternalSession,
  remembered: ResourceRecord,
  { isAnswered }: { isAnswered: boolean },
): Promise<ResourceRecord> {
  const {
    store: memory,
    environment: { driver, observations: seen },
    base: { log },
    uid,
    object,
    labels,
  } = session
  const attempt = nextAttempt(session, remembered, isAnswered)
  const id = driver.capabilities.ids === 'deterministic' ? nameFor(session) : undefined
  const desired = driver.desired(object as never)
  await beginAttempt(session, attempt, remembered)
  try {
    const made = await session.call('create', (given) =>
      driver.create(desired, { ...given, id, labels, idempotencyKey: attempt.key }),
    )
    const created: ResourceRecord = { id: idMade(session, made), attempt: { ...attempt, outcome: 'Created' } }
    seen.of(uid).made = { key: attempt.key, id: created.id ?? '' }
    await memory.note(created)
    log.info('made a thing outside', { system: driver.name, id: created.id, attempt: attempt.number })
    if (driver.capabilities.labels === 'afterCreate')
      await session.call('mark', async (given) => driver.setLabels?.(created.id ?? '', labels, given))
    return created
  } catch (error) {
    if (error instanceof CallFailed && error.operation === 'create') await noteFailure(session, attempt, error)
    throw error
  }
}

/** Makes it durable that a thing is about to be made, in the name of the object as it is now. */
async function beginAttempt(
  session: ExternalSession,
  attempt: CreateAttempt,
  { attempt: last, id }: ResourceRecord,
): Promise<void> {
  const {
    store: memory,
    environment: { observations: seen },
    uid,
  } = session
  seen.attemptSeen(uid, attempt.key, session.nowMs)
  const known = seen.of(uid)
  const isWritten = last?.key === attempt.key && last.outcome === 'Pending' && id === undefined
  const isFirst = last?.key !== attempt.key || last.outcome === 'Refused' || known.refusedKey === attempt.key
  // As long as nobody was asked, nothing can come of it.
  if (isFirst) known.refusedKey = attempt.key
  if (!isWritten) await memory.write({ attempt })
  // A status is written for the version that was seen; a record knows nothing of the object.
  if (isWritten || memory.isSeparate) await session.assertCurrent()
  delete known.refusedKey
}

/** In a status nothing is written: it would wake its own object, which would fail again at once. */
async function noteFailure(
  { store: memory, environment: { observations: seen, strategy }, uid }: ExternalSession,
  attempt: CreateAttempt,
  { failure }: CallFailed,
): Promise<void> {
  // That a name is taken says that something is there: perhaps what an attempt before has made.
  const isRefused = failure !== 'unknown' && !(failure === 'refused' && strategy === 'S1')
  if (isRefused) seen.of(uid).refusedKey = attempt.key
  else delete seen.of(uid).refusedKey
  if (memory.isSeparate) await memory.note({ attempt: { ...attempt, outcome: isRefused ? 'Refused' : 'Unknown' } })
}

/** What an attempt to have a thing begins with. */
export function firstAttempt(session: ExternalSession): CreateAttempt {
  return attemptOf(session, 1)
}

function attemptOf({ uid, base: { clock } }: ExternalSession, number: number): CreateAttempt {
  return { number, key: `${uid}-${number}`, time: formatTime(clock.now()), outcome: 'Pending' }
}

/** The same one again, unless it has ended. */
function nextAttempt(
  session: ExternalSession,
  { attempt, observedGeneration }: ResourceRecord,
  isAnswered: boolean,
): CreateAttempt {
  if (!attempt) return firstAttempt(session)
  const isOver =
    isAnswered || attempt.outcome === 'Adopted' || (attempt.outcome === 'Created' && observedGeneration !== undefined)
  return isOver ? attemptOf(session, attempt.number + 1) : { ...attempt, outcome: 'Pending' }
}

/** @throws {CallFailed} when the driver gives no id: whatever it made cannot be found again */
function idMade({ environment: { driver } }: ExternalSession, made: unknown): string {
  const { id } = (made ?? {}) as { readonly id?: unknown }
  if (typeof id === 'string' && id !== '') return id
  throw new CallFailed('create', new Error(`the driver ${driver.name} gave no id for what it made`))
}

/*
 * The way out: the thing goes before its object does, and that it is gone is seen, not assumed.
 *
 * Nothing is removed that cannot be proven to be ours; what cannot be decided waits for an answer, visibly.
 */

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
