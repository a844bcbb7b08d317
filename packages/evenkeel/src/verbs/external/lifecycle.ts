/**
 * Creation and deletion of an external resource.
 *
 * Create: write the attempt, make the create call, observe the result. After a crash at any point the next run finds the
 * open attempt in the record, see the example in `record.ts`.
 *
 * Delete: the resource is deleted before its object, and its absence is observed, not assumed. A resource whose ownership
 * is not proven is never deleted: the object waits, and a condition asks a person to decide.
 */
import { formatTime } from '#api'
import type { Reconciled } from '#controller'
import { choicesFor, locate, nameFor, resolutionOf, resourceIdOf, type LocateResult } from './locate.ts'
import { makeOwnershipLabels } from './ownership-labels.ts'
import type { CreateAttempt, ResourceRecord } from './record.ts'
import { CallFailed, type ExternalSession } from './session.ts'
import { reportNotSynced, writeReport } from './status.ts'

/** Creates the resource and returns the new record. @throws {CallFailed} */
export async function createResource(
  session: ExternalSession,
  record: ResourceRecord,
  { isAnswered }: { isAnswered: boolean },
): Promise<ResourceRecord> {
  const {
    store,
    environment: { driver, observations },
    base: { log },
    uid,
    labels,
  } = session
  const attempt = nextAttempt(session, record, isAnswered)
  const id = driver.capabilities.ids === 'deterministic' ? nameFor(session) : undefined
  const { desired } = session
  await beginAttempt(session, attempt, record)
  try {
    const answer = await session.call('create', (call) =>
      driver.create(desired, { ...call, id, labels, idempotencyKey: attempt.key }),
    )
    const created: ResourceRecord = { id: createdId(session, answer), attempt: { ...attempt, outcome: 'Created' } }
    observations.of(uid).created = { key: attempt.key, id: created.id ?? '' }
    await store.note(created)
    log.info('external resource created', { system: driver.name, id: created.id, attempt: attempt.number })
    if (driver.capabilities.labels === 'afterCreate')
      await session.call('setLabels', async (call) => await driver.setLabels?.(created.id ?? '', labels, call))
    return created
  } catch (error) {
    if (error instanceof CallFailed && error.operation === 'create') await noteFailure(session, attempt, error)
    throw error
  }
}

/** Makes the attempt durable, for the current state of the object. */
async function beginAttempt(
  session: ExternalSession,
  attempt: CreateAttempt,
  { attempt: last, id }: ResourceRecord,
): Promise<void> {
  const {
    store,
    environment: { observations },
    uid,
  } = session
  observations.attemptSeen(uid, attempt.key, session.nowMs)
  const known = observations.of(uid)
  const isWritten = last?.key === attempt.key && last.outcome === 'Pending' && id === undefined
  const isFirst = last?.key !== attempt.key || last.outcome === 'Refused' || known.refusedKey === attempt.key
  // Until the create call is made, the attempt counts as refused: it cannot have an effect.
  if (isFirst) known.refusedKey = attempt.key
  if (!isWritten) await store.write({ attempt })
  // A status write checks the resourceVersion of the object; a write to a backend does not.
  if (isWritten || store.isSeparate) await session.assertCurrent()
  delete known.refusedKey
}

/** Notes the outcome of a failed create call. A status is not written: the write would enqueue the object again at once. */
async function noteFailure(
  { store, environment: { observations, strategy }, uid }: ExternalSession,
  attempt: CreateAttempt,
  { failure }: CallFailed,
): Promise<void> {
  // With S1 a refusal may mean that the name is taken, perhaps by the resource of an earlier attempt.
  const isRefused = failure !== 'unknown' && !(failure === 'refused' && strategy === 'S1')
  if (isRefused) observations.of(uid).refusedKey = attempt.key
  else delete observations.of(uid).refusedKey
  if (store.isSeparate) await store.note({ attempt: { ...attempt, outcome: isRefused ? 'Refused' : 'Unknown' } })
}

