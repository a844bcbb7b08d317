/**
 * The thread of large writes. See large-writes.ts.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#base'
import type { WorkerStart } from './large-write-thread.ts'
import { serveReplica } from './serve-replica.ts'

assert(parentPort, 'large-write-worker must run as a worker thread')
await serveReplica(parentPort, workerData as WorkerStart)
