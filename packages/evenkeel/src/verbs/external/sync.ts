/**
 * Brings the thing of an object to what the object says: look, compare, act, look again.
 *
 *   not there ──▶ make it          not as desired ──▶ change it, or say so
 *   not ours, or nobody knows ──▶ say so and ask; nothing is touched
 */
import type { Reconciled } from '#controller'
import type { Observation } from './driver.ts'
import { createResource, firstAttempt } from './lifecycle.ts'
import { choicesFor, classify, locate, resolutionOf, type LocateResult } from './locate.ts'
import { checkOwnership } from './ownership-labels.ts'
import { driftOf, type Drift } from './policy.ts'
import type { ResourceRecord } from './record.ts'
import type { ExternalSession } from './session.ts'
import {
  formatPaths,
  reportDrift,
  reportNotOwned,
  reportNotSynced,
  reportOwned,
  reportSynced,
  writeReport,
} from './status.ts'

export interface SyncResult {
  /** The thing, when it is there and ours. */
  readonly observation?: Observation<unknown>
  readonly isSynced: boolean
  readonly isReady: boolean
  readonly result: Reconciled
}

/** @throws {CallFailed} and whatever the server says */
export async function syncResource(session: ExternalSession): Promise<SyncResult> {
  await session.connect()
  const remembered = await session.readRecord()
  const found = await locate(session, remembered, { isCleanup: false })
  switch (found.state) {
    case 'absent':
      return recreate(session, remembered)
    case 'unsure':
      return waitFor(session, remembered, found.afterMs)
    case 'unknown':
      return askForResolution(session, remembered, found)
    case 'foreign':
      return refuse(session, remembered, found)
    case 'missing':
      return waitForResource(session, found.id)
    case 'adoptable':
      return adopt(session, remembered, found.observation)
    case 'ours':
      return converge(session, withId(remembered, found.observation.id), found)
  }
}

/** What was begun and is found has been made. */
function withId(remembered: ResourceRecord, id: string): ResourceRecord {
  const { attempt } = remembered
  const isOpen = attempt !== undefined && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted'
  return { ...remembered, id, ...(isOpen && { attempt: { ...attempt, outcome: 'Created' as const } }) }
}

function stopped(result: Reconciled): SyncResult {
  return { isSynced: false, isReady: false, result }
}

function waitFor(session: ExternalSession, remembered: ResourceRecord, afterMs: number): SyncResult {
  const { attempt } = remembered
  // A thing that was there a moment ago is looked for once more before anybody hears of it.
  if (attempt && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted') {
    reportNotSynced(session, {
      reason: 'Settling',
      message: 'it was begun to be made; until it is sure what came of that nothing is done',
    })
    writeReport(session, remembered, { isObserved: false })
  }
  return stopped({ afterMs })
}

/** Somebody named a thing to take over: another one would not be what was meant. */
function waitForResource(session: ExternalSession, id: string): SyncResult {
  reportNotSynced(session, { reason: 'AdoptionPending', message: `${id} is to be taken over, and is not there` })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}

function askForResolution(
  session: ExternalSession,
  remembered: ResourceRecord,
  { attempt }: Extract<LocateResult, { state: 'unknown' }>,
): SyncResult {
  const {
    object,
    environment: { driver },
  } = session
  const choices = choicesFor(object, attempt, { isCleanup: false })
  reportNotSynced(session, {
    reason: 'CreateOutcomeUnknown',
    message: `${driver.name} did not say whether it was made (attempt ${attempt.key}), and it cannot be found out: ${choices}`,
  })
  reportNotOwned(session, { reason: 'CreateOutcomeUnknown', message: choices })
  writeReport(session, remembered, { isObserved: false })
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
  session: ExternalSession,
  remembered: ResourceRecord,
  { observation, reason: why }: Extract<LocateResult, { state: 'foreign' }>,
): SyncResult {
  const {
    object,
    policy: { pollIntervalMs },
  } = session
  const [reason, sentence] = foreignReasons[why]
  const message = `${observation.id}: ${sentence}, so it is not touched; ${choicesFor(object, remembered.attempt, { isCleanup: false })}`
  reportNotOwned(session, { reason, message })
  reportNotSynced(session, { reason, message: `${observation.id}: ${sentence}` })
  writeReport(session, remembered, { isObserved: true })
  return stopped({ afterMs: pollIntervalMs })
}

