/**
 * What is in use is not deleted: a hook of the server that looks for Usages of whatever is to go.
 *
 * The Usages themselves are asked, not a memory of them: who was told that a Usage is made can rely on it. What is on its
 * way out already is not held up again. The code that asks is loaded beside the server, which does not wait for it.
 */
import { forbidden, parseApiVersion } from '#api'
import type { Clock } from '#base'
import type { AdmissionHook } from '#server'
import type { Transport } from '#wire'
import type { Usages } from './usages.ts'

interface UsageGuard {
  readonly hook: AdmissionHook
  /** From now on it asks; before that there is nobody to ask. */
  begin(transport: Transport): void
}

/** More names help nobody. */
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
        // Whoever makes the first one shows that the kind is there.
        { operations: ['CREATE'], apiGroups: ['evenkeel.dev'], resources: ['usages', 'clusterusages'] },
      ],
      async validate(object, { request: { operation, kind, apiVersion }, signal }) {
        const usages = await loading
        // Not those of the request: whoever deletes a collection names nothing.
        const { name = '', namespace = '' } = object.metadata
        const { group } = parseApiVersion(apiVersion)
        if (operation !== 'DELETE') usages?.lookAgain()
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
