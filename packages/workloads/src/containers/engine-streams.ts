/** Events, logs and programs in containers by the Engine API: answers that go on. */
import type { Socket } from 'node:net'
import { onAbort } from 'evenkeel/unstable/base'
import {
  RuntimeError,
  type ContainerStreams,
  type EventQuery,
  type Exec,
  type ExecPlan,
  type Labels,
  type LogPiece,
  type LogQuery,
  type RuntimeEvent,
} from './container-runtime.ts'
import type { EngineAnswer, EngineHttp } from './engine-http.ts'
import type { EngineContainer } from './engine-messages.ts'
import { readFrames, readJsonLines, withoutFrames } from './log-frames.ts'

interface EngineStreamsOptions {
  readonly http: EngineHttp
  /** With the version of the API. */
  readonly pathOf: (path: string) => Promise<string>
}

interface EngineEvent {
  readonly Type?: string
  readonly Action?: string
  readonly status?: string
  readonly id?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Labels }
}

export class EngineStreams implements ContainerStreams {
  readonly #options: EngineStreamsOptions

  constructor(options: EngineStreamsOptions) {
    this.#options = options
  }

  async *events({ signal, sinceMs, onOpen }: EventQuery): AsyncGenerator<RuntimeEvent> {
    const { http, pathOf } = this.#options
    const filters = JSON.stringify({ type: ['container'] })
    const path = await pathOf('/events')
    // Some runtimes send the head of the answer with the first event: the request itself counts as open.
    const asked = http.stream({ method: 'GET', path, query: { filters, since: (sinceMs / 1000).toFixed(0) }, signal })
    onOpen?.()
    for await (const line of untilAborted(linesOf(asked), signal)) {
      const { Action, status, Actor, id } = line as EngineEvent
      yield { action: Action ?? status ?? '', containerId: Actor?.ID ?? id ?? '', labels: Actor?.Attributes ?? {} }
    }
    if (!signal.aborted) throw new RuntimeError('Unavailable', `${http.socketPath}: the stream of events has ended`)
  }

  async *logs(container: string, query: LogQuery = {}): AsyncGenerator<LogPiece> {
    const { http, pathOf } = this.#options
    const { follow = false, tailLines, sinceMs, timestamps = false, signal } = query
    const hasTerminal = await this.#hasTerminal(container)
    const { body } = await http.stream({
      method: 'GET',
      path: await pathOf(`/containers/${container}/logs`),
      query: {
        stdout: true,
        stderr: true,
        follow,
        timestamps,
        tail: tailLines ?? 'all',
        since: sinceMs === undefined ? undefined : (sinceMs / 1000).toFixed(3),
      },
      ...(signal && { signal }),
    })
    yield* untilAborted(hasTerminal ? withoutFrames(body) : readFrames(body), signal)
  }

  async exec(container: string, plan: ExecPlan): Promise<Exec> {
    const { http, pathOf } = this.#options
    const { command, env = {}, workingDir, input, terminal = false, signal } = plan
    const { Id } = await http.json<{ readonly Id: string }>({
      method: 'POST',
      path: await pathOf(`/containers/${container}/exec`),
      body: {
        Cmd: command,
        Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        ...(workingDir !== undefined && { WorkingDir: workingDir }),
        AttachStdin: input !== undefined,
        AttachStdout: true,
        AttachStderr: true,
        Tty: terminal,
      },
    })
    const { socket, first } = await http.upgrade({
      method: 'POST',
      path: await pathOf(`/exec/${Id}/start`),
      body: { Detach: false, Tty: terminal },
      timeoutMs: 60_000,
    })
    const stop = onAbort(signal, () => socket.destroy())
    socket.once('close', stop)
    if (input) void feed(socket, input)
    const bytes = bytesOf(socket, first)
    return {
      output: terminal ? withoutFrames(bytes) : readFrames(bytes),
      findExitCode: async () => {
        const { ExitCode } = await http.json<{ readonly ExitCode?: number }>({
          method: 'GET',
          path: await pathOf(`/exec/${Id}/json`),
        })
        return ExitCode ?? -1
      },
      resize: ({ width, height }) => (terminal ? this.#resize(Id, { w: width, h: height }) : Promise.resolve()),
    }
  }

  /** One that has ended has no size. */
  async #resize(exec: string, query: { readonly w: number; readonly h: number }): Promise<void> {
    const { http, pathOf } = this.#options
    try {
      await http.json({ method: 'POST', path: await pathOf(`/exec/${exec}/resize`), query })
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code === 'Unavailable') throw error
    }
  }

  async #hasTerminal(container: string): Promise<boolean> {
    const { http, pathOf } = this.#options
    const found = await http.json<EngineContainer>({
      method: 'GET',
      path: await pathOf(`/containers/${container}/json`),
    })
    return found.Config?.Tty ?? false
  }
}

async function* linesOf(asked: Promise<EngineAnswer>): ReturnType<typeof readJsonLines> {
  yield* readJsonLines((await asked).body)
}

/** The end of a stream that was aborted is no error. */
async function* untilAborted<T>(pieces: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  try {
    yield* pieces
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

async function* bytesOf(socket: Socket, first: Uint8Array): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  yield* socket as AsyncIterable<Uint8Array>
}

/** Writes no faster than the other side reads. */
async function feed(socket: Socket, input: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const bytes of input) {
      if (socket.destroyed) return
      if (!socket.write(bytes)) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
    }
    socket.end()
  } catch {
    socket.destroy()
  }
}
