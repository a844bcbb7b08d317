/**
 * `evenkeel/unstable/queue`: parts of the layer queue for tools of this repository. They may change with any release.
 */
export { Backoff, WorkQueue } from '#queue'
