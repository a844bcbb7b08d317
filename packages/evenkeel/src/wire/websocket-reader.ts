/**
 * The frames that arrive on a WebSocket: answers pings and closure, and passes whole messages on.
 *
 *   01 82 mask "he" · 89 80 mask · 80 83 mask "llo"      a text in two frames, with a ping in between: "hello"
 *
 * Without a receiver messages are dropped while they arrive, and nothing of them is held. With one, at most
 * `messageBytesMax` bytes of one message are held; a longer message ends the connection with the code 1009.
 *
 * Frames of a client are masked and those of a server are not. The other form ends the connection, as the RFC demands.
 */
import { opcodes, webSocketClose, webSocketMessage } from './websocket.ts'

/** What to do after bytes of the other side. */
export interface WebSocketEffect {
  /** Bytes to send at once. */
  readonly reply?: Uint8Array
  /** The other side has closed the connection, or does not follow the protocol. */
  readonly isOver?: boolean
}

interface WebSocketReaderOptions {
  /** Whose frames are read. @default 'client' */
  readonly from?: 'client' | 'server'
  /** Takes each message. @default messages are dropped */
  readonly onMessage?: (message: Buffer) => void
  /** @default 1_048_576 */
  readonly messageBytesMax?: number
  /** Masks what is sent to a server. @default replies are not masked */
  readonly makeMask?: (() => Uint8Array) | undefined
}

const tooLargeCode = 1009

export class WebSocketReader {
  readonly #onMessage: ((message: Buffer) => void) | undefined
  readonly #messageBytesMax: number
  readonly #makeMask: (() => Uint8Array) | undefined
  readonly #isMasked: boolean
  #head = Buffer.alloc(0)
  #opcode = 0
  #isLast = true
  #mask: Uint8Array = Buffer.alloc(4)
  #control: Buffer[] = []
  #message: Buffer[] = []
  #messageBytes = 0
  #isInMessage = false
  #left = 0
  #at = 0
  #isInPayload = false
  #isTooLarge = false

  constructor({ from = 'client', onMessage, messageBytesMax = 1_048_576, makeMask }: WebSocketReaderOptions = {}) {
    this.#isMasked = from === 'client'
    this.#onMessage = onMessage
    this.#messageBytesMax = messageBytesMax
    this.#makeMask = makeMask
  }

  receive(bytes: Uint8Array): WebSocketEffect {
    const replies: Uint8Array[] = []
    for (let at = 0; at < bytes.length || (this.#isInPayload && this.#left === 0);) {
      if (!this.#isInPayload) {
        const taken = this.#takeHead(bytes, at)
        if (taken < 0) return this.#over()
        at += taken
        continue
      }
      at += this.#takePayload(bytes, at)
      if (this.#left > 0) continue
      this.#isInPayload = false
      if (this.#opcode === opcodes.close) return { isOver: true }
      if (this.#opcode === opcodes.ping)
        replies.push(webSocketMessage(Buffer.concat(this.#control), 'pong', this.#makeMask?.()))
      else if (this.#opcode < opcodes.close) this.#endFrame()
    }
    return replies.length === 0 ? {} : { reply: Buffer.concat(replies) }
  }

  #over(): WebSocketEffect {
    return this.#isTooLarge
      ? { reply: webSocketClose(tooLargeCode, this.#makeMask?.()), isOver: true }
      : { isOver: true }
  }

  /** The number of bytes taken; negative for a frame that the other side may not send, such as one with the wrong mask. */
  #takeHead(bytes: Uint8Array, at: number): number {
    const before = this.#head.length
    const beginning = Buffer.concat([this.#head, bytes.subarray(at, at + 2)])
    const isMasked = ((beginning[1] ?? 0) & 0x80) !== 0
    if (beginning.length >= 2 && isMasked !== this.#isMasked) return -1
    const needed = headLength(beginning, this.#isMasked)
    const head = Buffer.concat([this.#head, bytes.subarray(at, at + needed - before)])
    if (head.length < needed) {
      this.#head = head
      return head.length - before
    }
    this.#head = Buffer.alloc(0)
    return this.#startFrame(head) ? needed - before : -1
  }

  #startFrame(head: Buffer): boolean {
    const [first = 0, second = 0] = head
    const short = second & 0x7f
    const length = short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
    this.#opcode = first & 0x0f
    this.#isLast = (first & 0x80) !== 0
    this.#mask = this.#isMasked ? head.subarray(-4) : noMask
    this.#left = length
    this.#at = 0
    this.#control = []
    this.#isInPayload = true
    const isControl = this.#opcode >= 8
    if ((first & 0x70) !== 0 || (isControl && (short > 125 || !this.#isLast))) return false
    return isControl || !this.#onMessage || this.#startPart(length)
  }

  /** A message begins with a text or binary frame; what continues it has the opcode 0. */
  #startPart(length: number): boolean {
    if ((this.#opcode === 0) !== this.#isInMessage || this.#opcode > opcodes.binary) return false
    this.#isInMessage = true
    this.#messageBytes += length
    this.#isTooLarge = this.#messageBytes > this.#messageBytesMax
    return !this.#isTooLarge
  }

  #takePayload(bytes: Uint8Array, at: number): number {
    const taken = Math.min(this.#left, bytes.length - at)
    const isMessage = this.#onMessage !== undefined && this.#opcode < opcodes.close
    if (taken > 0 && (isMessage || this.#opcode === opcodes.ping)) {
      const piece = Buffer.from(bytes.subarray(at, at + taken))
      if (this.#isMasked)
        for (let index = 0; index < taken; index++)
          piece[index] = (piece[index] ?? 0) ^ (this.#mask[(this.#at + index) % 4] ?? 0)
      this.#at += taken
      ;(isMessage ? this.#message : this.#control).push(piece)
    }
    this.#left -= taken
    return taken
  }

  #endFrame(): void {
    if (!this.#isLast || !this.#onMessage) return
    const [only] = this.#message
    const message = this.#message.length === 1 && only ? only : Buffer.concat(this.#message)
    this.#message = []
    this.#messageBytes = 0
    this.#isInMessage = false
    this.#onMessage(message)
  }
}

const noMask = new Uint8Array(4)

/** The length of a head with its mask, as far as its beginning tells. */
function headLength(beginning: Buffer, isMasked: boolean): number {
  if (beginning.length < 2) return 2
  const short = (beginning[1] ?? 0) & 0x7f
  return (isMasked ? 6 : 2) + (short < 126 ? 0 : short === 126 ? 2 : 8)
}
