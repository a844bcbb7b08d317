/**
 * `run`: the last line of a program. Finds a cluster or starts one, runs the controllers until a signal, and says in
 * plain words what it does and what goes wrong.
 *
 * @example
 * await run({ controllers: [{ for: Website, owns: [Deployment], reconcile }] })
 *
 * What it needs is loaded when it is called: whoever imports the package for its kinds alone pays for nothing else.
 */
import type { Kind } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { LoadConfigOptions } from '#client'
import type { ControllersOf, Manager, ManagerOptions, SignalledProcess } from '#manager'
import type { DataPlane } from './data-plane.ts'

/**
 * Runs controllers until SIGTERM or SIGINT; resolves when everything has stopped. A second signal ends the process.
 *
 * Without a configured cluster it starts a server of its own and prints the path of a kubeconfig. What a person can
 * correct (a wrong kubeconfig, a server that does not answer, a port in use) is printed in one line, and the process
 * ends with code 1.
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

/*
 * What `run` is told, and what it tells.
 */

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
  /** What the program is called: its lease, its user agent. @default the names of its controllers */
  readonly name?: string
  /** Run a server of our own: always, never, or when no cluster is configured. @default 'when-needed' */
  readonly embedded?: boolean | 'when-needed'
  /** Where the server of our own keeps its objects. @default in memory */
  readonly data?: string
  /** Where the server of our own listens. @default any port that is free */
  readonly port?: number
  /** Create the definitions of kinds that have a schema, or bring them up to date. @default true */
  readonly install?: boolean
  /** Called when the manager is about to run. */
  readonly onReady?: (ready: Ready) => void
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
}

/** What `onReady` is given: the manager that is about to run, and where its cluster is. */
export interface Ready {
  readonly manager: Manager
  /** Kinds that were installed. */
  readonly kinds: readonly Kind[]
  /** The address of the cluster. */
  readonly url: string
  /** The server of our own, if there is one. */
  readonly embedded?: Pick<DataPlane, 'kubeconfig' | 'isDurable'>
}

/** What of a process `run` uses. */
export interface RunProcess extends SignalledProcess {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
}

/** Options of `run`: those of `runControllers`, and what it uses of the process. */
export interface RunProgramOptions<Kinds extends readonly Kind[] = readonly Kind[]> extends RunOptions<Kinds> {
  /** Stops it as well. @default signals of the process only */
  readonly signal?: AbortSignal
  /** @default this process */
  readonly process?: RunProcess
}
