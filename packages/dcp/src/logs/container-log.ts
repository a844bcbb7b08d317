/**
 * The log of a container, which its runtime keeps.
 *
 * A runtime gives the whole log from its beginning, with or without what is still to come. So a reader that wants to know
 * where "now" is (for a tail) reads what there is first, and then the rest of a second reading that follows.
 */
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { onAbort, sleep, type Clock } from 'evenkeel/unstable/base'
import type { FollowOptions } from './file-log.ts'
import { caughtUp, type LogBytes } from './log-lines.ts'

interface ContainerLogRequest {
  readonly source: 'stdout' | 'stderr'
  readonly follow: boolean
  readonly signal: AbortSignal
}

/** Where logs of containers come from: lines with their time in front. */
export interface ContainerLogs {
  read(containerId: string, request: ContainerLogRequest): AsyncIterable<Uint8Array>
}

interface ContainerLogOptions extends FollowOptions {
  readonly source: 'stdout' | 'stderr'
  /** Yield {@link caughtUp} where the log was when it was opened. */
  readonly marksNow: boolean
}

/** How often a reader looks whether the container has ended. */
const intervalMs = 250
/** A runtime may still hold lines when a container has ended. */
const quietMs = 1_500

/** The bytes of a container's log. */
export async function* readContainerLog(
  logs: ContainerLogs,
  containerId: string,
  { source, follow, signal, marksNow, ...rest }: ContainerLogOptions,
): LogBytes {
  let known = 0
  if (!follow || marksNow) {
    for await (const piece of logs.read(containerId, { source, follow: false, signal })) {
      known += piece.length
      yield piece
    }
    yield caughtUp
    if (!follow) return
  }
  const ended = new AbortController()
  const watch = new QuietEnd(rest, ended)
  const stop = onAbort(signal, (reason) => {
    ended.abort(reason)
  })
  try {
    for await (const piece of logs.read(containerId, { source, follow: true, signal: ended.signal })) {
      watch.touch()
      if (piece.length > known) yield piece.subarray(known)
      known = Math.max(0, known - piece.length)
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error
  } finally {
    stop()
    ended.abort(new Error('the log was read'))
    await watch.done
  }
}

/** Ends a reading once the log is over and nothing has come for a moment. */
class QuietEnd {
  readonly done: Promise<void>
  readonly #clock: Clock
  #lastMs: number

  constructor({ clock, isOver }: Pick<FollowOptions, 'clock' | 'isOver'>, ended: AbortController) {
    this.#clock = clock
    this.#lastMs = clock.monotonic()
    this.done = this.#run(isOver, ended)
  }

  touch(): void {
    this.#lastMs = this.#clock.monotonic()
  }

  async #run(isOver: () => boolean, ended: AbortController): Promise<void> {
    while (!ended.signal.aborted) {
      if (isOver() && this.#clock.monotonic() - this.#lastMs >= quietMs)
        ended.abort(new Error('the container has ended'))
      await sleep(this.#clock, intervalMs, { signal: ended.signal }).catch(() => undefined)
    }
  }
}

/** The logs of Docker or Podman, through their command. */
export function runtimeLogs(command: string): ContainerLogs {
  return {
    async *read(containerId, { source, follow, signal }) {
      const words = ['container', 'logs', '--timestamps', ...(follow ? ['--follow'] : []), containerId]
      const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], signal })
      const [wanted, other] = source === 'stdout' ? [child.stdout, child.stderr] : [child.stderr, child.stdout]
      // Unread output would stop the command.
      other.resume()
      // An aborted command, and one that does not exist, also ends its streams.
      const failure = new Promise<Error | undefined>((resolve) => {
        child.once('error', resolve)
        child.once('close', () => {
          resolve(undefined)
        })
      })
      try {
        yield* wanted as AsyncIterable<Uint8Array>
        const error = await failure
        if (error && !signal.aborted) throw new Error(`${command} cannot show logs: ${error.message}`, { cause: error })
      } finally {
        child.kill()
      }
    },
  }
}

/** The logs of a runtime behind a Unix socket, as the tests of dcp have one. */
export function socketLogs(socketPath: string): ContainerLogs {
  return {
    async *read(containerId, { source, follow, signal }) {
      const query = new URLSearchParams({ source, follow: String(follow), timestamps: 'true' })
      const path = `/apis/usvc-dev.developer.microsoft.com/v1/containers/${encodeURIComponent(containerId)}/log?${query}`
      const body = await getBody({ socketPath, path, headers: { 'trace-id': containerId }, signal })
      yield* body as AsyncIterable<Uint8Array>
    },
  }
}

interface SocketRequest {
  readonly socketPath: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

function getBody(options: SocketRequest): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, host: 'localhost' }, (response) => {
      if (response.statusCode === 200) {
        resolve(response)
        return
      }
      response.resume()
      reject(new Error(`the container runtime answered ${response.statusCode} for ${options.path}`))
    })
    sent.once('error', reject)
    sent.end()
  })
}