/** The first create attempt of an object. */
export function firstAttempt(session: ExternalSession): CreateAttempt {
  return attemptOf(session, 1)
}

function attemptOf({ uid, base: { clock } }: ExternalSession, number: number): CreateAttempt {
  return { number, key: `${uid}-${number}`, time: formatTime(clock.now()), outcome: 'Pending' }
}

/** The current attempt again, or the next one if it has ended. */
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

/** @throws {CallFailed} if the driver returned no id: the resource could not be found again */
function createdId({ environment: { driver } }: ExternalSession, answer: unknown): string {
  const { id } = (answer ?? {}) as { readonly id?: unknown }
  if (typeof id === 'string' && id !== '') return id
  throw new CallFailed('create', new Error(`driver ${driver.name}: create returned no id`))
}

interface DeleteOptions {
  /** Orphan the resource if its state cannot be determined. */
  readonly isOrphaned: boolean
}

/** Deletes the resource. @returns undefined when it is gone; otherwise when to retry, or what it waits for */
export async function deleteResource(
  session: ExternalSession,
  { isOrphaned }: DeleteOptions = { isOrphaned: false },
): Promise<Reconciled> {
  const {
    policy: { deletion, manage, paused },
    object,
  } = session
  if (paused)
    return waitWith(
      session,
      { reason: 'Paused', message: 'the external resource is not deleted while paused' },
      { park: 'the end of the pause' },
    )
  await session.connect()
  const record = await session.readRecord({ live: true })
  const resolution = resolutionOf(object, record)?.type
  if (deletion === 'orphan' || !manage.includes('delete') || resolution === 'orphan')
    return await orphan(session, record)
  const found = await locate(session, record, { isCleanup: true })
  switch (found.state) {
    case 'unsure':
      return waitWith(
        session,
        { reason: 'Deleting', message: 'waiting for the outcome of the last create call before the object is deleted' },
        { afterMs: found.afterMs },
      )
    case 'unknown':
      return isOrphaned ? await orphan(session, record) : askForDecision(session, record)
    case 'absent':
      return await removeUnobserved(session, record)
    case 'ours':
      return await remove(session, record, [found.observation.id, ...duplicatesOf(session, found)])
    // A resource that a person assigned to the object is deleted with it; a mere candidate for adoption is not.
    case 'adoptable':
      return resolution === 'adopt' || record.id === found.observation.id
        ? await remove(session, record, [found.observation.id])
        : await finish(session)
    case 'foreign':
      return await leaveForeign(session, record, found)
    case 'missing':
      return await finish(session)
  }
}

function waitWith(
  session: ExternalSession,
  condition: { reason: string; message: string },
  result: Reconciled,
): Reconciled {
  reportNotSynced(session, condition)
  return result
}

function askForDecision(session: ExternalSession, { attempt, id }: ResourceRecord): Reconciled {
  const what =
    id === undefined
      ? `the outcome of create attempt ${attempt?.key ?? ''} is unknown`
      : `${id} does not have our ownership labels`
  return waitWith(
    session,
    {
      reason: id === undefined ? 'CreateOutcomeUnknown' : 'OwnershipLabelsMissing',
      message: `${what}, so nothing is deleted; ${choicesFor(session.object, attempt, { isCleanup: true })}`,
    },
    { park: 'a decision about the external resource (annotation external.evenkeel.dev/resolve)' },
  )
}

/** Leaves a resource of another owner alone. One that has only lost its labels may still be ours: asks. */
function leaveForeign(
  session: ExternalSession,
  record: ResourceRecord,
  { observation, reason }: Extract<LocateResult, { state: 'foreign' }>,
): Reconciled | Promise<Reconciled> {
  const isLost =
    record.id === observation.id && (reason === 'unlabelled' || reason === 'forged' || reason === 'unproven')
  return isLost ? askForDecision(session, record) : finish(session)
}

function duplicatesOf(
  { policy }: ExternalSession,
  { duplicates }: Extract<LocateResult, { state: 'ours' }>,
): readonly string[] {
  return policy.duplicates === 'delete' ? duplicates : []
}

