/**
 * The plane layer: a complete control plane of server, controllers and leader election.
 */

export { startPlane, type Plane, type PlaneControllers, type PlaneOptions } from './plane.ts'
export { run, runControllers, type Ready, type RunOptions, type RunProcess, type RunProgramOptions } from './run.ts'
export { loadPlaneControllers, type LoadedControllers } from './plane-controllers.ts'
