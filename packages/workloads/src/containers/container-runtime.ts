/**
 * The seam to a container runtime: Docker, Podman, or one in memory. Implementations: `engine-runtime.ts` (the Engine API over a
 * Unix socket), `cli-runtime.ts` (an executable), `simulated-runtime.ts`.
 *
 * Every method takes and returns plain data, so that the Explorer can delay, fail and lose each call. A method that only reads is
 * called `find…` or `list…`. What cannot be one answer (events, logs, programs in a container) is in `streams`.
 *
 * Invariants of every runtime: `createContainer` makes the container with all its labels or none at all; two containers, networks
 * or volumes never have one name; `find…` returns undefined for what does not exist; `remove…` succeeds for what does not exist;
 * every failure is a {@link RuntimeError}.
 */
import type { TerminalSize } from 'evenkeel/server'

/** What kind of failure, for decisions; the message is for people. */
export type RuntimeErrorCode =
  /** The runtime does not answer: asleep, not installed, not permitted. */
  | 'Unavailable'
  | 'NotFound'
  /** The name is taken, or it is in use. */
  | 'Conflict'
  | 'ImageNotFound'
  | 'PullDenied'
  | 'PullFailed'
  | 'BuildFailed'
  | 'PortTaken'
  /** The program does not exist in the image, or cannot be executed. */
  | 'CommandNotFound'
  | 'Failed'

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'
  readonly code: RuntimeErrorCode

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type Labels = Readonly<Record<string, string>>

export interface RuntimeVersion {
  readonly name: 'docker' | 'podman' | 'simulated'
  readonly version: string
  readonly apiVersion: string
}

export interface ImageFacts {
  readonly id: string
  readonly tags: readonly string[]
}

export interface BuildPlan {
  /** An absolute path. */
  readonly context: string
  /** Below the context. */
  readonly dockerfile: string
  readonly args: readonly { readonly name: string; readonly value: string }[]
  readonly target?: string
  readonly labels: Labels
  readonly tag: string
}

export interface PublishedPort {
  readonly containerPort: number
  readonly hostPort: number
  readonly hostIP: string
  readonly protocol: 'tcp' | 'udp'
}

export interface Mount {
  readonly type: 'volume' | 'bind'
  /** The name of the volume, or an absolute path. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerPlan {
  readonly name: string
  readonly image: string
  /** Replaces the entry point of the image. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly labels: Labels
  readonly ports: readonly PublishedPort[]
  readonly mounts: readonly Mount[]
  readonly networks: readonly { readonly name: string; readonly aliases: readonly string[] }[]
  readonly user?: string
  readonly workingDir?: string
  readonly memoryBytes?: number
  readonly nanoCpus?: number
  /** @default that of the image */
  readonly stopSignal?: string
  /** What the runtime does when the container ends. @default no */
  readonly restartPolicy?: 'no' | 'on-failure' | 'unless-stopped' | 'always'
  /** Names of hosts beyond those of the runtime: `host.docker.internal:host-gateway`. */
  readonly extraHosts: readonly string[]
}

export type ContainerState = 'created' | 'running' | 'paused' | 'removing' | 'exited'

/** A container in a list. */
export interface ContainerSummary {
  readonly id: string
  readonly name: string
  readonly state: ContainerState
  readonly labels: Labels
}

export interface ContainerFacts extends ContainerSummary {
  readonly image: string
  readonly startedAtMs?: number
  readonly finishedAtMs?: number
  readonly exitCode?: number
  readonly isOomKilled: boolean
  /** With what it was created, the variables of its image included. */
  readonly env: Readonly<Record<string, string>>
  /** The arguments of its program. */
  readonly args: readonly string[]
  /** Also while it does not run. */
  readonly ports: readonly PublishedPort[]
  /** By network: its address. */
  readonly networks: readonly { readonly name: string; readonly address: string }[]
}

export interface NetworkPlan {
  readonly name: string
  readonly labels: Labels
  readonly internal: boolean
  readonly ipv6: boolean
}

export interface NetworkFacts {
  readonly id: string
  readonly name: string
  readonly driver: string
  readonly labels: Labels
  readonly subnets: readonly string[]
  readonly gateways: readonly string[]
}

export interface VolumePlan {
  readonly name: string
  readonly labels: Labels
}

export interface VolumeFacts {
  readonly name: string
  readonly driver: string
  readonly labels: Labels
}

/** Something happened to a container. */
export interface RuntimeEvent {
  /** `start`, `die`, `pause`, `destroy` … */
  readonly action: string
  readonly containerId: string
  readonly labels: Labels
}

