/**
 * Layer 2: which keys need work, who works on them, and when they go again. Keys are text; no word of Kubernetes.
 */

export { Backoff, TokenBucket, type BackoffOptions, type TokenBucketOptions } from './backoff.ts'
export type { KeyState, WorkItem, AgeingOptions } from './ready-queue.ts'
export {
  requeue,
  ParkedKeys,
  type Outcome,
  type RequeueDecision,
  type RequeueOptions,
  type ParkedKey,
} from './outcome.ts'
export { WorkQueue, type AddOptions, type WorkQueueOptions } from './work-queue.ts'
export {
  processQueue,
  runWorkers,
  type ProcessQueueOptions,
  type Work,
  type WorkResult,
  type WorkersOptions,
} from './workers.ts'
