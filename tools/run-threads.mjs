/**
 * Makes worker threads run TypeScript from the sources as well, on Nodes that do not strip types themselves.
 *
 * tsx leaves threads alone when it is loaded by `--import`; a thread inherits that flag, so this is loaded in each.
 */
import { isMainThread } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

if (!isMainThread) register()
