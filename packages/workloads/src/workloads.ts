/**
 * Workloads as parts of a program: controllers, and what runs beside them.
 *
 *   const { controllers, runnables } = workloads({ folder: './data/workloads' })
 *   await run({ controllers, runnables })
 *
 * Everything that leaves this process goes through five seams (processes, files, network, probes, clock), so that a test or the Explorer
 * replaces the machine.
 */
import { resolve } from 'node:path'
import type { Client, ControllerDeclaration } from 'evenkeel'
import type { ManagedContext, Runnable } from 'evenkeel/controller'
import {
  onAbort,
  randomUuid,
  SystemClock,
  SystemRandom,
  type Clock,
  type Logger,
  type Random,
} from 'evenkeel/unstable/base'
import type { CustomResourceOptions } from 'evenkeel/server'
import { OsCommands, type Commands } from './commands.ts'
import { containerConnects } from './containers/container-connects.ts'
import { containerLogHandler } from './containers/container-log-handler.ts'
import { Container } from './containers/container-kind.ts'
import { containers, type Containers } from './containers/containers.ts'
import { findRuntime } from './containers/os-runtime.ts'
import type { ContainerRuntime } from './containers/container-runtime.ts'
import { OsFiles, type Files } from './files.ts'
import { OsLogFiles, type LogFiles } from './logs/log-files.ts'
import { logHandler } from './logs/log-handler.ts'
import { LogKeeper } from './logs/log-keeper.ts'
import { OsProcessHost } from './os-host.ts'
import { OsProbes } from './os-probes.ts'
import { processConnects } from './process-connects.ts'
import { ProcessController } from './process-controller.ts'
import type { SeenProcess } from './process-plan.ts'
import { Ports } from './ports.ts'
import type { ProcessHost } from './process-host.ts'
import { processOwners, type ProcessOwners, type ProcessOwnersOptions } from './process-owners.ts'
import { parseMark } from './journal.ts'
import { Process } from './process-kind.ts'
import { systemTable } from './process-table.ts'
import type { ProbeChecks } from './prober.ts'
import type { Run } from './runs.ts'
import { OsNetwork } from './services/os-network.ts'
import type { Network } from './services/network.ts'
import { PortClaims } from './services/port-claims.ts'
import type { Endpoint, Service } from './services/service-kind.ts'
import { Services, type RouterSettings } from './services/services.ts'
import { Session, type SessionOptions } from './session.ts'
import type { FileWatcher } from './watch/file-watcher.ts'
import { OsFileWatcher } from './watch/os-file-watcher.ts'
import { shutDown, type ShutdownOptions, type ShutdownReport } from './shutdown.ts'
import { ShutdownOrder } from './shutdown-order.ts'
import { ScriptTerminals, type Terminals } from './terminal.ts'
import { startWatchdog } from './watchdog.ts'

export interface WorkloadsOptions extends ProcessOwnersOptions {
  /** Of the session file and the logs. One Evenkeel at a time uses it. */
  readonly folder: string
  /** Where processes run, and what relative paths begin at. @default the working directory */
  readonly cwd?: string
  /** What processes inherit. @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default the processes of this machine, with a watchdog */
  readonly host?: ProcessHost
  /** Ends what runs when this program is killed: for a host of your own. @default with the default host a small shell, else none */
  readonly startWatchdog?: SessionOptions['startWatchdog']
  /** Where containers run. @default Docker or Podman, by a socket or an executable, whichever answers */
  readonly containerRuntime?: ContainerRuntime
  /** Opens terminals, for the default host. @default the program `script` of util-linux */
  readonly terminals?: Terminals
  /** What `exec` and `attach` use. @default with the default host the programs of this machine, else none */
  readonly commands?: Commands
  /** @default the files of this machine */
  readonly files?: Files
  /** @default the network of this machine */
  readonly network?: Network
  /** Serves `http://NAME.NAMESPACE.localhost:PORT` for Services with `appProtocol: http`. @default none */
  readonly router?: RouterSettings
  /** @default the log files of this machine */
  readonly logFiles?: LogFiles
  /** What `spec.watch` watches. @default the files of this machine */
  readonly watcher?: FileWatcher
  /** @default HTTP, TCP and programs on this machine */
  readonly checks?: ProbeChecks
  /** @default the clock of this machine */
  readonly clock?: Clock
  /** Names the session. @default the random source of this machine */
  readonly random?: Random
  /** @default none */
  readonly log?: Logger
}

