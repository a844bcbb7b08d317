/**
 * Containers as a part of an application: the controllers of their kinds, and where their logs come from.
 *
 * The runtime is asked only when an object needs it. What this dcp has made ends with it, but for what is persistent.
 */
import {
  ChangeFeed,
  ContainerRunner,
  findRuntime,
  type ContainerRunnerOptions,
  type ContainerRuntime,
  type Files,
  type ProbeChecks,
  type Runner,
  type RuntimeVersion,
} from '@evenkeel/workloads'
import type { ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import type { ObjectLog } from '../controllers/object-log.ts'
import type { PortBook } from '../controllers/port-book.ts'
import type { ContainerLogs } from '../logs/container-log.ts'
import { ContainerController } from './container-controller.ts'
import { ExecController } from './exec-controller.ts'
import { ConnectionController, NetworkController } from './network-controller.ts'
import { StartupLog } from './startup-log.ts'
import { VolumeController } from './volume-controller.ts'

export interface ContainerSettings {
  /** @default the one that is wanted, or the first that answers on this machine */
  readonly containerRuntime?: ContainerRuntime
  /** @default the first that answers */
  readonly wantedRuntime?: RuntimeVersion['name'] | undefined
}

interface ContainerPartsOptions extends ContainerSettings, Pick<ContainerRunnerOptions, 'folder'> {
  readonly runner: Runner
  readonly ports: PortBook
  readonly files: Files
  readonly checks: ProbeChecks
  readonly objectLog: ObjectLog
  readonly sessionFolder: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

interface ContainerParts {
  readonly controllers: readonly ControllerDeclaration<Kind, ManagedContext>[]
  readonly logs: ContainerLogs
  /** Removes what ends with this program. @throws with the names of what could not be removed */
  close(): Promise<void>
}

export function containerParts(options: ContainerPartsOptions): ContainerParts {
  const { containerRuntime, wantedRuntime: wanted, env, clock, files, log, runner, sessionFolder: folder } = options
  const containers = new ContainerRunner({
    ...{ session: runner.session, folder: options.folder, files, clock, log },
    findRuntime: () =>
      containerRuntime
        ? Promise.resolve({ runtime: containerRuntime, endpoint: '' })
        : findRuntime({ env, clock, wanted }),
  })
  const part = () => ({ ...options, containers, feed: new ChangeFeed() })
  const startupLog = new StartupLog({ folder, files, clock, log })
  const controller = new ContainerController({ ...part(), startupLog })
  const execs = new ExecController({ ...part(), folder })
  return {
    controllers: [
      controller.declaration(),
      new NetworkController(part()).declaration(),
      new ConnectionController(part()).declaration(),
      new VolumeController(part()).declaration(),
      execs.declaration(),
    ] as readonly ControllerDeclaration<Kind, ManagedContext>[],
    logs: {
      async *read(containerId, { source, follow, signal }) {
        const runtime = await containers.findRuntime()
        for await (const { stream, bytes } of runtime.streams.logs(containerId, { follow, timestamps: true, signal }))
          if (stream === source) yield bytes
      },
    },
    close: () => {
      controller.close()
      execs.close()
      return containers.close()
    },
  }
}
