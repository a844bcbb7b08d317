/**
 * Layer 2, the store: keys and byte values under one growing revision. It knows nothing of Kubernetes.
 */

export {
  ContentHash,
  isStoreError,
  StoreError,
  storeLimits,
  type StoreErrorReason,
  type Change,
  type Check,
  type CommitOptions,
  type CommitResult,
  type Entry,
  type GetResult,
  type HashResult,
  type Lease,
  type RangeOptions,
  type RangeResult,
  type ReadOptions,
  type UnavailableRevision,
  type Store,
  type StoreFailure,
  type Watch,
  type WatchBatch,
  type WatchEnd,
  type WatchOptions,
  type Write,
} from './store.ts'
export { openEtcdStore, openFileStore, openOnDisk, restoreBackup, saveBackup } from './engines.ts'
export type { EtcdStoreOptions } from './etcd/etcd-store.ts'
export type { RestoreOptions } from './file/backup.ts'
export { diskError, SimulatedDisk, type DiskCall, type SimulatedDiskOptions } from './file/simulated-disk.ts'
export type { Disk, DiskFile } from './file/disk.ts'
export type { DiskStoreOptions, FileStore, FileStoreOptions } from './file/file-store.ts'
export { openMemoryStore, type MemoryStoreOptions } from './memory.ts'
