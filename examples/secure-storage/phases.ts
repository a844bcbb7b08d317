/**
 * The phase of a SecureStorage, computed from the state of the cloud: no phase is stored, so none can be wrong.
 *
 *   AccountReady ──▶ IdentityReady ──▶ KeyAccessGranted ──▶ Encrypted ──▶ Ready
 *
 * Every reconcile begins at the first phase; a finished phase costs one read.
 */
import type { ConditionFacts, ReconcileContext } from 'evenkeel/controller'
import type { Account, Cloud, SecureStorage, SecureStorageObject } from './kinds.ts'

export const phases = ['AccountReady', 'IdentityReady', 'KeyAccessGranted', 'Encrypted'] as const

type Phase = (typeof phases)[number]

/** The phase at which a reconcile stopped; `undefined` when all are done. */
export interface Stopped extends ConditionFacts {
  readonly at: Phase
  readonly reason: string
  readonly message: string
}

export interface Reached {
  readonly account?: Account | undefined
  readonly stopped?: Stopped
}

/** Runs the phases until one is not possible yet. */
export async function goOn(storage: SecureStorageObject, cloud: Cloud): Promise<Reached> {
  const {
    spec: { region, key },
  } = storage
  const name = accountOf(storage)
  const account = await ensureAccount(name, { region, cloud })
  if (account?.state !== 'Active')
    return {
      account,
      stopped: {
        at: 'AccountReady',
        reason: 'Deleting',
        message: 'the account is being deleted by another client; it is created again when it is gone',
      },
    }
  const { principalId } = account
  if (principalId === undefined)
    return {
      account,
      stopped: {
        at: 'IdentityReady',
        reason: 'Provisioning',
        message: 'the cloud has not assigned an identity to the account yet',
      },
    }
  const grants = await cloud.listGrants(name)
  if (!grants.some((grant) => grant.key === key && grant.principalId === principalId))
    await cloud.putGrant(name, { key, principalId })
  if (account.encryptedWith !== key) await cloud.encryptAccount(name, key)
  // Revokes an earlier key last: it was in use until here.
  for (const grant of grants.filter((one) => one.key !== key)) await cloud.deleteGrant(name, grant.key)
  return { account }
}

async function ensureAccount(
  name: string,
  { region, cloud }: { region: string; cloud: Cloud },
): Promise<Account | undefined> {
  const account = await cloud.findAccount(name)
  if (account) return account
  await cloud.createAccount(name, region)
  return cloud.findAccount(name)
}

/** The uid, not the name: a later object with the same name must not get this data. */
export function accountOf({ metadata: { uid } }: SecureStorageObject): string {
  return `storage-${uid}`
}

/** A condition per phase: True before the stop, waiting after it. */
export function report(
  { account, stopped }: Reached,
  { status }: Pick<ReconcileContext<typeof SecureStorage>, 'status'>,
  name: string,
): void {
  const reached = stopped ? phases.indexOf(stopped.at) : phases.length
  for (const [index, phase] of phases.entries()) {
    if (stopped && index === reached) status.condition(phase, false, stopped)
    else
      status.condition(
        phase,
        index < reached,
        index < reached ? {} : { reason: 'Waiting', message: `after ${phases[index - 1] ?? ''}` },
      )
  }
  status.set({ account: name, principalId: account?.principalId })
  status.condition('Ready', stopped === undefined, stopped ?? { reason: 'Encrypted' })
}
