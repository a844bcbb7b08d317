/**
 * The entry point of the etcd engine: loaded on the first call, because most servers never need the etcd client.
 */
import type { EtcdStoreOptions } from './etcd/etcd-store.ts'
import type { Store } from './store.ts'

/**
 * Opens a store in etcd. Resolves once etcd has answered.
 *
 * @throws {StoreError} `Unusable` when etcd does not answer or denies access.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const engine = await import('./etcd/etcd-store.ts')
  return engine.openEtcdStore(options)
}
