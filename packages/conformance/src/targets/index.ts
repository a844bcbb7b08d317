/**
 * Every implementation of the store contract.
 */
import { etcdEngine } from './etcd.ts'
import { fileEngine, simulatedFileEngine } from './file.ts'
import { memoryEngine } from './memory.ts'
import { remoteEngine } from './remote.ts'
import type { StoreEngine } from './target.ts'

/** Memory first: it is the reference. */
export const storeEngines: readonly StoreEngine[] = [
  memoryEngine,
  remoteEngine,
  simulatedFileEngine,
  fileEngine,
  etcdEngine,
]