export interface LogPiece {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

export interface LogQuery {
  /** Go on with what is written from now on, until the container ends. @default false */
  readonly follow?: boolean
  /** Only the last lines. @default all */
  readonly tailLines?: number
  /** Only what was written since, in milliseconds since 1970. @default all */
  readonly sinceMs?: number
  /** Each line begins with the time at which it was written. @default false */
  readonly timestamps?: boolean
  readonly signal?: AbortSignal
}

export interface ExecPlan {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly workingDir?: string
  /** What it reads from its stdin. @default nothing */
  readonly input?: AsyncIterable<Uint8Array>
  /** Its output is one stream, through a terminal. @default false */
  readonly terminal?: boolean
  readonly signal?: AbortSignal
}

/** A program that runs in a container. */
export interface Exec {
  readonly output: AsyncIterable<LogPiece>
  /** After `output` has ended. */
  findExitCode(): Promise<number>
  /** Sets the size of its terminal. Nothing happens when it has none, or has ended. */
  resize(size: TerminalSize): Promise<void>
}

export interface EventQuery {
  readonly signal: AbortSignal
  /** With those that happened since, in milliseconds since 1970: a little overlap, so that none is missed. */
  readonly sinceMs: number
  readonly onOpen?: () => void
}

export interface ContainerStreams {
  /** Ends with the signal, and throws when the runtime has gone. `onOpen` is called when nothing is missed from now on. */
  events(options: EventQuery): AsyncIterable<RuntimeEvent>
  logs(container: string, query?: LogQuery): AsyncIterable<LogPiece>
  exec(container: string, plan: ExecPlan): Promise<Exec>
}

export interface PullOptions {
  /** What the runtime says meanwhile: a few sentences in a minute, not one per layer and second. @default not reported */
  readonly onProgress?: (note: string) => void
  readonly signal?: AbortSignal
}

export interface ContainerRuntime {
  /** Answers if the runtime does. */
  findVersion(): Promise<RuntimeVersion>
  findImage(reference: string): Promise<ImageFacts | undefined>
  pullImage(reference: string, options?: PullOptions): Promise<void>
  /** @throws a RuntimeError `BuildFailed` with the last lines of its output */
  buildImage(plan: BuildPlan, options?: PullOptions): Promise<void>
  createContainer(plan: ContainerPlan): Promise<{ readonly id: string }>
  startContainer(id: string): Promise<void>
  /** Its stop signal, and SIGKILL after the grace period. Succeeds for one that has ended. */
  stopContainer(id: string, options: { readonly graceMs: number }): Promise<void>
  killContainer(id: string, signal: string): Promise<void>
  unpauseContainer(id: string): Promise<void>
  /** Kills it, if it runs. */
  removeContainer(id: string): Promise<void>
  findContainer(nameOrId: string): Promise<ContainerFacts | undefined>
  /** Containers in any state that have all these labels. */
  listContainers(labels: Labels): Promise<readonly ContainerSummary[]>
  createNetwork(plan: NetworkPlan): Promise<void>
  findNetwork(name: string): Promise<NetworkFacts | undefined>
  listNetworks(labels: Labels): Promise<readonly NetworkFacts[]>
  removeNetwork(name: string): Promise<void>
  /** Succeeds for a container that is connected. */
  connectNetwork(name: string, container: string, aliases: readonly string[]): Promise<void>
  /** Succeeds for a container, or a network, that does not exist or is not connected. */
  disconnectNetwork(name: string, container: string): Promise<void>
  createVolume(plan: VolumePlan): Promise<void>
  findVolume(name: string): Promise<VolumeFacts | undefined>
  listVolumes(labels: Labels): Promise<readonly VolumeFacts[]>
  removeVolume(name: string): Promise<void>
  readonly streams: ContainerStreams
}

/** Whether an error is a failure of this kind. */
export function isRuntimeError(error: unknown, code: RuntimeErrorCode): error is RuntimeError {
  return error instanceof RuntimeError && error.code === code
}

const words: readonly (readonly [RegExp, RuntimeErrorCode])[] = [
  [
    /port is already allocated|address already in use|cannot listen on the (?:tcp|udp) port|ports are not available/i,
    'PortTaken',
  ],
  [
    /executable file not found|exec format error|no such file or directory.*(?:exec|runc|crun)|(?:runc|crun|exec).*(?:no such file or directory|permission denied)/i,
    'CommandNotFound',
  ],
]

/** Why a container cannot be started: runtimes have one status for everything, so their sentence is read. */
export function startFailure(message: string): RuntimeError {
  const code = words.find(([pattern]) => pattern.test(message))?.[1] ?? 'Failed'
  return new RuntimeError(code, message)
}

/** Why an image cannot be pulled, from the sentence of the registry or the runtime. */
export function pullFailure(reference: string, message: string): RuntimeError {
  const text = `cannot pull ${reference}: ${message.trim()}`
  if (/denied|unauthorized|forbidden|authentication required|no basic auth|\b40[13]\b/i.test(message))
    return new RuntimeError('PullDenied', `${text}. Log in to the registry, or correct spec.image`)
  if (
    /not found|manifest unknown|name unknown|no such image|does not exist|\b404\b|did not resolve|short-name/i.test(
      message,
    )
  )
    return new RuntimeError('ImageNotFound', `${text}. Correct spec.image`)
  return new RuntimeError('PullFailed', text)
}

/** What was asked for is so already, because of an earlier call or of another program. */
export async function ignoring(call: Promise<unknown>, words: RegExp): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof RuntimeError && words.test(error.message))) throw error
  }
}

/** What runtimes say of a container that is in a network already, or not in it. */
export const [connectedWords, disconnectedWords] = [
  /already (?:exists|connected|attached)|already in network|is already/i,
  /not connected|no such (?:container|network)|network not found|not found/i,
]

/** A container that has ended meanwhile cannot be signalled. */
export async function ignoringEnd(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    const isOver =
      error instanceof RuntimeError &&
      (error.code === 'NotFound' ||
        error.code === 'Conflict' ||
        /not running|is not paused|not paused|can only kill running/i.test(error.message))
    if (!isOver) throw error
  }
}
