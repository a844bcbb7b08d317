/**
 * Layer 2: which keys need work, who works on them, and when they go again. Keys are text; no word of Kubernetes.
 */

export { Backoff, type BackoffOptions } from './backoff.ts'
export type { WorkItem } from './ready-queue.ts'
export { requeue, ParkedKeys, type Outcome, type RequeueDecision } from './outcome.ts'
export { WorkQueue } from './work-queue.ts'
export { processQueue, runWorkers, type WorkResult } from './workers.ts'
