/**
 * Layer 7: a whole control plane: server, controllers and everything around them, put together.
 */
export { run } from './run.ts'
export type { RunProcess, RunProgramOptions } from './run.ts'
export { runControllers } from './run-controllers.ts'
export type { Ready, RunOptions } from './run-controllers.ts'