export interface Workloads {
  readonly controllers: readonly [
    ControllerDeclaration<typeof Process, ManagedContext>,
    ...ProcessOwners,
    ControllerDeclaration<typeof Service, ManagedContext>,
    ControllerDeclaration<typeof Endpoint, ManagedContext>,
    ...Containers['controllers'],
  ]
  /** Ends the processes when the program stops. */
  readonly runnables: readonly WorkloadsRunnable[]
  /** For the server: the subresources `log`, `exec` and `attach`. */
  readonly customResources: readonly CustomResourceOptions[]
  /**
   * Ends every process that does not outlive this program, and proves it. The runnable calls it; call it yourself where
   * there is no runnable.
   *
   * @returns runs that could not be ended
   */
  stop(): Promise<readonly Run[]>
  /** The log of the last run of a Container, as bytes. */
  readonly containerLog: Containers['log']
  /** The same in more detail: a bound, and a report of each object. A second call waits for the first one. */
  shutdown(options?: ShutdownOptions): Promise<ShutdownReport>
}

/** What runs beside the controllers. A command that runs it may end the processes itself, and report that. */
export interface WorkloadsRunnable extends Runnable {
  readonly shutdown: Workloads['shutdown']
}

export function workloads(options: WorkloadsOptions): Workloads {
  const parts = partsOf(settingsOf(options))
  const { settings, controller, services, boxes, session } = parts
  const shutdown = shutdownOf(parts)
  const stop = async (): Promise<readonly Run[]> => (await shutdown()).survivors
  return {
    controllers: [
      controller.declaration(),
      ...processOwners(settings.owners),
      ...services.declarations(),
      ...boxes.controllers,
    ],
    containerLog: boxes.log,
    runnables: [
      {
        name: 'workloads',
        run: async (signal, { client }) => {
          await services.open()
          await endLeftovers({ session, client, signal })
          await boxes.endLeftovers(client, { signal })
          await untilStopped(signal, stop)
        },
        shutdown,
      },
    ],
    customResources: customResourcesOf(parts),
    stop,
    shutdown,
  }
}

/** The options with their defaults. */
function settingsOf({
  folder,
  cwd = process.cwd(),
  env = process.env,
  clock = new SystemClock(),
  random = new SystemRandom(),
  files = new OsFiles(),
  logFiles = new OsLogFiles(),
  watcher = new OsFileWatcher({ clock }),
  checks = new OsProbes({ clock }),
  network = new OsNetwork(),
  router,
  host,
  startWatchdog: watchdog,
  containerRuntime,
  terminals = new ScriptTerminals(),
  commands,
  log,
  ...owners
}: WorkloadsOptions) {
  const own: Machine = host ? { host } : thisMachine({ clock, terminals })
  const machine: Machine = watchdog ? { ...own, startWatchdog: watchdog } : own
  return {
    ...{ folder: resolve(folder), cwd: resolve(cwd), env, clock, random, files, logFiles, watcher, checks, network },
    ...{ router, containerRuntime, log, owners, machine, commands: commands ?? machine.commands },
  }
}

/** The controllers, and what they share. */
function partsOf(settings: ReturnType<typeof settingsOf>) {
  const { folder, cwd, env, clock, random, files, checks, network, router, containerRuntime, log, machine } = settings
  const { host } = machine
  const logged = log && { log }
  const keeper = new LogKeeper({ files, logFiles: settings.logFiles, clock, ...logged })
  const session = new Session({
    ...machine,
    ...{ files, clock, folder },
    name: randomUuid(random).slice(0, 8),
    removeLogs: (prefix) => keeper.remove(prefix),
    ...logged,
  })
  const ports = new Ports({ host })
  const claims = new PortClaims({ ports, host, session })
  const order = new ShutdownOrder()
  const services = new Services({ network, claims, order, clock, router, log })
  const boxes = containers({
    ...{ session, order, ports, files, checks, clock, folder, cwd },
    findRuntime: () =>
      containerRuntime ? Promise.resolve({ runtime: containerRuntime, endpoint: '' }) : findRuntime({ env, clock }),
    ...logged,
  })
  const controller = new ProcessController({
    ...{ session, order, claims, files, checks, keeper, watcher: settings.watcher, host, clock, cwd, folder },
    ambient: env,
    ...logged,
  })
  return { settings, keeper, session, order, services, boxes, controller }
}

