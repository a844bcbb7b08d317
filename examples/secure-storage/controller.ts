/**
 * The controller of SecureStorages: runs the phases as far as possible, reports the phase, and polls only where no event exists.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { SecureStorage } from './kinds.ts'
import type { Cloud } from './kinds.ts'
import { accountOf, goOn, report } from './phases.ts'

/** While the cloud works on something. */
const soonMs = 5_000
/** When all is done: another client may change the cloud. */
const driftMs = 300_000
/** A single failed call is not reported. */
const failuresQuietMax = 2

export function secureStorages(cloud: Cloud): ControllerDeclaration<typeof SecureStorage, ManagedContext> {
  return {
    for: SecureStorage,
    async reconcile(storage, context) {
      try {
        const reached = await goOn(storage, cloud)
        report(reached, context, accountOf(storage))
        return { afterMs: reached.stopped ? soonMs : driftMs }
      } catch (error) {
        if (context.attempt > failuresQuietMax)
          context.status.condition('Ready', undefined, {
            reason: 'CloudFailed',
            message: error instanceof Error ? error.message : String(error),
          })
        throw error
      }
    },
    // Reverse order; each step begins after the one before has succeeded.
    cleanup: [
      {
        finalizer: 'demo.example.com/encryption',
        async cleanup(storage) {
          const account = await cloud.findAccount(accountOf(storage))
          if (account?.state === 'Active' && account.encryptedWith !== undefined)
            await cloud.encryptAccount(accountOf(storage))
        },
      },
      {
        finalizer: 'demo.example.com/key-access',
        async cleanup(storage) {
          for (const { key } of await cloud.listGrants(accountOf(storage)))
            await cloud.deleteGrant(accountOf(storage), key)
        },
      },
      {
        finalizer: 'demo.example.com/account',
        async cleanup(storage) {
          const name = accountOf(storage)
          const account = await cloud.findAccount(name)
          if (account?.state === 'Active') await cloud.deleteAccount(name)
          // Reads the cloud: the account must really be gone.
          return account ? { afterMs: soonMs } : undefined
        },
      },
    ],
  }
}
