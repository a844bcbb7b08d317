/**
 * What is said about an object and its thing: `status.external`, and the conditions Synced, Ready, Owned and Drifted.
 *
 * The time of the last look alone is no news: it is written with other news, or when the old one is about to be older
 * than a status may be that says it is in sync.
 */
import { deepEqual, formatTime, parseTime, type ExternalReport, type JsonObject } from '#api'
import type { Reconciled } from '#controller'
import { isProviderUnavailable, messageOf, retryAfterOf, type ExternalReadiness } from './driver.ts'
import { PolicyError } from './policy.ts'
import { externalStatusOf, type ResourceRecord } from './record.ts'
import { CallFailed, type DriverOperation, type ExternalSession } from './session.ts'

interface ReportText {
  readonly reason: string
  readonly message: string
}

/** How many paths of a drift are told. */
const pathsMax = 20

export function reportOwned({ conditions: words, environment: { strategy } }: ExternalSession): void {
  words.set('Owned', { holds: true, reason: ownedReasons[strategy], message: '' })
}

const ownedReasons = { S1: 'Named', S2: 'Marked', S3: 'Token', S4: 'Tracked', S5: 'Checkpoint' } as const

export function reportNotOwned({ conditions: words }: ExternalSession, facts: ReportText): void {
  words.set('Owned', { holds: false, ...facts })
}

/** It is not as it should be, and so it cannot be ready. */
export function reportNotSynced({ conditions: words }: ExternalSession, facts: ReportText): void {
  words.set('Synced', { holds: false, ...facts })
  words.set('Ready', { holds: false, ...facts })
}

export function reportSynced({ conditions: words }: ExternalSession, readiness: ExternalReadiness): void {
  const {
    ready,
    reason = ready ? 'Ready' : 'NotReady',
    message = '',
  }: Exclude<ExternalReadiness, boolean> = typeof readiness === 'boolean' ? { ready: readiness } : readiness
  words.set('Synced', { holds: true, reason: 'Synced', message: '' })
  words.set('Ready', { holds: ready, reason, message })
}

export function reportDrift(
  { conditions: words }: ExternalSession,
  paths: readonly string[],
  { reason = 'Drifted' }: { reason?: string } = {},
): void {
  words.set(
    'Drifted',
    paths.length === 0
      ? { holds: false, reason: 'AsDesired', message: '' }
      : { holds: true, reason, message: formatPaths(paths) },
  )
}

const conditionOrder = ['Synced', 'Ready', 'Owned', 'Drifted'] as const

/** Says it all, in the same order whatever happened: the order of a list is part of it. */
export function setConditions({ conditions: words, status, environment: { kind } }: ExternalSession): void {
  if (!status || !kind.subresources.status) return
  for (const type of conditionOrder) {
    const said = words.get(type)
    if (said) status.condition(type, said.holds, { reason: said.reason, message: said.message })
  }
}

/** `color, size and 3 more` */
export function formatPaths(paths: readonly string[]): string {
  const first = paths
    .slice(0, pathsMax)
    .map((path) => path || 'everything')
    .join(', ')
  return paths.length > pathsMax ? `${first} and ${paths.length - pathsMax} more` : first
}

interface ReportFacts {
  readonly drift?: { readonly paths: readonly string[]; readonly isReverted?: boolean }
  /** Whether this run has seen the thing. */
  readonly isObserved: boolean
}

