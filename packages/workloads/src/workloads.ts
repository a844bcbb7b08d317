/**
 * Workloads as parts of a program: controllers, and what runs beside them.
 *
 *   const { controllers, runnables } = workloads({ folder: './data/workloads' })
 *   await run({ controllers, runnables })
 *
 * Everything that leaves this process goes through four seams (processes, files, probes, clock), so that a test or the Explorer
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
import { OsFiles, type Files } from './files.ts'
import { OsProcessHost } from './os-host.ts'
import { OsProbes } from './os-probes.ts'
import { ProcessController } from './process-controller.ts'
import type { ProcessHost } from './process-host.ts'
import { parseMark } from './journal.ts'
import { Process } from './process-kind.ts'
import { systemTable } from './process-table.ts'
import type { ProbeChecks } from './prober.ts'
import type { Run } from './runs.ts'
import { Session, type SessionOptions } from './session.ts'
import { shutDown, type ShutdownOptions, type ShutdownReport } from './shutdown.ts'
import { ShutdownOrder } from './shutdown-order.ts'
import { startWatchdog } from './watchdog.ts'

export interface WorkloadsOptions {
  /** Of the session file and the logs. One Evenkeel at a time uses it. */
  readonly folder: string
  /** Where processes run, and what relative paths begin at. @default the working directory */
  readonly cwd?: string
  /** What processes inherit. @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** @default the processes of this machine, with a watchdog */
  readonly host?: ProcessHost
  /** @default the files of this machine */
  readonly files?: Files
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
  readonly controllers: readonly [ControllerDeclaration<typeof Process, ManagedContext>]
  /** Ends the processes when the program stops. */
  readonly runnables: readonly WorkloadsRunnable[]
  /**
   * Ends every process that does not outlive this program, and proves it. The runnable calls it; call it yourself where
   * there is no runnable.
   *
   * @returns runs that could not be ended
   */
  stop(): Promise<readonly Run[]>
  /** The same in more detail: a bound, and a report of each object. A second call waits for the first one. */
  shutdown(options?: ShutdownOptions): Promise<ShutdownReport>
}

/** What runs beside the controllers. A command that runs it may end the processes itself, and report that. */
export interface WorkloadsRunnable extends Runnable {
  readonly shutdown: Workloads['shutdown']
}

export function workloads({
  folder,
  cwd = process.cwd(),
  env = process.env,
  clock = new SystemClock(),
  random = new SystemRandom(),
  files = new OsFiles(),
  checks = new OsProbes({ clock }),
  host: given,
  log,
}: WorkloadsOptions): Workloads {
  const machine = given ? { host: given } : thisMachine(clock)
  const session = new Session({
    ...machine,
    files,
    clock,
    folder: resolve(folder),
    name: randomUuid(random).slice(0, 8),
    ...(log && { log }),
  })
  const order = new ShutdownOrder()
  const controller = new ProcessController({
    session,
    order,
    host: machine.host,
    files,
    checks,
    clock,
    ambient: env,
    cwd: resolve(cwd),
  })
  let ending: Promise<ShutdownReport> | undefined
  const shutdown = (options?: ShutdownOptions): Promise<ShutdownReport> => {
    controller.prober.close()
    ending ??= shutDown({ session, order, clock }, options)
    return ending
  }
  const stop = async (): Promise<readonly Run[]> => (await shutdown()).survivors
  return {
    controllers: [controller.declaration()],
    runnables: [
      {
        name: 'workloads',
        run: async (signal, { client }) => {
          await endLeftovers({ session, client, signal })
          await untilStopped(signal, stop)
        },
        shutdown,
      },
    ],
    stop,
    shutdown,
  }
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

function thisMachine(
  clock: Clock,
): Pick<SessionOptions, 'host' | 'self' | 'startWatchdog'> & { readonly host: ProcessHost } {
  const table = systemTable()
  const self = { pid: process.pid, startTicks: table.startTicks(process.pid) ?? 0, bootId: table.bootId() }
  return {
    host: new OsProcessHost({ table, clock }),
    self,
    startWatchdog: (options) => startWatchdog({ table, ...options }),
  }
}
