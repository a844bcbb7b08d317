/**
 * Syncs the external resource of an object: locate, compare, act, observe again.
 *
 *   absent ──▶ create          differs ──▶ update, or report drift
 *   ownership or outcome unknown ──▶ report and ask a person; nothing is touched
 *
 * Duplicates are resources whose labels name the same object. Labels alone do not tell which of them is right, so they
 * are deleted only if the policy says so.
 */
import type { Reconciled } from '#controller'
import type { Observation } from './driver.ts'
import { createResource, firstAttempt } from './lifecycle.ts'
import { choicesFor, classify, locate, resolutionOf, type LocateResult } from './locate.ts'
import { versionsOf } from './needs.ts'
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
  /** The resource, if it exists and is ours. */
  readonly observation?: Observation<unknown>
  readonly isSynced: boolean
  readonly isReady: boolean
  readonly result: Reconciled
}

/** @throws {CallFailed} @throws {ApiError} */
export async function syncResource(session: ExternalSession): Promise<SyncResult> {
  await session.connect()
  const record = await session.readRecord()
  const found = await locate(session, record, { isCleanup: false })
  switch (found.state) {
    case 'absent':
      return await createIfAllowed(session, record)
    case 'unsure':
      return waitFor(session, record, found.afterMs)
    case 'unknown':
      return askForResolution(session, record, found)
    case 'foreign':
      return refuse(session, record, found)
    case 'missing':
      return waitForResource(session, found.id)
    case 'adoptable':
      return await adopt(session, record, found.observation)
    case 'ours':
      return await converge(session, withId(record, found.observation.id), found)
  }
}

/** The record with the id; an open attempt whose resource was found is Created. */
function withId(record: ResourceRecord, id: string): ResourceRecord {
  const { attempt } = record
  const isOpen = attempt !== undefined && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted'
  return { ...record, id, ...(isOpen && { attempt: { ...attempt, outcome: 'Created' as const } }) }
}

function stopped(result: Reconciled): SyncResult {
  return { isSynced: false, isReady: false, result }
}

function waitFor(session: ExternalSession, record: ResourceRecord, afterMs: number): SyncResult {
  const { attempt } = record
  // A resource that was observed before is observed once more before its absence is reported.
  if (attempt && attempt.outcome !== 'Created' && attempt.outcome !== 'Adopted') {
    reportNotSynced(session, {
      reason: 'Settling',
      message: 'waiting for the outcome of the last create call',
    })
    writeReport(session, record, { isObserved: false })
  }
  return stopped({ afterMs })
}

/** The annotation names a resource to adopt, and it does not exist: creating another one would not be what was meant. */
function waitForResource(session: ExternalSession, id: string): SyncResult {
  reportNotSynced(session, { reason: 'AdoptionPending', message: `cannot adopt ${id}: it does not exist` })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}

function askForResolution(
  session: ExternalSession,
  record: ResourceRecord,
  { attempt }: Extract<LocateResult, { state: 'unknown' }>,
): SyncResult {
  const {
    object,
    environment: { driver },
  } = session
  const choices = choicesFor(object, attempt, { isCleanup: false })
  reportNotSynced(session, {
    reason: 'CreateOutcomeUnknown',
    message: `${driver.name} did not confirm create attempt ${attempt.key}, and its outcome cannot be determined; ${choices}`,
  })
  reportNotOwned(session, { reason: 'CreateOutcomeUnknown', message: choices })
  writeReport(session, record, { isObserved: false })
  return stopped({ park: 'a decision about the create attempt (annotation external.evenkeel.dev/resolve)' })
}

const foreignReasons = {
  unlabelled: ['OwnershipLabelsMissing', 'it does not have our ownership labels'],
  otherInstance: ['OwnedByOther', 'it belongs to another installation'],
  otherKind: ['OwnedByOther', 'it belongs to an object of another kind'],
  otherObject: ['OwnedByOther', 'it belongs to another object'],
  orphaned: ['Orphaned', 'it was orphaned by a deleted object'],
  forged: ['OwnershipLabelsForged', 'the seal of its ownership labels is invalid'],
  unproven: ['Unproven', 'there is no proof that we created it'],
  ours: ['Owned', ''],
} as const

function refuse(
  session: ExternalSession,
  record: ResourceRecord,
  { observation, reason: ownership }: Extract<LocateResult, { state: 'foreign' }>,
): SyncResult {
  const {
    object,
    policy: { pollIntervalMs },
  } = session
  const [reason, sentence] = foreignReasons[ownership]
  const message = `${observation.id}: ${sentence}, so it is not touched; ${choicesFor(object, record.attempt, { isCleanup: false })}`
  reportNotOwned(session, { reason, message })
  reportNotSynced(session, { reason, message: `${observation.id}: ${sentence}` })
  writeReport(session, record, { isObserved: true })
  return stopped({ afterMs: pollIntervalMs })
}

