/**
 * `run`: the last line of a program. Finds a cluster or starts a server, and runs the controllers until a signal.
 *
 * @example
 * await run({ controllers: [{ for: Website, owns: [Deployment], reconcile }] })
 *
 * The modules that it needs are loaded when it is called: a program that imports only kinds does not load them.
 */
import type { Kind } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { LoadConfigOptions } from '#client'
import type { ControllersOf, Manager, ManagerOptions, SignalledProcess } from '#manager'
import type { CustomResourceOptions } from '#server'
import type { DataPlane } from './data-plane.ts'
import type { ManagerFile } from './manager-file.ts'
import { programTaker } from './program.ts'

/**
 * Runs controllers until SIGTERM or SIGINT; resolves when everything has stopped. A second signal ends the process.
 *
 * Without a configured cluster it starts a server of its own on the data folder `./data`, where `npx evenkeel get`, `why`
 * and the other commands find it. What a person can correct (a wrong kubeconfig, a server that does not answer, a port in
 * use) is printed in one line, and the process ends with code 1.
 *
 * In a module that `evenkeel up`, `explore` or `generate` loads, it hands its options to that command instead.
 *
 * @example
 * await run({
 *   controllers: [websites],
 *   endpoints: { port: 8080 },
 * })
 *
 * @throws every other error: it is a mistake in the program.
 */
export async function run<const Kinds extends readonly Kind[]>(options: RunProgramOptions<Kinds>): Promise<void> {
  const take = programTaker()
  if (take) {
    await take(options as RunProgramOptions)
    return
  }
  const { runProgram } = await import('./run-program.ts')
  await runProgram(options as RunProgramOptions)
}

/**
 * Runs controllers until the signal aborts, as a part of a larger program: handles no process signals, prints nothing,
 * and throws what `run` would print.
 *
 * @example
 * const stopping = new AbortController()
 * const running = runControllers(stopping.signal, { controllers: [websites], embedded: true })
 * stopping.abort()
 * await running
 */
export async function runControllers<const Kinds extends readonly Kind[]>(
  signal: AbortSignal,
  options: RunOptions<Kinds>,
): Promise<void> {
  const parts = await import('./run-controllers.ts')
  await parts.runControllers(signal, options as RunOptions)
}

// Options, and the argument of `onReady`.

type ManagerOptionName =
  | 'runnables'
  | 'leaderElection'
  | 'endpoints'
  | 'webhooks'
  | 'gracePeriodMs'
  | 'plugins'
  | 'client'
  | 'cache'
  | 'metrics'
  | 'tracing'
  | 'hotLoops'
  | 'rules'

/** Options of `runControllers`: the controllers, the cluster they run on, and options of the manager. */
export interface RunOptions<Kinds extends readonly Kind[] = readonly Kind[]>
  extends Pick<ManagerOptions, ManagerOptionName>, LoadConfigOptions {
  readonly controllers: ControllersOf<Kinds>
  /** More kinds to install, for instance older versions. @default none */
  readonly kinds?: readonly Kind[]
  /** The name of the program, for its lease and its user agent. @default the names of its controllers */
  readonly name?: string
  /** Run an embedded server: always, never, or when no cluster is configured. @default 'when-needed' */
  readonly embedded?: boolean | 'when-needed'
  /** The data folder of the embedded server. @default './data' in `run`; in `runControllers` a temporary one */
  readonly data?: string
  /** Keep objects in memory; kubeconfig and identity stay in the data folder. @default false with a data folder */
  readonly memory?: boolean
  /**
   * Run the embedded server in a thread of its own: it answers while this thread computes, or stops at a breakpoint.
   *
   * @default true when a debugger is attached and clock and random are the system's
   */
  readonly serverThread?: boolean
  /** The port of the embedded server. @default any free port */
  readonly port?: number
  /**
   * Streams of the kinds, such as `log`, and other rules that a CRD cannot say. Only the embedded server has them: on a
   * cluster they are left out, with a warning.
   *
   * @default none
   */
  readonly customResources?: readonly CustomResourceOptions[]
  /**
   * Create or update the CRDs of kinds that have a schema. A new schema that stored objects do not fit is an error, unless
   * this is `'force'`.
   *
   * @default true
   */
  readonly install?: boolean | 'force'
  /** Called when the manager is about to run, which waits for a promise: objects that it writes are reconciled as one state. */
  readonly onReady?: (ready: Ready) => Promise<void> | void
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
}

/** The argument of `onReady`: the manager that is about to run, and the address of its cluster. */
export interface Ready {
  readonly manager: Manager
  /** The installed kinds. */
  readonly kinds: readonly Kind[]
  /** The address of the cluster. */
  readonly url: string
  /** The embedded server, if there is one. */
  readonly embedded?: EmbeddedServer
}

/** The server that a program brings along. */
export interface EmbeddedServer extends Pick<DataPlane, 'folder' | 'kubeconfig' | 'isDurable'> {
  /** The managers in its data folder; undefined when that is temporary. */
  readonly managers: Pick<ManagerFile, 'add' | 'settled'> | undefined
}

/** The members of a process that `run` uses. */
export interface RunProcess extends SignalledProcess {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
}

/** Options of `run`: those of `runControllers`, and the process. */
export interface RunProgramOptions<Kinds extends readonly Kind[] = readonly Kind[]> extends RunOptions<Kinds> {
  /** Stops the controllers as well. @default signals of the process only */
  readonly signal?: AbortSignal
  /** @default this process */
  readonly process?: RunProcess
}