/** Deletes a resource that was created but is not observed: the read may be outdated, and the delete call is idempotent. */
async function removeUnobserved(session: ExternalSession, record: ResourceRecord): Promise<Reconciled> {
  const {
    environment: { strategy, driver, observations },
    uid,
  } = session
  const { attempt, id } = record
  const wasTried = id !== undefined || (attempt !== undefined && attempt.outcome !== 'Refused')
  if (!wasTried) return await finish(session)
  if (strategy === 'S3' && id === undefined) return await removeByToken(session, record)
  const target =
    driver.identify && (driver.capabilities.labels ?? 'none') !== 'none' ? undefined : resourceIdOf(session, record)
  if (target === undefined || observations.of(uid).removedAtMs !== undefined) return await finish(session)
  return await remove(session, record, [target])
}

/** Cancels the create call by its token. Without `cancel`, only a repeated create call tells which resource to delete. */
async function removeByToken(session: ExternalSession, record: ResourceRecord): Promise<Reconciled> {
  const {
    object,
    environment: { driver },
  } = session
  if (driver.cancel && record.attempt) {
    const { key } = record.attempt
    await session.call('remove', async (call) => await driver.cancel?.(key, call))
    return await finish(session)
  }
  // Without the spec or a needed object the create call cannot be repeated.
  if ((object as { readonly spec?: unknown }).spec === undefined || !session.hasNeeds)
    return askForDecision(session, record)
  const created = await createResource(session, record, { isAnswered: false })
  return await remove(session, created, created.id === undefined ? [] : [created.id])
}

/** When a delete call is repeated for a resource that still exists. */
const removeAgainMs = 60_000

async function remove(session: ExternalSession, record: ResourceRecord, ids: readonly string[]): Promise<Reconciled> {
  const {
    environment: { driver, observations },
    uid,
    nowMs,
    store,
    policy: { pollIntervalMs },
    base: { log },
  } = session
  const known = observations.of(uid)
  known.removingSinceMs ??= nowMs
  if (known.removedAtMs === undefined || nowMs - known.removedAtMs >= removeAgainMs) {
    await store.note({ ...record, isDeleting: true })
    for (const id of ids) await removeOne(session, id)
    known.removedAtMs = nowMs
    log.info('external resource deletion requested', { system: driver.name, ids })
  }
  const left: string[] = []
  for (const id of ids) if (await session.observe(id)) left.push(id)
  if (left.length === 0) return await finish(session)
  writeReport(session, record, { isObserved: true })
  const afterMs = Math.min(Math.max(nowMs - known.removingSinceMs, 1000), Math.max(pollIntervalMs, 1000))
  return waitWith(
    session,
    { reason: 'Deleting', message: `deletion of ${left.join(', ')} is requested, and it still exists` },
    { afterMs },
  )
}

async function removeOne(session: ExternalSession, id: string): Promise<void> {
  try {
    await session.call('remove', (call) => session.environment.driver.remove(id, call))
  } catch (error) {
    if (!(error instanceof CallFailed && error.failure === 'absent')) throw error
  }
}

/** Keeps the resource, and sets its ownership labels to `orphaned` if the driver can. */
async function orphan(session: ExternalSession, record: ResourceRecord): Promise<Reconciled> {
  const {
    environment: { driver, identity },
    object,
    base: { log },
  } = session
  const found = await locate(session, record, { isCleanup: true })
  if (found.state === 'ours' && driver.setLabels)
    await session.call(
      'setLabels',
      async (call) =>
        await driver.setLabels?.(
          found.observation.id,
          makeOwnershipLabels(object, identity, { state: 'orphaned' }),
          call,
        ),
    )
  log.warn('external resource orphaned', { system: driver.name, id: record.id, attempt: record.attempt?.key })
  return await finish(session)
}

async function finish(session: ExternalSession): Promise<Reconciled> {
  await session.store.forget()
  session.environment.observations.forget(session.uid)
  reportNotSynced(session, { reason: 'Deleted', message: 'the external resource is gone' })
  return undefined
}