async function adopt(
  session: ExternalSession,
  record: ResourceRecord,
  observation: Observation<unknown>,
): Promise<SyncResult> {
  const {
    store,
    policy: { paused },
    environment: { driver },
    labels,
    base: { log },
  } = session
  if (paused) {
    reportNotSynced(session, { reason: 'Paused', message: `${observation.id} would be adopted` })
    return stopped({ afterMs: session.policy.pollIntervalMs })
  }
  const next: ResourceRecord = {
    id: observation.id,
    attempt: { ...(record.attempt ?? firstAttempt(session)), outcome: 'Adopted' },
  }
  await store.write(next)
  log.info('external resource adopted', { system: driver.name, id: observation.id })
  // Labels of another object would be trusted later, so they are replaced. Missing labels do no harm.
  if (observation.labels !== undefined && driver.setLabels)
    await session.call('setLabels', async (call) => await driver.setLabels?.(observation.id, labels, call))
  return await converge(session, next, { observation, duplicates: [] })
}

async function createIfAllowed(session: ExternalSession, record: ResourceRecord): Promise<SyncResult> {
  const {
    object,
    policy: { paused, manage, drift, pollIntervalMs },
  } = session
  const isAnswered = resolutionOf(object, record)?.type === 'recreate'
  const hadResource = record.observedGeneration !== undefined && !isAnswered
  const isDrift = hadResource && session.wasSynced(record)
  const reason = paused
    ? 'Paused'
    : !manage.includes('create')
      ? 'CreateNotAllowed'
      : isDrift && drift !== 'revert'
        ? 'Missing'
        : undefined
  if (reason !== undefined) {
    reportNotSynced(session, { reason, message: 'the external resource does not exist, and is not created' })
    if (hadResource) reportDrift(session, drift === 'report' ? [''] : [], { reason: 'Missing' })
    writeReport(session, record, { isObserved: true })
    return stopped({ afterMs: pollIntervalMs })
  }
  const created = await createResource(session, record, { isAnswered })
  const observation = await session.observe(created.id ?? '')
  if (!observation) return notObservedYet(session, created)
  const found = classify(session, created, { observation, isAnswer: false })
  if (found.state === 'foreign') return refuse(session, created, found)
  return await converge(session, created, { observation, duplicates: [], isRecreated: isDrift })
}

function notObservedYet(session: ExternalSession, created: ResourceRecord): SyncResult {
  reportOwned(session)
  reportNotSynced(session, { reason: 'Settling', message: 'created, and not observed yet' })
  writeReport(session, created, { isObserved: false })
  return stopped({ afterMs: Math.max(session.windowMs, 1000) })
}

interface ConvergeOptions {
  readonly observation: Observation<unknown>
  readonly duplicates: readonly string[]
  /** It was missing, and this run created it again. @default false */
  readonly isRecreated?: boolean
}

async function converge(
  session: ExternalSession,
  record: ResourceRecord,
  { observation, duplicates, isRecreated = false }: ConvergeOptions,
): Promise<SyncResult> {
  const {
    environment: { observations },
    uid,
    nowMs,
  } = session
  observations.of(uid).lastSeenMs = nowMs
  const left = await removeDuplicates(session, observation.id, duplicates)
  if (left.length > 0) return reportDuplicates(session, record, [observation.id, ...left])
  reportOwned(session)
  const drift = compare(session, observation)
  // A change of the spec or of a needed object is ours, and always carried out.
  const isNewSpec = !session.wasSynced(record)
  const paths = isNewSpec ? [...drift.revert, ...drift.report].sort() : drift.revert
  const waitMs = isNewSpec ? 0 : confirmDriftMs(session, drift)
  // A single observation may be outdated, and would look like a change by someone else.
  if (waitMs > 0) return stopped({ afterMs: waitMs })
  if (paths.length === 0)
    return await finishSync(session, {
      record,
      observation,
      reported: isNewSpec ? [] : drift.report,
      isReverted: isRecreated,
    })
  return await change(session, { record, observation, paths, isNewSpec })
}

/** How long a difference must persist before it counts. */
function confirmDriftMs(
  { environment: { observations }, uid, nowMs, windowMs }: ExternalSession,
  { revert, report }: Drift,
): number {
  const known = observations.of(uid)
  if (revert.length === 0 && report.length === 0) delete known.driftSinceMs
  else known.driftSinceMs ??= nowMs
  return known.driftSinceMs === undefined ? 0 : windowMs - (nowMs - known.driftSinceMs)
}

function compare(session: ExternalSession, { observed }: Observation<unknown>): Drift {
  const {
    environment: { driver },
    policy,
  } = session
  return driftOf(session.desired, observed, { driver, policy })
}

