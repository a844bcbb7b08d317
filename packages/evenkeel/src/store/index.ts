/**
 * Layer 2, the store: keys and byte values under one growing revision. It knows nothing of Kubernetes.
 */

export {
  ContentHash,
  isStoreError,
  storeLimits,
  type StoreErrorReason,
  type Change,
  type Check,
  type CommitOptions,
  type CommitResult,
  type Entry,
  type Lease,
  type RangeOptions,
  type UnavailableRevision,
  type Store,
  type Watch,
  type WatchBatch,
  type WatchEnd,
  type Write,
} from './store.ts'
export { openEtcdStore } from './engines.ts'
export { restoreBackup, saveBackup } from './file/backup.ts'
export { checkFolderAccess } from './file/owner-lock.ts'
export { SimulatedDisk } from './file/simulated-disk.ts'
export type { Disk, DiskFile } from './file/disk.ts'
export { openFileStore, openOnDisk, type FileStore } from './file/file-store.ts'
export { openMemoryStore } from './memory.ts'
export { RemoteStore, reviveStoreError, storeFunctions } from './remote-store.ts'
