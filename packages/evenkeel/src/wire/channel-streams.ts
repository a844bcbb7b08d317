/**
 * The streams of a command over one WebSocket, as Kubernetes has them for `exec` and `attach`: both ends use this.
 *
 * The first byte of a message is its channel.
 *
 *   00 "ls\n"                          stdin, from the client
 *   01 "README\n"                      stdout, 02 is stderr
 *   04 {"Width":80,"Height":24}        the client's terminal has another size
 *   ff 00                              v5 only: stdin has ended
 *   03 {"kind":"Status",…}             the outcome, once, then the WebSocket is closed
 *
 * Invariants: of what arrives at most `bytesMax` and one read of the socket are held, then `receive` names a promise to
 * wait for; of what is sent at most `bytesMax` and one write are held, then writers wait. Resizes and the outcome are not
 * held here. After the end nothing waits: readers end, and writers fail.
 */
import { deferred, type Deferred } from '#base'
import { WebSocketReader, type WebSocketEffect } from './websocket-reader.ts'
import { webSocketMessage } from './websocket.ts'

export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

/** The preferred one first. */
export const channelProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const
export type ChannelProtocol = (typeof channelProtocols)[number]

/** Says in v5 that the channel in the next byte has ended. */
const endOfChannel = 255
/** Longer pieces become several messages. */
const messageBytes = 32_768

interface ChannelStreamsOptions {
  readonly side: 'client' | 'server'
  readonly protocol: ChannelProtocol
  /** The channels that are read as streams; the data of others is dropped. */
  readonly reads: readonly number[]
  /** Takes a whole message of the channels `error` and `resize`. */
  readonly onMessage: (channel: number, message: Buffer) => void
  /** Four random bytes for each message of a client. */
  readonly makeMask?: () => Uint8Array
  /** @default 65_536 */
  readonly bytesMax?: number
}

