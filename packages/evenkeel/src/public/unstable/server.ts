/**
 * `evenkeel/unstable/server`: parts of the layer server for tools of this repository. They may change with any release.
 */
export { serveReplica, startServerWith, type StartWorker, type WorkerStart } from '#server'