async function adopt(
  session: ExternalSession,
  remembered: ResourceRecord,
  observation: Observation<unknown>,
): Promise<SyncResult> {
  const {
    store: memory,
    policy: { paused },
    environment: { driver },
    labels,
    base: { log },
  } = session
  if (paused) {
    reportNotSynced(session, { reason: 'Paused', message: `${observation.id} would be taken over` })
    return stopped({ afterMs: session.policy.pollIntervalMs })
  }
  const next: ResourceRecord = {
    id: observation.id,
    attempt: { ...(remembered.attempt ?? firstAttempt(session)), outcome: 'Adopted' },
  }
  await memory.write(next)
  log.info('took over a thing outside', { system: driver.name, id: observation.id })
  // Another object's marks on it would be believed; none at all is no harm.
  if (observation.labels !== undefined && driver.setLabels)
    await session.call('mark', async (given) => driver.setLabels?.(observation.id, labels, given))
  return converge(session, next, { observation, duplicates: [] })
}

async function recreate(session: ExternalSession, remembered: ResourceRecord): Promise<SyncResult> {
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
    reportNotSynced(session, { reason: why, message: 'it is not there, and is not made' })
    if (wasThere) reportDrift(session, drift === 'report' ? [''] : [], { reason: 'Missing' })
    writeReport(session, remembered, { isObserved: true })
    return stopped({ afterMs: pollIntervalMs })
  }
  const made = await createResource(session, remembered, { isAnswered })
  const observation = await session.observe(made.id ?? '')
  if (!observation) return notObservedYet(session, made)
  const found = classify(session, made, { observation, isAnswer: false })
  if (found.state === 'foreign') return refuse(session, made, found)
  return converge(session, made, { observation, duplicates: [], isBack: isDrift })
}

function notObservedYet(session: ExternalSession, made: ResourceRecord): SyncResult {
  reportOwned(session)
  reportNotSynced(session, { reason: 'Settling', message: 'it was made, and is not shown yet' })
  writeReport(session, made, { isObserved: false })
  return stopped({ afterMs: Math.max(session.windowMs, 1000) })
}

interface ConvergeOptions {
  readonly observation: Observation<unknown>
  readonly duplicates: readonly string[]
  /** It was gone, and has just been made again. @default false */
  readonly isBack?: boolean
}

async function converge(
  session: ExternalSession,
  remembered: ResourceRecord,
  { observation, duplicates, isBack = false }: ConvergeOptions,
): Promise<SyncResult> {
  const {
    environment: { observations: seen },
    uid,
    nowMs,
  } = session
  seen.of(uid).lastSeenMs = nowMs
  const left = await removeDuplicates(session, observation.id, duplicates)
  if (left.length > 0) return reportDuplicates(session, remembered, [observation.id, ...left])
  reportOwned(session)
  const drift = compare(session, observation)
  const isNewWish = remembered.observedGeneration !== session.generation
  const wanted = isNewWish ? [...drift.revert, ...drift.report].sort() : drift.revert
  const waitMs = isNewWish ? 0 : doubtMs(session, drift)
  // A single look may be old, and would be taken for a change of somebody else.
  if (waitMs > 0) return stopped({ afterMs: waitMs })
  if (wanted.length === 0)
    return finishSync(session, { remembered, observation, reported: isNewWish ? [] : drift.report, isReverted: isBack })
  return change(session, { remembered, observation, paths: wanted, isNewSpec: isNewWish })
}

/** How long until a difference is believed. */
function doubtMs(
  { environment: { observations: seen }, uid, nowMs, windowMs }: ExternalSession,
  { revert, report }: Drift,
): number {
  const known = seen.of(uid)
  if (revert.length === 0 && report.length === 0) delete known.driftSinceMs
  else known.driftSinceMs ??= nowMs
  return known.driftSinceMs === undefined ? 0 : windowMs - (nowMs - known.driftSinceMs)
}

function compare(
  { environment: { driver }, object, policy }: ExternalSession,
  { observed }: Observation<unknown>,
): Drift {
  return driftOf(driver.desired(object as never), observed, { driver, policy })
}

interface Change {
  readonly remembered: ResourceRecord
  readonly observation: Observation<unknown>
  readonly paths: readonly string[]
  readonly isNewSpec: boolean
}

