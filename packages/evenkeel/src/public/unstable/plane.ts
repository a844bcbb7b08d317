/**
 * `evenkeel/unstable/plane`: parts of the layer plane for tools of this repository. They may change with any release.
 */
export { importProgram, ManagerFile, manifestsOf, type ImportProgramOptions, type LoadedProgram } from '#plane'
