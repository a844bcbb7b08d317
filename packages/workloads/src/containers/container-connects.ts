/**
 * `exec` and `attach` of a Container: the handlers of its subresources.
 *
 * `exec` runs a command in the container, with the user, the directory and the environment that the runtime gives it. `attach` is
 * refused: a container is made without a terminal and without stdin, so there is nothing to take part in.
 *
 *   client ──stdin, sizes──▶ exec of the runtime ──▶ program in the container
 *   client ◀─stdout, stderr─ exec of the runtime ◀── program in the container ──▶ exit code
 *
 * Invariants: nothing is run in a container that does not run, or that is not ours; the outcome has the exit code of the program.
 * A runtime cannot end a program of an exec: when the client leaves, its stdin ends, and it ends with the container at the latest.
 */
import { ApiError } from 'evenkeel'
import type { ConnectHandler, ConnectRequest, ConnectResult } from 'evenkeel/server'
import type { ContainerObject } from './container-kind.ts'
import { findLastContainer } from './container-log.ts'
import { isRuntimeError, RuntimeError, type ContainerRuntime, type Exec } from './container-runtime.ts'

interface ContainerConnectsOptions {
  /** The runtime of this machine. @throws a RuntimeError `Unavailable` */
  readonly findRuntime: () => Promise<ContainerRuntime>
}

/** What is reported for a program that ended with its container, as shells do for SIGKILL. */
const unknownExit = 137

/** The subresources of a Container for `customResources`. */
export function containerConnects({
  findRuntime,
}: ContainerConnectsOptions): Readonly<Record<'exec' | 'attach', ConnectHandler>> {
  return {
    // Objects that the server hands out fit the schema of their kind.
    exec: (object, request) => execIn(object as unknown as ContainerObject, request, findRuntime),
    attach: ({ metadata: { name } }) =>
      Promise.reject(
        new ApiError('BadRequest', `container ${name} has no terminal and no stdin: use exec, or follow its log`),
      ),
  }
}

async function execIn(
  container: ContainerObject,
  request: ConnectRequest,
  findRuntime: ContainerConnectsOptions['findRuntime'],
): Promise<ConnectResult> {
  const { command, stdin, stdout, stderr, resizes, tty, signal } = request
  if (command.length === 0)
    throw new ApiError('BadRequest', 'exec needs a command: add it to the query as command=PROGRAM&command=ARGUMENT')
  try {
    const runtime = await findRuntime()
    const id = await findRunning(runtime, container)
    const exec = await runtime.streams.exec(id, { command, input: stdin, terminal: tty, signal })
    if (tty) void follow(resizes, exec)
    for await (const { stream, bytes } of exec.output) await (stream === 'stderr' ? stderr : stdout).write(bytes)
    return { exitCode: await exitCodeOf(exec) }
  } catch (error) {
    throw refusalOf(error)
  }
}

/** @throws {ApiError} `BadRequest`, when its last container does not run */
async function findRunning(runtime: ContainerRuntime, { metadata, status }: ContainerObject): Promise<string> {
  const { name, uid } = metadata
  const last = await findLastContainer(runtime, uid)
  if (last?.state === 'running') return last.id
  throw new ApiError(
    'BadRequest',
    last?.state === 'paused'
      ? `container ${name} is paused: unpause it`
      : `container ${name} does not run (${status?.phase ?? 'not started'}): start it first`,
  )
}

async function follow(resizes: ConnectRequest['resizes'], exec: Exec): Promise<void> {
  try {
    for await (const size of resizes) await exec.resize(size)
  } catch {
    // The person has left, or the runtime has gone: the output says which.
  }
}

async function exitCodeOf(exec: Exec): Promise<number> {
  try {
    return await exec.findExitCode()
  } catch (error) {
    // Its container was removed, and its record with it.
    if (isRuntimeError(error, 'NotFound')) return unknownExit
    throw error
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof RuntimeError)) return error
  const { code, message } = error
  if (code === 'Unavailable')
    return new ApiError('ServiceUnavailable', `the container runtime does not answer: ${message}`)
  return new ApiError('BadRequest', `the command cannot be started (${code}): ${message}`)
}
