/**
 * The controllers of an application, and what they run on.
 *
 *   const { controllers, runner } = dcpControllers({ folder, sessionFolder })
 *   …a manager runs the controllers…
 *   await stop()
 *
 * They are users of the public API like any other: the parts of `@evenkeel/workloads` run the programs and pass the
 * connections on. Everything outside of this process is behind a seam, so that the Explorer replaces the machine.
 */
import {
  ChangeFeed,
  OsFiles,
  OsProbes,
  Runner,
  type Files,
  type ProbeChecks,
  type Run,
  type RunnerOptions,
} from '@evenkeel/workloads'
import type { ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { createLogger, SystemClock, type Clock } from 'evenkeel/unstable/base'
import { containerParts, type ContainerSettings } from '../containers/containers.ts'
import type { ContainerLogs } from '../logs/container-log.ts'
import { ExecutableController } from './executable-controller.ts'
import { notRunControllers } from './not-run.ts'
import { ObjectLog } from './object-log.ts'
import { PortBook } from './port-book.ts'
import { ReplicaSetController } from './replica-set-controller.ts'
import { ServiceController } from './service-controller.ts'

interface DcpControllersOptions extends Omit<RunnerOptions, 'onConnections'>, ContainerSettings {
  /** Where hosts look for the logs of objects and for certificates. */
  readonly sessionFolder: string
  /** What programs inherit. @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where programs run that name no folder. @default the working directory */
  readonly cwd?: string
  /** @default HTTP on this machine */
  readonly checks?: ProbeChecks
}

export interface DcpControllers {
  readonly controllers: readonly ControllerDeclaration<Kind, ManagedContext>[]
  readonly runner: Runner
  /** Of containers that run here. */
  readonly containerLogs: ContainerLogs
  /** Ends every program, every container and every connection. Returns runs that could not be ended. */
  stop(): Promise<readonly Run[]>
}

const silent = createLogger({ clock: { now: () => 0 } as Clock, sink: () => undefined })

export function dcpControllers(options: DcpControllersOptions): DcpControllers {
  const { sessionFolder, env = process.env, cwd = process.cwd(), clock = new SystemClock(), log = silent } = options
  const files: Files = options.files ?? new OsFiles()
  const feeds = { runs: new ChangeFeed(), connections: new ChangeFeed() }
  const runner = new Runner({
    ...options,
    ...{ clock, files, log },
    onConnections: (owner, note) => {
      feeds.connections.push(owner, note)
    },
  })
  const ports = new PortBook(runner)
  const objectLog = new ObjectLog({ folder: sessionFolder, files, clock, log })
  const executables = new ExecutableController({
    ...{ runner, ports, feed: feeds.runs, files, objectLog, clock, cwd, sessionFolder },
    checks: options.checks ?? new OsProbes({ clock }),
    ambient: env,
  })
  const containers = containerParts({
    ...options,
    ...{ runner, ports, files, objectLog, clock, cwd, env, log },
    checks: options.checks ?? new OsProbes({ clock }),
  })
  const services = new ServiceController({ runner, ports, feed: feeds.connections, objectLog })
  return {
    controllers: [
      executables.declaration(),
      new ReplicaSetController().declaration(),
      services.declaration(),
      ...containers.controllers,
      ...notRunControllers(objectLog),
    ] as readonly ControllerDeclaration<Kind, ManagedContext>[],
    runner,
    containerLogs: containers.logs,
    stop: async () => {
      executables.close()
      try {
        await containers.close()
      } catch (error) {
        log.error('cannot remove containers', { error })
      }
      // Last: until here its watchdog would end what is left.
      return runner.stop()
    },
  }
}
