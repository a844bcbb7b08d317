/**
 * Follows the log files of workloads on this machine, line by line.
 *
 * A file is read when its folder changes, and once a second in case an event was lost. A file that became shorter is read from its
 * beginning.
 *
 * Invariants: a line is passed on once, whole; a line without an end is passed on when the file is over or when it is too long; no
 * more than one piece of each file is in memory.
 */
import { watch, type FSWatcher } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from 'evenkeel/unstable/base'

interface LogTailOptions {
  readonly path: string
  readonly clock: Clock
  /** Leave out what is there already. @default false */
  readonly fromEnd?: boolean
  readonly onLine: (line: string) => void
}

const pieceBytes = 64 * 1024
const lineLengthMax = 64 * 1024
const lookMs = 1000

export class LogTail {
  readonly #options: LogTailOptions
  readonly #decoder = new StringDecoder('utf8')
  readonly #piece = new Uint8Array(pieceBytes)
  /** Undefined: the end of the file, whatever that is. */
  #offset: number | undefined
  #rest = ''
  #watcher: FSWatcher | undefined
  #cancel: () => void = () => undefined
  #reading: Promise<void> | undefined
  #isDirty = false
  #isOver = false

  constructor(options: LogTailOptions) {
    this.#options = options
    this.#offset = options.fromEnd === true ? undefined : 0
  }

  start(): void {
    try {
      this.#watcher = watch(dirname(this.#options.path), () => {
        this.#look()
      })
      this.#watcher.on('error', () => undefined)
    } catch {
      // Without events the file is looked at once a second.
    }
    this.#again()
  }

  /** Reads what is left, and ends. */
  async stop(): Promise<void> {
    this.#cancel()
    this.#watcher?.close()
    this.#look()
    await this.#reading
    this.#isOver = true
    if (this.#rest !== '') this.#options.onLine(this.#rest)
    this.#rest = ''
  }

  #again(): void {
    this.#look()
    this.#cancel = this.#options.clock.after(lookMs, () => {
      this.#again()
    })
  }

  #look(): void {
    if (this.#isOver) return
    this.#isDirty = true
    this.#reading ??= this.#read()
  }

  /** A change that comes while it reads is read as well: it ends in the same step in which it sees that there is none. */
  async #read(): Promise<void> {
    try {
      while (this.#isDirty) {
        this.#isDirty = false
        const file = await open(this.#options.path, 'r').catch(() => undefined)
        if (!file) continue
        try {
          await this.#readAll(file)
        } finally {
          await file.close()
        }
      }
    } finally {
      this.#reading = undefined
    }
  }

  async #readAll(file: FileHandle): Promise<void> {
    const { size } = await file.stat()
    let offset = this.#offset ?? size
    if (size < offset) offset = 0
    for (;;) {
      this.#offset = offset
      const { bytesRead } = await file.read(this.#piece, 0, pieceBytes, offset)
      if (bytesRead === 0) return
      offset += bytesRead
      this.#take(this.#decoder.write(Buffer.from(this.#piece.subarray(0, bytesRead))))
    }
  }

  #take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#options.onLine(line.replace(/\r$/, ''))
    if (this.#rest.length <= lineLengthMax) return
    this.#options.onLine(this.#rest)
    this.#rest = ''
  }
}
