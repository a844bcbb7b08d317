/**
 * Entry points of the `file` and `etcd` engines. Each loads its engine on the first call, because loading modules
 * dominates the start-up time: a server on memory or files never loads the etcd client.
 */
import type { EtcdStoreOptions } from './etcd/etcd-store.ts'
import type { RestoreOptions } from './file/backup.ts'
import type { Disk } from './file/disk.ts'
import type { DiskStoreOptions, FileStore, FileStoreOptions } from './file/file-store.ts'
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

/** Opens the store in a folder, which is created if it does not exist. @throws StoreError that says what to do. */
export async function openFileStore(folder: string, options: FileStoreOptions = {}): Promise<FileStore> {
  const engine = await import('./file/file-store.ts')
  return engine.openFileStore(folder, options)
}

/** Opens a store on any disk, also a simulated one. */
export async function openOnDisk(disk: Disk, options: DiskStoreOptions = {}): Promise<FileStore> {
  const engine = await import('./file/file-store.ts')
  return engine.openOnDisk(disk, options)
}

/** Writes the contents of an open store to one new file. The store keeps serving. */
export async function saveBackup(store: FileStore, file: string): Promise<{ bytes: number; revision: number }> {
  const engine = await import('./file/backup.ts')
  return engine.saveBackup(store, file)
}

/** Restores a backup into a folder that is empty or does not exist. Returns the revision the store starts from. */
export async function restoreBackup(
  file: string,
  folder: string,
  options: RestoreOptions = {},
): Promise<{ entries: number; revision: number }> {
  const engine = await import('./file/backup.ts')
  return engine.restoreBackup(file, folder, options)
}
