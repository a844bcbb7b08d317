/** What explorations of this package share: the simulated machine, what is not compared, and mistakes made on purpose. */
import type { ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { ProcessContext, Scenario } from 'evenkeel/testing'
import type { Clock } from 'evenkeel/unstable/base'
import type { Files } from './files.ts'
import { SimulatedLogFiles } from './logs/simulated-log-files.ts'
import { ScriptedProbes } from './plane.fixture.ts'
import type { ProcessHost } from './process-host.ts'
import { SimulatedNetwork } from './services/simulated-network.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
import type { Watchdog } from './watchdog.ts'
import { workloads, type Workloads } from './workloads.ts'

export interface Machine {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly logFiles: SimulatedLogFiles
  readonly probes: ScriptedProbes
  /** The same log files without faults, for explorations that are not about logs. */
  readonly disk: { readonly logFiles: SimulatedLogFiles; readonly watchdogs: SimulatedWatchdogs }
}

/** The watchdogs of a machine: each ends when the program that started it does, because the kernel closes its pipe. */
class SimulatedWatchdogs {
  readonly running = new Set<number>()
  #next = 1

  start(): Watchdog {
    const pid = this.#next++
    this.running.add(pid)
    return {
      identity: { pid, startTicks: 0, bootId: 'watchdogs' },
      stop: () => {
        this.running.delete(pid)
        return Promise.resolve()
      },
    }
  }

  /** The program that started them has ended. */
  endAll(): void {
    this.running.clear()
  }
}

/** A mistake of the machine. */
export interface MachineMistake {
  readonly host?: (host: ProcessHost) => object
  readonly files?: (files: Files) => object
  readonly watchdogs?: (watchdogs: SimulatedWatchdogs) => object
}

/** The parts of a scenario that are about the machine. */
export const simulatedMachine = {
  external: ({ clock }: { readonly clock: Clock }) => {
    const logFiles = new SimulatedLogFiles({ clock })
    const host = new SimulatedHost({ clock })
    return {
      host,
      files: new SimulatedFiles(),
      logFiles,
      probes: new ScriptedProbes(),
      disk: { logFiles, watchdogs: new SimulatedWatchdogs() },
    }
  },
  services: {
    // Which programs run, not under which pid; what files contain is for the next Evenkeel.
    host: { contents: (host: SimulatedHost) => programsOf(host) },
    files: { contents: () => ({}) },
    logFiles: { contents: (logFiles: SimulatedLogFiles) => logFiles.paths() },
    probes: { contents: () => ({}) },
    disk: { contents: () => ({}) },
  },
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
  ],
} satisfies Pick<Scenario<Machine>, 'external' | 'services' | 'exceptions'>

export function programsOf(host: SimulatedHost): string[] {
  return host
    .processes()
    .map(({ command }) => command)
    .sort()
}

/** The workloads of one process of an exploration. */
export function exploredWorkloads(
  { external, clock, random, log }: ProcessContext<Machine>,
  mistake: MachineMistake = {},
): Workloads {
  const { watchdogs } = external.disk
  const machine = replaced(watchdogs, mistake.watchdogs?.(watchdogs) ?? {})
  // This is another program: the one before has ended.
  machine.endAll()
  return workloads({
    startWatchdog: () => machine.start(),
    folder: '/data',
    cwd: '/app',
    env: { PATH: '/bin' },
    host: replaced<ProcessHost>(external.host, mistake.host?.(external.host) ?? {}),
    files: replaced<Files>(external.files, mistake.files?.(external.files) ?? {}),
    logFiles: external.logFiles,
    checks: external.probes,
    network: new SimulatedNetwork(),
    clock,
    random,
    log,
  })
}

/** The object with some methods replaced. */
export function replaced<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get: (real, name): unknown => {
      if (name in methods) return Reflect.get(methods, name)
      const value: unknown = Reflect.get(real, name, real)
      return typeof value === 'function' ? (value.bind(real) as unknown) : value
    },
  })
}

/** What tells of the past in the status of a Process: it differs when the past does, as it should. */
export const historyOfProcess = ['run', 'runs', 'restarts', 'nextRestartAt']

type Fields = Readonly<Record<string, unknown>>

/** The controller, with other fields in its status. */
export function withStatus<K extends Kind>(
  declaration: ControllerDeclaration<K, ManagedContext>,
  change: (fields: Fields) => Fields,
): ControllerDeclaration<K, ManagedContext> {
  const { reconcile } = declaration
  return {
    ...declaration,
    reconcile: (object, context) => {
      const set = (fields: object): void => {
        context.status.set(change(fields as Fields) as never)
      }
      const status = replaced(context.status, { set })
      return reconcile?.(object, Object.create(context, { status: { value: status } }) as typeof context)
    },
  }
}

/** A status without these fields. */
export const without =
  (names: readonly string[]) =>
  (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** The controller, with a status that does not tell of the past. */
export function withoutHistory<K extends Kind>(
  declaration: ControllerDeclaration<K, ManagedContext>,
): ControllerDeclaration<K, ManagedContext> {
  return withStatus(declaration, without(historyOfProcess))
}
