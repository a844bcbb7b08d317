/**
 * A command at an object, over a WebSocket: `exec` and `attach` of Pods, and of every kind that has them.
 *
 *   client ──stdin, sizes──▶ server
 *   client ◀─stdout, stderr── server
 *          ◀─outcome, once──          `result`
 *
 * Invariants: at most 64 KiB wait in each direction, then the other side waits; `result` settles exactly once, however the
 * connection ends; after `close` nothing is open. Read both outputs, or ask for one only: one that is not read holds up
 * the other.
 */
import { fromStatus, isJsonObject, parseJson, type KubeObject, type Status } from '#api'
import { deferred, onAbort, type Random } from '#base'
import {
  channelProtocols,
  channels,
  ChannelStreams,
  isWebSocketAccepted,
  webSocketRequestFields,
  type ChannelProtocol,
  type WireResponse,
  type WireUpgrade,
} from '#wire'
import { ConnectionError } from './connection-error.ts'
import { locate, type ClientCore } from './core.ts'
import { formatTarget, type CallOptions } from './request-options.ts'
import { nameOf } from './resource.ts'

/** What to run, and which streams to open. */
export interface RemoteCommandOptions extends CallOptions {
  /** The program and its arguments; no shell runs it. @default none, as for `attach` */
  readonly command?: readonly string[]
  /** @default the only one, or that of the kind */
  readonly container?: string
  /** @default false */
  readonly stdin?: boolean
  /** @default true */
  readonly stdout?: boolean
  /** @default true without a terminal */
  readonly stderr?: boolean
  /** Runs it in a terminal, whose output is `stdout`. @default false */
  readonly tty?: boolean
}

/** A command that runs at an object. */
export interface RemoteCommand {
  readonly stdin: {
    /** Resolves when there is room for more. Rejects when the connection has ended. */
    write(bytes: Uint8Array): Promise<void>
    /** Ends the input. A server of the protocol v4 does not notice. */
    end(): void
  }
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** The terminal has another size, in characters. */
  readonly resize: (size: { readonly width: number; readonly height: number }) => void
  /** Rejects with an `ApiError` when the server refuses, or a `ConnectionError` when it ends early. */
  readonly result: Promise<{ readonly exitCode: number }>
  /** Disconnects, which ends a command of `exec`. */
  readonly close: () => void
}

/** @throws {ApiError} when the server refuses; {ConnectionError} when it speaks no WebSocket */
export async function runRemoteCommand(
  core: ClientCore,
  object: KubeObject,
  { subresource, options }: { readonly subresource: string; readonly options: RemoteCommandOptions },
): Promise<RemoteCommand> {
  const { signal, timeoutMs } = options
  const { resource, location } = await locate(core, object, { key: nameOf(object), signal, subresource })
  const fields = webSocketRequestFields(randomBytes(core.random, 16), channelProtocols)
  const { response, close } = await core.rest.upgrade({
    method: 'GET',
    target: `${formatTarget(resource, location)}?${queryOf(options)}`,
    accept: '*/*',
    headers: fields,
    signal,
    timeoutMs,
  })
  const protocol = channelProtocols.find((each) => each === response.headers['sec-websocket-protocol'])
  const { upgrade, body } = response
  if (!upgrade || !isStreamed(body) || !protocol || !isWebSocketAccepted(fields, response.headers)) {
    close()
    throw new ConnectionError(
      `the server answered ${subresource} with ${response.status} instead of a WebSocket: it, or a proxy in between, speaks none`,
      { problem: 'garbled' },
    )
  }
  return new Connection({ upgrade, body, protocol, close, signal, random: core.random })
}

function queryOf({
  command = [],
  container,
  stdin = false,
  stdout = true,
  tty = false,
  ...rest
}: RemoteCommandOptions) {
  const { stderr = !tty } = rest
  const query = new URLSearchParams()
  for (const word of command) query.append('command', word)
  if (container !== undefined) query.set('container', container)
  for (const [name, value] of Object.entries({ stdin, stdout, stderr, tty })) query.set(name, String(value))
  return query.toString()
}