async function change(
  session: ExternalSession,
  { remembered, observation, paths, isNewSpec: isNewWish }: Change,
): Promise<SyncResult> {
  const {
    policy: { paused, manage, pollIntervalMs },
    environment: { driver },
    object,
    labels,
    windowMs,
    base: { log },
  } = session
  reportDrift(session, isNewWish ? [] : paths)
  if (paused || !manage.includes('update')) {
    reportNotSynced(session, {
      reason: paused ? 'Paused' : 'UpdateNotAllowed',
      message: `not as desired, and not changed: ${formatPaths(paths)}`,
    })
    await session.store.note(remembered)
    writeReport(session, remembered, { isObserved: true, drift: { paths } })
    return { observation, ...stopped({ afterMs: pollIntervalMs }) }
  }
  await session.assertCurrent()
  await session.call('update', (given) =>
    driver.update(observation.id, driver.desired(object as never), {
      ...given,
      observed: observation.observed,
      paths,
      labels,
    }),
  )
  log.info('changed a thing outside', { system: driver.name, id: observation.id, paths: formatPaths(paths) })
  const after = await session.observe(observation.id)
  const left = after ? compare(session, after) : undefined
  if (after && left?.revert.length === 0)
    return finishSync(session, {
      remembered,
      observation: after,
      reported: isNewWish ? [] : left.report,
      isReverted: !isNewWish,
    })
  reportNotSynced(session, { reason: 'Settling', message: `changed, and not shown yet: ${formatPaths(paths)}` })
  await session.store.note(remembered)
  writeReport(session, remembered, { isObserved: true, drift: { paths } })
  return stopped({ afterMs: windowMs > 0 ? windowMs : pollIntervalMs })
}

interface SyncedFacts {
  readonly remembered: ResourceRecord
  readonly observation: Observation<unknown>
  readonly reported: readonly string[]
  readonly isReverted: boolean
}

async function finishSync(
  session: ExternalSession,
  { remembered, observation, reported, isReverted }: SyncedFacts,
): Promise<SyncResult> {
  const {
    environment: { driver, observations: seen },
    uid,
    generation,
    policy: { pollIntervalMs },
  } = session
  if (reported.length === 0) delete seen.of(uid).driftSinceMs
  const readiness = driver.ready?.(observation.observed) ?? true
  const isReady = typeof readiness === 'boolean' ? readiness : readiness.ready
  const next: ResourceRecord = { ...remembered, observedGeneration: generation }
  await session.store.note(next)
  reportDrift(session, reported)
  if (reported.length > 0)
    reportNotSynced(session, { reason: 'Drifted', message: `somebody changed it: ${formatPaths(reported)}` })
  else reportSynced(session, readiness)
  writeReport(session, next, { isObserved: true, drift: { paths: reported, isReverted } })
  // What a list shows need not be asked for one by one; what is not ready yet soon is, or is not.
  const result = isReady
    ? driver.list
      ? undefined
      : { afterMs: session.jittered(pollIntervalMs) }
    : { afterMs: Math.min(unreadyMs, pollIntervalMs) }
  return { observation, isSynced: reported.length === 0, isReady, result }
}

const unreadyMs = 5000

function reportDuplicates(session: ExternalSession, remembered: ResourceRecord, ids: readonly string[]): SyncResult {
  const words = {
    reason: 'Duplicate',
    message: `${ids.length} things say that they are of this object: ${ids.join(', ')}; none is touched. Remove the wrong one, or set duplicates to delete to keep ${ids[0] ?? ''}`,
  }
  reportNotOwned(session, words)
  reportNotSynced(session, words)
  writeReport(session, remembered, { isObserved: true })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}

/*
 * Several things that say they belong to one object: one of them is wrong, and marks alone do not say which.
 */

/** Removes the others where the policy says so. @returns those that are left */
async function removeDuplicates(
  session: ExternalSession,
  kept: string,
  duplicates: readonly string[],
): Promise<readonly string[]> {
  const {
    policy: { duplicates: onDuplicates, paused, manage },
    environment: { driver, observations: seen, identity: marker },
    uid,
  } = session
  const left: string[] = []
  for (const id of duplicates) {
    const duplicate = await session.observe(id)
    if (!duplicate || id === kept || checkOwnership(duplicate.labels, marker, uid) !== 'ours') continue
    if (onDuplicates !== 'delete' || paused || !manage.includes('delete')) {
      left.push(id)
      continue
    }
    await session.assertCurrent()
    await session.call('remove', (given) => driver.remove(id, given))
  }
  seen.of(uid).duplicates = left
  return left
}
