/**
 * The engines that most programs do not use, loaded when one is opened: a server on memory or on files never pays for
 * the etcd client, and starting is mostly loading modules.
 */
import type { EtcdStoreOptions } from './etcd/etcd-store.ts'
import type { RestoreOptions } from './file/backup.ts'
import type { Disk } from './file/disk.ts'
import type { DiskStoreOptions, FileStore, FileStoreOptions } from './file/file-store.ts'
import type { Store } from './store.ts'

/**
 * Opens a store in etcd, once etcd has answered.
 *
 * @throws {StoreError} `Unusable` when it does not, or does not let us in.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const engine = await import('./etcd/etcd-store.ts')
  return engine.openEtcdStore(options)
}

/** Opens the store in a folder, which is made if it is not there. @throws StoreError that says what to do. */
export async function openFileStore(folder: string, options: FileStoreOptions = {}): Promise<FileStore> {
  const engine = await import('./file/file-store.ts')
  return engine.openFileStore(folder, options)
}

/** The same on any disk, also a simulated one. */
export async function openOnDisk(disk: Disk, options: DiskStoreOptions = {}): Promise<FileStore> {
  const engine = await import('./file/file-store.ts')
  return engine.openOnDisk(disk, options)
}

/** Writes everything in an open store into one new file, while the store goes on serving. */
export async function saveBackup(store: FileStore, file: string): Promise<{ bytes: number; revision: number }> {
  const engine = await import('./file/backup.ts')
  return engine.saveBackup(store, file)
}

/** Makes a store out of a backup, in a folder that is empty or not there. Gives the revision it starts from. */
export async function restoreBackup(
  file: string,
  folder: string,
  options: RestoreOptions = {},
): Promise<{ entries: number; revision: number }> {
  const engine = await import('./file/backup.ts')
  return engine.restoreBackup(file, folder, options)
}