type Parts = ReturnType<typeof partsOf>

/** Ends everything once; a second call waits for the first one. */
function shutdownOf({ settings, keeper, session, order, services, boxes, controller }: Parts): Workloads['shutdown'] {
  const endAll = async (options?: ShutdownOptions): Promise<ShutdownReport> => {
    controller.watch.close()
    controller.owners.close()
    // Programs use services until they have ended.
    const { clock } = settings
    const report = await shutDown({ session, order, clock, findContainers: boxes.findRunning }, options)
    try {
      await boxes.close({ hurry: options?.urgent })
    } finally {
      await services.stopListening()
      services.close()
      await keeper.close()
    }
    return report
  }
  let ending: Promise<ShutdownReport> | undefined
  return (options) => {
    controller.prober.close()
    ending ??= endAll(options)
    return ending
  }
}

/** The subresources that are served for the kinds. */
function customResourcesOf({ settings, keeper, session, boxes, controller }: Parts): readonly CustomResourceOptions[] {
  const { clock, log, files, env, cwd, commands } = settings
  const lastSeen = (uid: string): SeenProcess | undefined => controller.lastSeen(uid)
  return [
    {
      kind: Process,
      streams: { log: logHandler({ keeper, clock, log }) },
      ...(commands && { connects: processConnects({ session, commands, files, ambient: env, cwd, lastSeen }) }),
    },
    {
      kind: Container,
      streams: { log: containerLogHandler({ log: boxes.log, clock }) },
      connects: containerConnects(boxes),
    },
  ]
}

interface Leftovers {
  readonly session: Session
  readonly client: Pick<Client, 'list'>
  readonly signal: AbortSignal
}

/** Ends what a killed Evenkeel left and no object asks for any more: its store was in memory, or the object was removed by force. */
async function endLeftovers({ session, client, signal }: Leftovers): Promise<void> {
  await session.open()
  const adopted = session.runs().filter(({ isAdopted }) => isAdopted)
  if (adopted.length === 0) return
  const { items } = await client.list(Process, { signal })
  const uids = new Set(items.map(({ metadata }) => metadata.uid))
  const orphans = adopted.filter(({ owner, mark }) => !uids.has(owner.uid) && parseMark(mark)?.lifetime === 'session')
  await Promise.all(
    orphans.map(async (run) => {
      const survivor = await session.endFully(run, { graceMs: leftoverGraceMs, reason: 'NoObject' })
      if (!survivor) await session.forget(run.owner.uid)
    }),
  )
}

const leftoverGraceMs = 10_000

/** Names survivors in an error: the program then ends with a failure. */
async function untilStopped(signal: AbortSignal, stop: Workloads['stop']): Promise<void> {
  await new Promise<void>((resolveOnce) => {
    onAbort(signal, () => {
      resolveOnce()
    })
  })
  const survivors = await stop()
  if (survivors.length > 0)
    throw new Error(
      `these processes could not be ended: ${survivors.map(({ owner, identity }) => `${owner.namespace}/${owner.name} (pid ${identity?.pid})`).join(', ')}`,
    )
}

interface Machine extends Pick<SessionOptions, 'host' | 'self' | 'startWatchdog'> {
  readonly commands?: Commands
}

/** The processes of this machine, with a watchdog. */
export function thisMachine({ clock, terminals }: { readonly clock: Clock; readonly terminals: Terminals }): Machine {
  const table = systemTable()
  const self = { pid: process.pid, startTicks: table.startTicks(process.pid) ?? 0, bootId: table.bootId() }
  const host = new OsProcessHost({ table, clock, terminals })
  return {
    host,
    self,
    startWatchdog: (options) => startWatchdog({ table, env: process.env, ...options }),
    commands: new OsCommands({ host, table, terminals, clock }),
  }
}
