/**
 * The thread of large writes. See large-writes.ts.
 */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#base'
import type { WorkerStart } from './large-write-thread.ts'
import { serveReplica } from './serve-replica.ts'

assert(parentPort, 'large-write-worker must run as a worker thread')
// On Linux a thread has a priority of its own: when all cores are busy, other requests go first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

await serveReplica(parentPort, workerData as WorkerStart)
