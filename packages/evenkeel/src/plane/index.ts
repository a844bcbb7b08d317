/**
 * Layer 7: a whole control plane: server, controllers and everything around them, put together.
 */

export { startPlane, type Plane, type PlaneControllers, type PlaneOptions } from './plane.ts'
export { run, runControllers, type Ready, type RunOptions, type RunProcess, type RunProgramOptions } from './run.ts'
export { loadPlaneControllers, type LoadedControllers } from './plane-controllers.ts'
export { openDataPlane, type DataPlane, type DataPlaneOptions } from './data-plane.ts'
