/**
 * Layer 7: a whole control plane: server, controllers and everything around them, put together.
 */
export { startEmbedded } from './embedded.ts'
export type { Embedded, EmbeddedOptions } from './embedded.ts'
export { explain } from './explain.ts'
export { run } from './run.ts'
export type { RunProcess, RunProgramOptions } from './run.ts'
export { runControllers } from './run-controllers.ts'
export type { Ready, RunOptions } from './run-controllers.ts'
