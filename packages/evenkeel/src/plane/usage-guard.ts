/**
 * An admission hook that refuses to delete an object with Usages.
 *
 * It lists the Usages on each request instead of using a cache: a Usage protects its object as soon as its create request
 * was answered. An object that is already being deleted is not checked again. The code is loaded in the background, so
 * the server does not wait for it.
 */
import { forbidden, parseApiVersion } from '#api'
import type { Clock } from '#base'
import type { AdmissionHook } from '#server'
import type { Transport } from '#wire'
import type { Usages } from './usages.ts'

interface UsageGuard {
  readonly hook: AdmissionHook
  /** Starts the checks; before, every delete request is allowed. */
  begin(transport: Transport): void
}

/** How many users the error names. */
const namesMax = 5

export function usageGuard({ clock }: { clock: Clock }): UsageGuard {
  let loading: Promise<Usages> | undefined
  return {
    begin(transport) {
      loading = import('./usages.ts').then(({ Usages: Loaded }) => new Loaded({ transport, clock }))
    },
    hook: {
      name: 'usages.evenkeel.dev',
      rules: [
        { operations: ['DELETE'], resources: ['*'] },
        // A create request shows that the CRD is installed.
        { operations: ['CREATE'], apiGroups: ['evenkeel.dev'], resources: ['usages', 'clusterusages'] },
      ],
      async validate(object, { request: { operation, kind, apiVersion }, signal }) {
        const usages = await loading
        // From the object, because a deletecollection request has no name.
        const { name = '', namespace = '' } = object.metadata
        const { group } = parseApiVersion(apiVersion)
        if (operation !== 'DELETE') usages?.reset()
        if (
          !usages ||
          operation !== 'DELETE' ||
          group === 'evenkeel.dev' ||
          object.metadata.deletionTimestamp !== undefined
        )
          return undefined
        const users = await usages.usersOf({ group, kind, namespace, name }, { signal })
        if (users.length === 0) return undefined
        throw forbidden(
          { group, kind, name },
          `it is in use by ${users.slice(0, namesMax).join(', ')}${users.length > namesMax ? ' and others' : ''}`,
        )
      },
    },
  }
}
