/**
 * Makes worker threads run TypeScript from the sources, on versions of Node that do not strip types themselves.
 *
 * tsx does not affect threads when it is loaded by `--import`; a thread inherits that flag, so this is loaded in each.
 */
import { isMainThread } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

if (!isMainThread) register()
