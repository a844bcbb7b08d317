/**
 * The status of an object about its external resource: `status.external`, and the conditions Synced, Ready, Owned, Drifted.
 *
 * The time of the last observation alone is not worth a write. It is written with other changes, or before it is older
 * than `maxAgeMs`.
 *
 * Errors: an API error of our own writes passes through to the work queue. A failed driver call becomes a condition, and
 * a back-off.
 */
import { deepEqual, formatTime, parseTime, type ExternalReport, type JsonObject } from '#api'
import type { Reconciled } from '#controller'
import { isProviderUnavailable, messageOf, retryAfterOf, type ExternalReadiness } from './driver.ts'
import { PolicyError } from './policy.ts'
import { externalStatusOf, type ResourceRecord } from './record.ts'
import { CallFailed, type DriverOperation, type ExternalSession } from './session.ts'

interface ConditionText {
  readonly reason: string
  readonly message: string
}

/** How many paths of a drift are reported. */
const pathsMax = 20

export function reportOwned({ conditions, environment: { strategy } }: ExternalSession): void {
  conditions.set('Owned', { isTrue: true, reason: ownedReasons[strategy], message: '' })
}

const ownedReasons = { S1: 'Named', S2: 'Labelled', S3: 'Token', S4: 'Tracked', S5: 'Checkpoint' } as const

export function reportNotOwned({ conditions }: ExternalSession, text: ConditionText): void {
  conditions.set('Owned', { isTrue: false, ...text })
}

/** Sets Synced to False, and with it Ready. */
export function reportNotSynced({ conditions }: ExternalSession, text: ConditionText): void {
  conditions.set('Synced', { isTrue: false, ...text })
  conditions.set('Ready', { isTrue: false, ...text })
}

export function reportSynced({ conditions }: ExternalSession, readiness: ExternalReadiness): void {
  const {
    ready,
    reason = ready ? 'Ready' : 'NotReady',
    message = '',
  }: Exclude<ExternalReadiness, boolean> = typeof readiness === 'boolean' ? { ready: readiness } : readiness
  conditions.set('Synced', { isTrue: true, reason: 'Synced', message: '' })
  conditions.set('Ready', { isTrue: ready, reason, message })
}

export function reportDrift(
  { conditions }: ExternalSession,
  paths: readonly string[],
  { reason = 'Drifted' }: { reason?: string } = {},
): void {
  conditions.set(
    'Drifted',
    paths.length === 0
      ? { isTrue: false, reason: 'AsDesired', message: '' }
      : { isTrue: true, reason, message: formatPaths(paths) },
  )
}

const conditionOrder = ['Synced', 'Ready', 'Owned', 'Drifted'] as const

/** Writes the conditions in a fixed order, so that the same state gives the same list. */
export function setConditions({ conditions, status, environment: { kind } }: ExternalSession): void {
  if (!status || !kind.subresources.status) return
  for (const type of conditionOrder) {
    const condition = conditions.get(type)
    if (condition) status.condition(type, condition.isTrue, { reason: condition.reason, message: condition.message })
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

interface ReportOptions {
  readonly drift?: { readonly paths: readonly string[]; readonly isReverted?: boolean }
  /** Whether this run has observed the resource. */
  readonly isObserved: boolean
}

/** Writes `status.external`. */
export function writeReport(
  session: ExternalSession,
  record: ResourceRecord,
  { drift, isObserved }: ReportOptions,
): void {
  const {
    status,
    environment: {
      hasStatus,
      strategy,
      settings: { maxAgeMs },
      driver,
    },
    base: { clock },
    object,
  } = session
  if (!status || !hasStatus) return
  const old = externalStatusOf(object)
  const now = formatTime(clock.now())
  const { id, attempt, observedGeneration, needs } = record
  const lastRevertedTime = drift?.isReverted ? now : old.drift?.lastRevertedTime
  const hasDrift = (drift?.paths.length ?? 0) > 0 || lastRevertedTime !== undefined
  const next: ExternalReport = {
    ...(id !== undefined && { id }),
    strategy,
    ...(attempt && { lastCreateAttempt: attempt }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(needs && { needs }),
    ...(hasDrift && {
      drift: {
        ...(drift && drift.paths.length > 0 && { paths: drift.paths.slice(0, pathsMax), count: drift.paths.length }),
        ...(lastRevertedTime !== undefined && { lastRevertedTime }),
      },
    }),
  }
  const { lastObservedTime: oldTime, ...rest } = old
  const isOld = clock.now() - (parseTime(oldTime ?? '') ?? -Infinity) >= maxAgeMs - session.policy.pollIntervalMs
  const lastObservedTime = isObserved && (isOld || !deepEqual(rest, next)) ? now : oldTime
  status.set({
    external: { ...next, ...(lastObservedTime !== undefined && { lastObservedTime }) },
  } as object as Partial<JsonObject>)
  if (old.strategy !== undefined && old.strategy !== strategy)
    session.base.log.warn('ownership strategy changed', {
      system: driver.name,
      from: old.strategy,
      to: strategy,
    })
}

/** Reports a failed observation, unless the last successful one is recent. */
function reportUnobserved(session: ExternalSession, { reason, error }: { reason: string; error: unknown }): void {
  const {
    environment: { observations, driver },
    uid,
    nowMs,
    policy: { pollIntervalMs },
    object,
  } = session
  const { lastSeenMs } = observations.of(uid)
  if (lastSeenMs !== undefined && nowMs - lastSeenMs <= 2 * pollIntervalMs) return
  const { lastObservedTime } = externalStatusOf(object)
  const since = lastObservedTime === undefined ? 'never observed' : `last observed at ${lastObservedTime} or later`
  reportNotSynced(session, {
    reason,
    message: `cannot observe the resource in ${driver.name} (${since}): ${messageOf(error)}`,
  })
}

const observingOperations: ReadonlySet<DriverOperation> = new Set(['connect', 'observe', 'list'])

const reasons: Readonly<Record<DriverOperation, string>> = {
  connect: 'ConnectFailed',
  observe: 'ObserveFailed',
  list: 'ListFailed',
  create: 'CreateFailed',
  update: 'UpdateFailed',
  remove: 'RemoveFailed',
  setLabels: 'SetLabelsFailed',
}

/** Reports a failure. @returns when to retry @throws the error, if the work queue decides about the retry */
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
      message: `${error.message}; the external resource is not synced until this is fixed`,
    })
    return { park: 'a valid policy' }
  }
  const isDeleting = deletionTimestamp !== undefined
  if (isProviderUnavailable(error)) {
    if (isDeleting) reportNotSynced(session, { reason: 'Deleting', message: `deletion failed: ${error.message}` })
    else reportUnobserved(session, { reason: 'ProviderUnavailable', error })
    return { afterMs: session.jittered(error.retryAfterMs) }
  }
  if (!(error instanceof CallFailed)) throw error
  return await reportFailure(session, error, isDeleting)
}

async function reportFailure(session: ExternalSession, error: CallFailed, isDeleting: boolean): Promise<Reconciled> {
  const { operation, failure, cause } = error
  const reason = failure === 'throttled' ? 'Throttled' : reasons[operation]
  if (isDeleting) reportNotSynced(session, { reason: 'Deleting', message: `deletion failed: ${error.message}` })
  else if (observingOperations.has(operation)) reportUnobserved(session, { reason, error })
  else {
    reportNotSynced(session, { reason, message: error.message })
    writeReport(session, await session.readRecord(), { isObserved: false })
  }
  if (failure === 'throttled') return { afterMs: session.jittered(Math.max(retryAfterOf(cause) ?? 1000, 100)) }
  throw error
}
