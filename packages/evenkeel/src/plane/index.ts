/**
 * The plane layer: a complete control plane of server, controllers and leader election.
 */

export { startPlane, type Plane, type PlaneOptions } from './plane.ts'
export { run, runControllers, type Ready, type RunOptions, type RunProgramOptions } from './run.ts'
export { loadPlaneControllers } from './plane-controllers.ts'
export { manifestsOf } from './run-controllers.ts'
export { ManagerFile } from './manager-file.ts'
export { importProgram, type ImportProgramOptions, type LoadedProgram } from './program.ts'
export { openDataPlane, type DataPlaneOptions } from './data-plane.ts'
