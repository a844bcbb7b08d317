/**
 * Layer 2: which keys need work, who works on them, and when they go again. Keys are text; no word of Kubernetes.
 */
export { Backoff } from './backoff.ts'
export type { BackoffOptions } from './backoff.ts'
export type { KeyState, WorkItem } from './entry.ts'
export { requeue } from './outcome.ts'
export type { Outcome, RequeueDecision, RequeueOptions } from './outcome.ts'
export { ParkedKeys } from './parked-keys.ts'
export type { ParkedKey } from './parked-keys.ts'
export type { AgeingOptions } from './ready-keys.ts'
export { TokenBucket } from './token-bucket.ts'
export type { TokenBucketOptions } from './token-bucket.ts'
export { WorkQueue } from './work-queue.ts'
export type { AddOptions, WorkQueueOptions } from './work-queue.ts'
export { runWorkers } from './workers.ts'
export type { Work, WorkResult, WorkersOptions } from './workers.ts'
