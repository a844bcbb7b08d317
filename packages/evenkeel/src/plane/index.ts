/**
 * Layer 7: a whole control plane: server, controllers and everything around them, put together.
 */
export { startPlane } from './plane.ts'
export type { Plane, PlaneControllers, PlaneOptions } from './plane.ts'
export { run, runControllers } from './run.ts'
export type { Ready, RunOptions, RunProcess, RunProgramOptions } from './run-options.ts'
export { loadPlaneControllers } from './controllers/load-controllers.ts'
export type { LoadedControllers } from './controllers/load-controllers.ts'
