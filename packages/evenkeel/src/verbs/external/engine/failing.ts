/**
 * What follows when a look or a deed fails: what the status says, and when it is tried again.
 *
 * What the server says about our own writes passes through; the queue knows what to do about it. What the outside says
 * becomes words on the object.
 */
import type { Reconciled } from '#controller'
import { isProviderUnavailable, retryAfterOf } from '../driver/failure.ts'
import { PolicyError } from '../policy/policy.ts'
import { reportNotSynced, reportUnobserved, writeReport } from './report.ts'
import { CallFailed } from './session.ts'
import type { DriverOperation, ExternalSession } from './session.ts'

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