interface ConnectionParts {
  readonly upgrade: WireUpgrade
  readonly body: AsyncIterable<Uint8Array>
  readonly protocol: ChannelProtocol
  readonly signal: AbortSignal | undefined
  readonly random: Random
  close(): void
}

class Connection implements RemoteCommand {
  readonly stdin: RemoteCommand['stdin']
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  readonly result: RemoteCommand['result']
  // Callers take these out of the object.
  readonly resize: RemoteCommand['resize']
  readonly close: RemoteCommand['close']
  readonly #parts: ConnectionParts
  readonly #streams: ChannelStreams
  readonly #result = deferred<{ readonly exitCode: number }>()
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #stopListening: () => void

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#pieces = parts.body[Symbol.asyncIterator]()
    this.#streams = new ChannelStreams({
      side: 'client',
      protocol: parts.protocol,
      reads: [channels.stdout, channels.stderr],
      makeMask: () => randomBytes(parts.random, 4),
      onMessage: (channel, message) => {
        if (channel === channels.error) this.#settle(message)
      },
    })
    this.stdin = {
      write: (bytes) => this.#streams.write(channels.stdin, bytes),
      end: () => {
        this.#streams.endChannel(channels.stdin)
      },
    }
    this.stdout = this.#streams.read(channels.stdout)
    this.stderr = this.#streams.read(channels.stderr)
    this.#stopListening = onAbort(parts.signal, (reason) => {
      this.#end(reason as Error)
    })
    this.resize = ({ width, height }) => {
      this.#streams.post(channels.resize, Buffer.from(JSON.stringify({ Width: width, Height: height })))
    }
    this.close = () => {
      this.#end(new ConnectionError('the connection was closed by its owner', { problem: 'connect' }))
    }
    this.result = this.#result.promise
    // A caller that only reads the output must not be ended by it.
    this.result.catch(() => undefined)
    void this.#receive()
    void this.#send()
  }

  async #receive(): Promise<void> {
    const early = (cause?: unknown): ConnectionError =>
      new ConnectionError('the connection ended before the command did', { problem: 'reset', cause })
    try {
      for (;;) {
        const { done, value } = await this.#pieces.next()
        if (done === true) break
        if (await this.#take(value)) break
      }
      this.#end(early())
    } catch (error) {
      this.#end(early(error))
    }
  }

  /** Returns whether the server has ended the connection. */
  async #take(bytes: Uint8Array): Promise<boolean> {
    const { reply, isOver = false, ready } = this.#streams.receive(bytes)
    if (reply) this.#parts.upgrade.receive(reply)
    await ready
    return isOver
  }

  async #send(): Promise<void> {
    for await (const frame of this.#streams.frames) {
      const { reply, ready } = this.#parts.upgrade.receive(frame)
      // In process the answer of the server comes here.
      if (reply) await this.#take(reply)
      await ready
    }
  }

  /** The outcome. Output that came before it is still read. */
  #settle(message: Buffer): void {
    const status = statusIn(message)
    const { status: word, details } = status
    const exit = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
    if (word === 'Success') this.#result.resolve({ exitCode: 0 })
    else if (status.reason === 'NonZeroExitCode' && /^\d+$/.test(exit ?? ''))
      this.#result.resolve({ exitCode: Number(exit) })
    else this.#result.reject(fromStatus(status))
  }

  #end(error: Error): void {
    this.#result.reject(error)
    this.#stopListening?.()
    this.#streams.fail(error)
    this.#parts.close()
    Promise.resolve(this.#pieces.return?.()).catch(() => undefined)
  }
}

function statusIn(message: Buffer): Partial<Status> {
  try {
    const value: unknown = parseJson(message.toString())
    if (isJsonObject(value)) return value as Partial<Status>
  } catch {
    // Reported below, like anything else that is no object.
  }
  return { status: 'Failure', message: `the outcome is no Status: ${JSON.stringify(message.toString().slice(0, 80))}` }
}

function isStreamed(body: WireResponse['body']): body is AsyncIterable<Uint8Array> {
  return body !== undefined && Symbol.asyncIterator in body
}

function randomBytes(random: Random, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.uint32() & 0xff)
}
