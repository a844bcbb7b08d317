/**
 * What a client must tell for controllers to work: its writes, before and after, to the ledger and the cache.
 *
 * A client is made before the cache that reads through it, so the cache is asked for when it is needed.
 *
 * @example
 * const ledger = new Ledger()
 * const client = new Client({ transport, ...writeHooks({ ledger, cache: () => cache }) })
 * const cache = new ObjectCache({ client })
 */
import type { ObjectCache } from '#cache'
import type { WriteHooks } from '#client'
import { peek } from '../context/peek.ts'
import type { Ledger } from './ledger.ts'

export interface WriteHookParts {
  readonly ledger: Ledger
  readonly cache: () => ObjectCache | undefined
}

export function writeHooks({ ledger, cache }: WriteHookParts): Required<WriteHooks> {
  return {
    beforeWrite(write) {
      const { name, namespace } = write
      const known =
        write.reconcileId === undefined || name === undefined
          ? undefined
          : peek(cache(), write, { name, ...(namespace !== undefined && { namespace }) })
      ledger.beforeWrite(write, known?.metadata.resourceVersion)
    },
    afterWrite(write, object) {
      ledger.afterWrite(write, object)
      cache()?.afterWrite(write, object)
    },
  }
}
