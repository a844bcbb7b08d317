/**
 * Follows the log files of workloads on this machine, line by line.
 *
 * A file is read when the system reports a change, and is looked at twice a minute in case that was lost. A file that cannot be
 * watched, because it does not exist yet or the system has no more watches, is looked at once a second. A file that became shorter is
 * read from its beginning.
 *
 * Invariants: a line is passed on once, whole; a line without an end is passed on when the file is over or when it is too long; no
 * more than one piece of each file is in memory, and none of a file that does not grow.
 */
import { watch, type FSWatcher } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
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
const lookMs = { unwatched: 1000, watched: 30_000 }

export class LogTail {
  readonly #options: LogTailOptions
  readonly #decoder = new StringDecoder('utf8')
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
    this.#watch()
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

  #watch(): void {
    try {
      const watcher = watch(this.#options.path, () => {
        this.#look()
      })
      watcher.on('error', () => {
        watcher.close()
        this.#watcher = undefined
      })
      this.#watcher = watcher
    } catch {
      // The next look tries again.
    }
  }

  /** The file may have grown before it was watched, so it is looked at after that. */
  #again(): void {
    this.#look()
    this.#cancel = this.#options.clock.after(this.#watcher ? lookMs.watched : lookMs.unwatched, () => {
      if (!this.#watcher) this.#watch()
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
        const size = await stat(this.#options.path).then(
          (found) => found.size,
          () => undefined,
        )
        if (size === undefined || !this.#hasNews(size)) continue
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

  /** Whether there is something to read. Also finds out where to begin. */
  #hasNews(size: number): boolean {
    this.#offset ??= size
    if (size < this.#offset) this.#offset = 0
    return size > this.#offset
  }

  async #readAll(file: FileHandle): Promise<void> {
    const piece = new Uint8Array(pieceBytes)
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes, this.#offset ?? 0)
      if (bytesRead === 0) return
      this.#offset = (this.#offset ?? 0) + bytesRead
      this.#take(this.#decoder.write(Buffer.from(piece.subarray(0, bytesRead))))
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
