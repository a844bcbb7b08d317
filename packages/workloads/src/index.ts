/**
 * `@evenkeel/workloads`: kinds and controllers that run processes and containers on this machine.
 */
export { ChangeFeed } from './change-feed.ts'
export { OsCommands, type CommandLaunch, type Commands } from './commands.ts'
export { CliRuntime } from './containers/cli-runtime.ts'
export {
  Container,
  ContainerNetwork,
  ContainerVolume,
  type ContainerNetworkObject,
  type ContainerObject,
  type ContainerVolumeObject,
} from './containers/container-kind.ts'
export type { ContainerLogOptions } from './containers/container-log.ts'
export { ContainerRunner, type ContainerRunnerOptions } from './containers/container-runner.ts'
export {
  isRuntimeError,
  RuntimeError,
  type BuildPlan,
  type ContainerFacts,
  type ContainerPlan,
  type ContainerRuntime,
  type ContainerState,
  type ContainerStreams,
  type ContainerSummary,
  type EventQuery,
  type Exec,
  type ExecPlan,
  type ImageFacts,
  type Labels,
  type LogPiece,
  type LogQuery,
  type Mount,
  type NetworkFacts,
  type NetworkPlan,
  type PublishedPort,
  type PullOptions,
  type RuntimeErrorCode,
  type RuntimeEvent,
  type RuntimeVersion,
  type VolumeFacts,
  type VolumePlan,
} from './containers/container-runtime.ts'
export { EngineRuntime } from './containers/engine-runtime.ts'
export { Images } from './containers/images.ts'
export { findRuntime, type FoundRuntime } from './containers/os-runtime.ts'
export type { LiveRuntime } from './containers/runtime-monitor.ts'
export { SimulatedRuntime } from './containers/simulated-runtime.ts'
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
export { whyNoContainers } from './formats/container-presence.ts'
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
export { inFolder } from './formats/folder.ts'
export { providersAmong, selectWorkloads } from './formats/selection.ts'
export { workloadKinds, type WorkloadKind } from './formats/shapes.ts'
export { OsLogFiles, type LogAccess, type LogFiles, type LogHandle, type LogSize } from './logs/log-files.ts'
export type { TimedLog } from './logs/timed-log.ts'
export { SimulatedLogFiles } from './logs/simulated-log-files.ts'
export { OsProcessHost } from './os-host.ts'
export { OpenTerminal } from './open-terminal.ts'
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
export { EnvironmentError } from './environment.ts'
export { readEnvFile } from './process-plan.ts'
export type { ProbeCheck, ProbeChecks, ProbeOutcome } from './prober.ts'
export { Runner, type RunnerOptions } from './runner.ts'
export type { Run, RunOwner, RunPlan } from './runs.ts'
export { Schedule, type ScheduleObject } from './schedules/schedule-kind.ts'
export { ProcessSet, type ProcessSetObject } from './sets/set-kind.ts'
export { Task, type TaskObject } from './tasks/task-kind.ts'
export {
  type Connection,
  type ConnectionFeed,
  type ListenFailure,
  type Network,
  type SocketAddress,
} from './services/network.ts'
export { OsNetwork } from './services/os-network.ts'
export { Endpoint, Service, type EndpointObject, type ServiceObject } from './services/service-kind.ts'
export type { RouterSettings } from './services/services.ts'
export { SimulatedNetwork } from './services/simulated-network.ts'
export type { FileChange, FileWatcher, WatchRequest } from './watch/file-watcher.ts'
export { OsFileWatcher } from './watch/os-file-watcher.ts'
export { SimulatedFileWatcher } from './watch/simulated-file-watcher.ts'
export { stopInOrder, workloadKey, type StoppableNode } from './shutdown-order.ts'
export type { ShutdownOptions, ShutdownOutcome, ShutdownReport } from './shutdown.ts'
export { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
export { ScriptTerminals, type Terminals } from './terminal.ts'
export { workloads, type Workloads, type WorkloadsOptions, type WorkloadsRunnable } from './workloads.ts'
