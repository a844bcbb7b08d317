/**
 * Layer 2: where state lives. Keys and bytes under one growing revision; no word of Kubernetes.
 */
export { ContentHash } from './content-hash.ts'
export { openEtcdStore, openFileStore, openOnDisk, restoreBackup, saveBackup } from './engines.ts'
export type { EtcdStoreOptions } from './etcd/etcd-store.ts'
export type { RestoreOptions } from './file/backup.ts'
export { diskError, SimulatedDisk } from './file/disk/simulated-disk.ts'
export type { DiskCall, SimulatedDiskOptions } from './file/disk/simulated-disk.ts'
export type { Disk, DiskFile } from './file/disk/disk.ts'
export type { DiskStoreOptions, FileStore, FileStoreOptions } from './file/file-store.ts'
export { openMemoryStore } from './memory.ts'
export type { MemoryStoreOptions } from './memory.ts'
export { isStoreError, StoreError } from './store-error.ts'
export type { StoreErrorReason } from './store-error.ts'
export { storeLimits } from './store.ts'
export type {
  Change,
  Check,
  CommitOptions,
  CommitResult,
  Entry,
  GetResult,
  HashResult,
  Lease,
  RangeOptions,
  RangeResult,
  ReadOptions,
  UnavailableRevision,
  Store,
  StoreFailure,
  Watch,
  WatchBatch,
  WatchEnd,
  WatchOptions,
  Write,
} from './store.ts'