export class ChannelStreams {
  readonly #options: ChannelStreamsOptions
  readonly #bytesMax: number
  readonly #reader: WebSocketReader
  readonly #reads: ReadonlyMap<number, ByteQueue>
  readonly #frames = new ByteQueue(() => {
    this.#onSent()
  })
  #hasRoom: Deferred<void> | undefined
  #canSend: Deferred<void> | undefined
  #failure: Error | undefined

  constructor(options: ChannelStreamsOptions) {
    const { side, reads, makeMask, bytesMax = 65_536 } = options
    this.#options = options
    this.#bytesMax = bytesMax
    this.#reads = new Map(
      reads.map((channel) => [
        channel,
        new ByteQueue(() => {
          this.#onRead()
        }),
      ]),
    )
    this.#reader = new WebSocketReader({
      from: side === 'server' ? 'client' : 'server',
      makeMask,
      onMessage: (message) => {
        this.#take(message)
      },
    })
  }

  /** The frames to send. One reader; when it leaves, the connection has ended. */
  get frames(): AsyncIterableIterator<Uint8Array> {
    return this.#frames
  }

  /** Takes bytes of the socket. */
  receive(bytes: Uint8Array): WebSocketEffect & { readonly ready?: Promise<unknown> } {
    const effect = this.#reader.receive(bytes)
    if (this.#unread < this.#bytesMax || this.#failure) return effect
    this.#hasRoom ??= deferred()
    return { ...effect, ready: this.#hasRoom.promise }
  }

  /** The bytes of a channel, until it ends. A reader that leaves lets the rest be dropped. */
  read(channel: number): AsyncIterableIterator<Uint8Array> {
    const queue = this.#reads.get(channel)
    if (!queue) throw new RangeError(`channel ${channel} is not read`)
    return queue
  }

  /** Sends bytes on a channel; resolves when there is room for more. Rejects when the connection has ended. */
  write(channel: number, bytes: Uint8Array): Promise<void> {
    const writing = this.#write(channel, bytes)
    // A caller that does not wait for it must not end the program.
    writing.catch(() => undefined)
    return writing
  }

  async #write(channel: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += messageBytes) {
      if (this.#failure) throw this.#failure
      this.post(channel, bytes.subarray(at, at + messageBytes))
      if (this.#frames.size >= this.#bytesMax) await (this.#canSend ??= deferred()).promise
    }
    if (this.#failure) throw this.#failure
  }

  /** Sends a short message without waiting. */
  post(channel: number, message: Uint8Array): void {
    this.#send(Buffer.concat([Uint8Array.of(channel), message]), 'binary')
  }

  /** Says that a channel has ended; the protocol v4 has no word for it. */
  endChannel(channel: number): void {
    if (this.#options.protocol === 'v5.channel.k8s.io') this.#send(Uint8Array.of(endOfChannel, channel), 'binary')
  }

  /** Shows whether the other side is still there: a dead connection fails. */
  ping(): void {
    this.#send(new Uint8Array(), 'ping')
  }

  /** Sends what waits, and ends. */
  end(): void {
    this.fail(new Error('the connection has ended'))
  }

  /** Ends the connection; readers end, writers fail with the error. */
  fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#frames.end()
    for (const queue of this.#reads.values()) queue.end()
    this.#onRead()
    this.#canSend?.reject(error)
  }

  #send(payload: Uint8Array, type: 'binary' | 'ping'): void {
    this.#frames.push(webSocketMessage(payload, type, this.#options.makeMask?.()))
  }

  get #unread(): number {
    let bytes = 0
    for (const queue of this.#reads.values()) bytes += queue.size
    return bytes
  }

  #take(message: Buffer): void {
    const [channel = endOfChannel] = message
    const rest = message.subarray(1)
    if (channel === endOfChannel) {
      if (this.#options.protocol === 'v5.channel.k8s.io') this.#reads.get(rest[0] ?? endOfChannel)?.end()
    } else if (channel === channels.error || channel === channels.resize) this.#options.onMessage(channel, rest)
    else if (rest.length > 0) this.#reads.get(channel)?.push(rest)
  }

  #onRead(): void {
    if (!this.#hasRoom || (this.#unread >= this.#bytesMax && !this.#failure)) return
    this.#hasRoom.resolve()
    this.#hasRoom = undefined
  }

  #onSent(): void {
    if (this.#frames.isLeft) this.fail(new Error('the other side has disconnected'))
    if (!this.#canSend || this.#frames.size >= this.#bytesMax) return
    this.#canSend.resolve()
    this.#canSend = undefined
  }
}

/** Bytes from a writer that never waits to one reader. The owner of several queues bounds them. */
class ByteQueue implements AsyncIterableIterator<Uint8Array> {
  readonly #onTaken: () => void
  readonly #pieces: Uint8Array[] = []
  #size = 0
  #isEnded = false
  #isLeft = false
  #waiting: Deferred<IteratorResult<Uint8Array>> | undefined

  /** @param onTaken called after each piece that was taken, and when the reader leaves */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken
  }

  get size(): number {
    return this.#size
  }

  /** The reader has left. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  push(piece: Uint8Array): void {
    if (this.#isEnded) return
    if (this.#waiting) {
      this.#answer({ done: false, value: piece })
      return
    }
    this.#pieces.push(piece)
    this.#size += piece.length
  }

  end(): void {
    this.#isEnded = true
    if (this.#waiting) this.#answer({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#pieces.shift()
    if (value) {
      this.#size -= value.length
      this.#onTaken()
      return Promise.resolve({ done: false, value })
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    this.#waiting ??= deferred()
    return this.#waiting.promise
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#pieces.length = 0
    this.#size = 0
    this.#isLeft = true
    this.end()
    this.#onTaken()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #answer(result: IteratorResult<Uint8Array>): void {
    this.#waiting?.resolve(result)
    this.#waiting = undefined
  }
}