interface Change {
  readonly record: ResourceRecord
  readonly observation: Observation<unknown>
  readonly paths: readonly string[]
  readonly isNewSpec: boolean
}

async function change(
  session: ExternalSession,
  { record, observation, paths, isNewSpec }: Change,
): Promise<SyncResult> {
  const {
    policy: { paused, manage, pollIntervalMs },
    environment: { driver },
    labels,
    windowMs,
    base: { log },
  } = session
  reportDrift(session, isNewSpec ? [] : paths)
  if (paused || !manage.includes('update')) {
    reportNotSynced(session, {
      reason: paused ? 'Paused' : 'UpdateNotAllowed',
      message: `differs from the desired state, and is not updated: ${formatPaths(paths)}`,
    })
    await session.store.note(record)
    writeReport(session, record, { isObserved: true, drift: { paths } })
    return { observation, ...stopped({ afterMs: pollIntervalMs }) }
  }
  await session.assertCurrent()
  await session.call('update', (call) =>
    driver.update(observation.id, session.desired, {
      ...call,
      observed: observation.observed,
      paths,
      labels,
    }),
  )
  log.info('external resource updated', { system: driver.name, id: observation.id, paths: formatPaths(paths) })
  const after = await session.observe(observation.id)
  const left = after ? compare(session, after) : undefined
  if (after && left?.revert.length === 0)
    return await finishSync(session, {
      record,
      observation: after,
      reported: isNewSpec ? [] : left.report,
      isReverted: !isNewSpec,
    })
  reportNotSynced(session, { reason: 'Settling', message: `updated, and not observed yet: ${formatPaths(paths)}` })
  await session.store.note(record)
  writeReport(session, record, { isObserved: true, drift: { paths } })
  return stopped({ afterMs: windowMs > 0 ? windowMs : pollIntervalMs })
}

interface SyncedResource {
  readonly record: ResourceRecord
  readonly observation: Observation<unknown>
  readonly reported: readonly string[]
  readonly isReverted: boolean
}

async function finishSync(
  session: ExternalSession,
  { record, observation, reported, isReverted }: SyncedResource,
): Promise<SyncResult> {
  const {
    environment: { driver, observations },
    uid,
    generation,
    policy: { pollIntervalMs },
  } = session
  if (reported.length === 0) delete observations.of(uid).driftSinceMs
  const readiness = driver.ready?.(observation.observed) ?? true
  const isReady = typeof readiness === 'boolean' ? readiness : readiness.ready
  const next: ResourceRecord = { ...record, observedGeneration: generation, needs: versionsOf(session.needs) }
  await session.store.note(next)
  reportDrift(session, reported)
  if (reported.length > 0)
    reportNotSynced(session, {
      reason: 'Drifted',
      message: `changed outside of this controller: ${formatPaths(reported)}`,
    })
  else reportSynced(session, readiness)
  writeReport(session, next, { isObserved: true, drift: { paths: reported, isReverted } })
  // A sweep observes ready resources, if the driver has a list. Others are polled.
  const result = isReady
    ? driver.list
      ? undefined
      : { afterMs: session.jittered(pollIntervalMs) }
    : { afterMs: Math.min(unreadyMs, pollIntervalMs) }
  return { observation, isSynced: reported.length === 0, isReady, result }
}

/** Poll interval of a resource that is not ready. */
const unreadyMs = 5000

function reportDuplicates(session: ExternalSession, record: ResourceRecord, ids: readonly string[]): SyncResult {
  const condition = {
    reason: 'Duplicate',
    message: `${ids.length} external resources have the ownership labels of this object: ${ids.join(', ')}; none is touched. Delete the wrong one, or set the policy duplicates to delete to keep ${ids[0] ?? ''}`,
  }
  reportNotOwned(session, condition)
  reportNotSynced(session, condition)
  writeReport(session, record, { isObserved: true })
  return stopped({ afterMs: session.policy.pollIntervalMs })
}

/** Deletes duplicates if the policy says so. @returns those that are left */
async function removeDuplicates(
  session: ExternalSession,
  kept: string,
  duplicates: readonly string[],
): Promise<readonly string[]> {
  const {
    policy: { duplicates: onDuplicates, paused, manage },
    environment: { driver, observations, identity },
    uid,
  } = session
  const left: string[] = []
  for (const id of duplicates) {
    const duplicate = await session.observe(id)
    if (!duplicate || id === kept || checkOwnership(duplicate.labels, identity, uid) !== 'ours') continue
    if (onDuplicates !== 'delete' || paused || !manage.includes('delete')) {
      left.push(id)
      continue
    }
    await session.assertCurrent()
    await session.call('remove', (call) => driver.remove(id, call))
  }
  observations.of(uid).duplicates = left
  return left
}
