/**
 * Making a thing: first it is written down that it is about to be made, then it is made, then looked at.
 *
 * Whatever happens in between, whoever comes next reads that an attempt is open and knows where to look. The number of
 * an attempt goes up only when the one before is known to have ended, so a repeated attempt carries the same token.
 */
import { formatTime } from '#api'
import type { CreateAttempt, ResourceRecord } from '../memory/memory.ts'
import { nameFor } from './locate.ts'
import { CallFailed } from './session.ts'
import type { ExternalSession } from './session.ts'

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
    labels: marks,
  } = session
  const attempt = nextAttempt(session, remembered, isAnswered)
  const id = driver.capabilities.ids === 'deterministic' ? nameFor(session) : undefined
  const desired = driver.desired(object as never)
  await beginAttempt(session, attempt, remembered)
  try {
    const made = await session.call('create', (given) =>
      driver.create(desired, { ...given, id, labels: marks, idempotencyKey: attempt.key }),
    )
    const created: ResourceRecord = { id: idMade(session, made), attempt: { ...attempt, outcome: 'Created' } }
    seen.of(uid).made = { key: attempt.key, id: created.id ?? '' }
    await memory.note(created)
    log.info('made a thing outside', { system: driver.name, id: created.id, attempt: attempt.number })
    if (driver.capabilities.labels === 'afterCreate')
      await session.call('mark', async (given) => driver.setLabels?.(created.id ?? '', marks, given))
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
