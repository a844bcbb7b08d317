/**
 * The plane layer: a complete control plane of server, controllers and leader election.
 */

export { startPlane, type Plane, type PlaneOptions } from './plane.ts'
export { run, runControllers, type Ready, type RunOptions, type RunProgramOptions } from './run.ts'
export { loadPlaneControllers } from './plane-controllers.ts'
export { openDataPlane, type DataPlaneOptions } from './data-plane.ts'