/** Writes down what is known of the thing. */
export function writeReport(
  session: ExternalSession,
  remembered: ResourceRecord,
  { drift, isObserved: isSeen }: ReportFacts,
): void {
  const {
    status,
    environment: {
      hasStatus: hasRoom,
      strategy,
      settings: { maxAgeMs },
      driver,
    },
    base: { clock },
    object,
  } = session
  if (!status || !hasRoom) return
  const old = externalStatusOf(object)
  const now = formatTime(clock.now())
  const { id, attempt, observedGeneration } = remembered
  const lastRevertedTime = drift?.isReverted ? now : old.drift?.lastRevertedTime
  const hasDrift = (drift?.paths.length ?? 0) > 0 || lastRevertedTime !== undefined
  const next: ExternalReport = {
    ...(id !== undefined && { id }),
    strategy,
    ...(attempt && { lastCreateAttempt: attempt }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(hasDrift && {
      drift: {
        ...(drift && drift.paths.length > 0 && { paths: drift.paths.slice(0, pathsMax), count: drift.paths.length }),
        ...(lastRevertedTime !== undefined && { lastRevertedTime }),
      },
    }),
  }
  const { lastObservedTime: oldTime, ...rest } = old
  const isOld = clock.now() - (parseTime(oldTime ?? '') ?? -Infinity) >= maxAgeMs - session.policy.pollIntervalMs
  const lastObservedTime = isSeen && (isOld || !deepEqual(rest, next)) ? now : oldTime
  status.set({
    external: { ...next, ...(lastObservedTime !== undefined && { lastObservedTime }) },
  } as unknown as Partial<JsonObject>)
  if (old.strategy !== undefined && old.strategy !== strategy)
    session.base.log.warn('the way things are known to be ours has changed', {
      system: driver.name,
      from: old.strategy,
      to: strategy,
    })
}

/** Says that looking failed; a status may keep saying what a look not long ago has shown. */
function reportUnobserved(session: ExternalSession, { reason, error }: { reason: string; error: unknown }): void {
  const {
    environment: { observations: seen, driver },
    uid,
    nowMs,
    policy: { pollIntervalMs },
    object,
  } = session
  const { lastSeenMs } = seen.of(uid)
  if (lastSeenMs !== undefined && nowMs - lastSeenMs <= 2 * pollIntervalMs) return
  const { lastObservedTime } = externalStatusOf(object)
  const since = lastObservedTime === undefined ? 'it was never looked at' : `last seen at ${lastObservedTime} or later`
  reportNotSynced(session, { reason, message: `${driver.name} cannot be asked (${since}): ${messageOf(error)}` })
}

/*
 * What follows when a look or a deed fails: what the status says, and when it is tried again.
 *
 * What the server says about our own writes passes through; the queue knows what to do about it. What the outside says
 * becomes words on the object.
 */

const observingOperations: ReadonlySet<DriverOperation> = new Set(['connect', 'observe', 'list'])

const reasons: Readonly<Record<DriverOperation, string>> = {
  connect: 'ConnectFailed',
  observe: 'ObserveFailed',
  list: 'ListFailed',
  create: 'CreateFailed',
  update: 'UpdateFailed',
  remove: 'RemoveFailed',
  mark: 'MarkFailed',
}

/** When to try again. @throws what is to be tried again as the queue sees fit */
export async function afterFailure(session: ExternalSession, error: unknown): Promise<Reconciled> {
  const {
    base: { signal },
    object: {
      metadata: { deletionTimestamp },
    },
  } = session
  if (signal.aborted) throw error
  if (error instanceof PolicyError) {
    reportNotSynced(session, {
      reason: 'InvalidPolicy',
      message: `${error.message}; nothing is done until that is put right`,
    })
    return { park: 'a policy that can be understood' }
  }
  const isDeleting = deletionTimestamp !== undefined
  if (isProviderUnavailable(error)) {
    const unseen = { reason: isDeleting ? 'Deleting' : 'ProviderUnavailable', error }
    if (isDeleting)
      reportNotSynced(session, { reason: unseen.reason, message: `it cannot be removed yet: ${error.message}` })
    else reportUnobserved(session, unseen)
    return { afterMs: session.jittered(error.retryAfterMs) }
  }
  if (!(error instanceof CallFailed)) throw error
  return reportFailure(session, error, isDeleting)
}

async function reportFailure(session: ExternalSession, error: CallFailed, isDeleting: boolean): Promise<Reconciled> {
  const { operation, failure, cause } = error
  const reason = failure === 'throttled' ? 'Throttled' : reasons[operation]
  if (isDeleting)
    reportNotSynced(session, { reason: 'Deleting', message: `it cannot be removed yet: ${error.message}` })
  else if (observingOperations.has(operation)) reportUnobserved(session, { reason, error })
  else {
    reportNotSynced(session, { reason, message: error.message })
    writeReport(session, await session.readRecord(), { isObserved: false })
  }
  if (failure === 'throttled') return { afterMs: session.jittered(Math.max(retryAfterOf(cause) ?? 1000, 100)) }
  throw error
}
