/**
 * Layer 7: a whole control plane: server, controllers and everything around them, put together.
 */

export { startPlane, type Plane, type PlaneOptions } from './plane.ts'
export { run, runControllers, type Ready, type RunOptions, type RunProgramOptions } from './run.ts'
export { loadPlaneControllers } from './plane-controllers.ts'
export { openDataPlane, type DataPlaneOptions } from './data-plane.ts'
