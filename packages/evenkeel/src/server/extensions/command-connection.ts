/**
 * One connection to a command, on the side of the server: its streams, and its one outcome.
 *
 *   open ──finish(outcome)──▶ Status sent, ended
 *     └──disconnect()───────▶ ended
 *
 * Invariants: the first end wins; nothing is held after it. A silent connection is pinged, so that a client that has
 * vanished is noticed. While stdin waits for the command nothing is read, so the end of the connection is not seen
 * either: only a ping that cannot be delivered shows it, and there is one each second.
 */
import { toStatus, type JsonObject } from '#api'
import type { Clock } from '#base'
import { channels, ChannelStreams, type ChannelProtocol, type WireUpgrade } from '#wire'
import type { User } from '../request-context.ts'
import { LatestValue } from './latest-value.ts'

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

/** Where a handler writes output. */
export interface OutputWriter {
  /** Resolves when there is room for more. Rejects when the client has left. */
  write(bytes: Uint8Array): Promise<void>
}

/** A request to run a command at an object, or to attach to it. */
export interface ConnectRequest {
  /** The program and its arguments; empty when none is given, as for `attach`. */
  readonly command: readonly string[]
  /** Empty when none is named. */
  readonly container: string
  /** The client wants a terminal. */
  readonly tty: boolean
  /** What the client sends; it ends at once when the client did not ask for `stdin`. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Bytes are dropped when the client did not ask for `stdout`. */
  readonly stdout: OutputWriter
  /** Bytes are dropped when the client did not ask for `stderr`; with a terminal there is none. */
  readonly stderr: OutputWriter
  /** The sizes of the client's terminal; the newest only when the reader is slow. */
  readonly resizes: AsyncIterable<TerminalSize>
  readonly user: User
  /** Aborts when the client leaves and when the server stops. */
  readonly signal: AbortSignal
}

/** How a command ended. */
export interface ConnectResult {
  readonly exitCode: number
}

/** The query, with the names and defaults of Kubernetes. */
export interface ConnectOptions {
  readonly command: readonly string[]
  readonly container: string
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

interface CommandConnectionOptions extends Pick<ConnectOptions, 'stdin' | 'tty'> {
  readonly protocol: ChannelProtocol
  readonly clock: Clock
}

const pingMs = { silent: 15_000, held: 1000 }
/** What `stty` can show; larger numbers are mistakes. */
const sizeMax = 65_535

export class CommandConnection {
  readonly #streams: ChannelStreams
  readonly #sizes = new LatestValue<TerminalSize>()
  readonly #clock: Clock
  #cancelPing: () => void = () => undefined
  #onEnd: (() => void) | undefined
  #isHeld = false
  #isOver = false

  constructor({ stdin, tty, protocol, clock }: CommandConnectionOptions) {
    this.#clock = clock
    this.#streams = new ChannelStreams({
      side: 'server',
      protocol,
      reads: stdin ? [channels.stdin] : [],
      onMessage: (channel, message) => {
        const size = tty && channel === channels.resize ? sizeIn(message) : undefined
        if (size) this.#sizes.set(size)
      },
    })
    this.#ping()
  }

  /**
   * What is sent, and when to begin: with the first frame that is wanted, so that nothing runs for a response that cannot be
   * sent.
   */
  frames(begin: () => void): AsyncIterable<Uint8Array> {
    const { frames } = this.#streams
    let hasBegun = false
    const iterator: AsyncIterator<Uint8Array> = {
      next: () => {
        if (!hasBegun) begin()
        hasBegun = true
        return frames.next()
      },
      return: () => {
        this.disconnect()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  /** What the handler gets. */
  request({
    command,
    container,
    tty,
    stdin,
    stdout,
    stderr,
    ...who
  }: ConnectOptions & { readonly user: User; readonly signal: AbortSignal }): ConnectRequest {
    const writer = (channel: number, isWanted: boolean): OutputWriter => ({
      write: (bytes) => (isWanted ? this.#streams.write(channel, bytes) : Promise.resolve()),
    })
    return {
      command,
      container,
      tty,
      ...who,
      stdin: stdin ? this.#streams.read(channels.stdin) : nothing(),
      stdout: writer(channels.stdout, stdout),
      stderr: writer(channels.stderr, stderr),
      resizes: this.#sizes,
    }
  }

  receive(bytes: Uint8Array): ReturnType<WireUpgrade['receive']> {
    const effect = this.#streams.receive(bytes)
    if (effect.ready) this.#hold(effect.ready)
    return effect
  }

  /** Called once when the connection has ended. */
  onEnd(call: () => void): void {
    if (this.#isOver) call()
    else this.#onEnd = call
  }

  /** Sends the outcome: a result, or an error. */
  finish(outcome: unknown): void {
    if (this.#isOver) return
    this.#streams.post(channels.error, Buffer.from(JSON.stringify(statusOf(outcome))))
    this.disconnect()
  }

  disconnect(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelPing()
    this.#sizes.end()
    this.#streams.end()
    this.#onEnd?.()
  }

  /** Nothing is read until there is room. */
  #hold(ready: Promise<unknown>): void {
    if (this.#isHeld || this.#isOver) return
    this.#isHeld = true
    this.#cancelPing()
    this.#ping()
    void ready.then(() => {
      this.#isHeld = false
    })
  }

  #ping(): void {
    this.#cancelPing = this.#clock.after(this.#isHeld ? pingMs.held : pingMs.silent, () => {
      this.#streams.ping()
      this.#ping()
    })
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** `{"Width":80,"Height":24}`; undefined for everything else. */
function sizeIn(message: Buffer): TerminalSize | undefined {
  try {
    const { Width: width, Height: height } = JSON.parse(message.toString()) as Record<string, unknown>
    return isLength(width) && isLength(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

function isLength(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= sizeMax
}

/** The Status of an outcome, as Kubernetes sends it. */
function statusOf(outcome: unknown): JsonObject {
  if (!isResult(outcome)) return toStatus(outcome) as unknown as JsonObject
  const { exitCode } = outcome
  if (exitCode === 0) return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

function isResult(outcome: unknown): outcome is ConnectResult {
  return typeof outcome === 'object' && outcome !== null && 'exitCode' in outcome && Number.isInteger(outcome.exitCode)
}
