/**
 * Which container runtime of this machine is used: the first that answers.
 *
 *   1  DOCKER_HOST, CONTAINER_HOST           unix:// is a socket; anything else is left to the executable
 *   2  /var/run/docker.sock, ~/.docker/run/docker.sock
 *   3  $XDG_RUNTIME_DIR/podman/podman.sock, /run/podman/podman.sock
 *   4  podman, docker in PATH                Podman first: it needs no daemon
 *
 * Invariant: nothing is asked before an object needs a runtime; a runtime that is found is asked again each time.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Clock } from 'evenkeel/unstable/base'
import { CliRuntime } from './cli-runtime.ts'
import { RuntimeError, type ContainerRuntime, type RuntimeVersion } from './container-runtime.ts'
import { EngineRuntime } from './engine-runtime.ts'

/** A runtime, and how another program finds it. */
export interface FoundRuntime {
  readonly runtime: ContainerRuntime
  /** `socket PATH` or `cli EXECUTABLE`; empty for one that only this program can reach. */
  readonly endpoint: string
}

interface FindRuntimeOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** @default the files of this machine */
  readonly exists?: (path: string) => boolean
  /** Only this one. @default the first that answers */
  readonly wanted?: RuntimeVersion['name'] | undefined
}

const unixPrefix = 'unix://'

/** The runtimes of this machine, in the order in which they are asked. */
export function runtimeCandidates({ env, clock, exists = existsSync }: FindRuntimeOptions): readonly FoundRuntime[] {
  const { DOCKER_HOST, CONTAINER_HOST, HOME, XDG_RUNTIME_DIR } = env
  const named = [DOCKER_HOST, CONTAINER_HOST].flatMap((host) =>
    host?.startsWith(unixPrefix) ? [host.slice(unixPrefix.length)] : [],
  )
  const usual = [
    '/var/run/docker.sock',
    ...(HOME === undefined ? [] : [join(HOME, '.docker/run/docker.sock')]),
    ...(XDG_RUNTIME_DIR === undefined ? [] : [join(XDG_RUNTIME_DIR, 'podman/podman.sock')]),
    '/run/podman/podman.sock',
  ].filter(exists)
  // A host that was named is the one that is meant.
  const hasOther = named.length === 0 && [DOCKER_HOST, CONTAINER_HOST].some((host) => host !== undefined && host !== '')
  const sockets = named.length > 0 ? named : hasOther ? [] : usual
  const executables =
    named.length > 0 ? [] : ['podman', 'docker'].flatMap((name) => findExecutable(name, { env, exists }) ?? [])
  return [
    ...sockets.map((socketPath) => ({
      runtime: new EngineRuntime({ socketPath, clock }),
      endpoint: `socket ${socketPath}`,
    })),
    ...executables.map((executable) => ({
      runtime: new CliRuntime({ executable, env }),
      endpoint: `cli ${executable}`,
    })),
  ]
}

/** The first runtime that answers. @throws a RuntimeError `Unavailable` that names those that were asked */
export async function findRuntime(options: FindRuntimeOptions): Promise<FoundRuntime> {
  const problems: string[] = []
  for (const candidate of runtimeCandidates(options)) {
    try {
      const { name } = await candidate.runtime.findVersion()
      if (options.wanted === undefined || name === options.wanted) return candidate
      problems.push(`${candidate.endpoint} is ${name}, and ${options.wanted} is wanted`)
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new RuntimeError(
    'Unavailable',
    problems.length === 0
      ? 'there is no container runtime on this machine: install Podman or Docker, or set DOCKER_HOST'
      : `no container runtime answers: ${problems.join('; ')}`,
  )
}

function findExecutable(
  name: string,
  { env, exists }: { readonly env: FindRuntimeOptions['env']; readonly exists: (path: string) => boolean },
): string | undefined {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(exists)
}
