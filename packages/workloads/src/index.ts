/**
 * `@evenkeel/workloads`: kinds and controllers that run processes on this machine.
 */
export { OsFiles, type Files } from './files.ts'
export {
  applicationFiles,
  checkApplication,
  formatOf,
  readApplicationFile,
  readDotenv,
  type ApplicationFileOptions,
  type ApplicationFormat,
} from './formats/application.ts'
export {
  defineApp,
  type AddressValue,
  type AppBuilder,
  type Application,
  type ContainerInput,
  type ProcessInput,
  type Reference,
  type ServiceInput,
  type ServiceReference,
  type TaskInput,
  type WorkloadReference,
} from './formats/define-app.ts'
export {
  formatFinding,
  type FileContents,
  type FileObject,
  type Finding,
  type ObjectNames,
  type WorkloadObject,
} from './formats/finding.ts'
export { dependenciesIn, selectWorkloads } from './formats/selection.ts'
export { workloadKinds, type WorkloadKind } from './formats/shapes.ts'
export { OsProcessHost } from './os-host.ts'
export { OsProbes } from './os-probes.ts'
export {
  formatIdentity,
  type ExitFeed,
  type Launch,
  type LaunchFailure,
  type LaunchResult,
  type PortHolder,
  type ProcessEntry,
  type ProcessExit,
  type ProcessHost,
  type ProcessIdentity,
  type SignalName,
} from './process-host.ts'
export { Process, type ProcessObject } from './process-kind.ts'
export { systemTable, type ProcessTable } from './process-table.ts'
export type { ProbeCheck, ProbeChecks, ProbeOutcome } from './prober.ts'
export type { Run, RunOwner } from './runs.ts'
export { stopInOrder, workloadKey, type StoppableNode } from './shutdown-order.ts'
export type { ShutdownOptions, ShutdownOutcome, ShutdownReport } from './shutdown.ts'
export { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
export { workloads, type Workloads, type WorkloadsOptions, type WorkloadsRunnable } from './workloads.ts'
