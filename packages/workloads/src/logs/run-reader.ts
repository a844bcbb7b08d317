/**
 * The log of one run as a reader wants it: from where, with what before each line, and with what comes later.
 *
 * With stderr in a file of its own there are two logs: their lines are merged by the time at which they were written, as
 * exactly as that is known.
 *
 * Invariant: whatever is read ends with the signal, and every file is closed.
 */
import { formatMicroTime } from 'evenkeel/unstable/api'
import { deferred, onAbort, type Deferred } from 'evenkeel/unstable/base'
import { LogCursor } from './log-cursor.ts'
import type { LogKeeper, OpenLog } from './log-keeper.ts'
import { countLines, lineStartFrom, offsetOfLastLines, prefixLines, withoutLines } from './log-lines.ts'
import { formatPosition } from './log-position.ts'
import type { LoggedRun } from './run-logs.ts'

/** What to read of a run. */
export interface RunSelection {
  readonly tailLines?: number | undefined
  readonly sinceMs?: number | undefined
  /** Where to begin, one offset for each file. */
  readonly offsets?: readonly number[] | undefined
  readonly timestamps: boolean
  readonly positions: boolean
}

interface RunReaderOptions extends RunSelection {
  readonly keeper: Pick<LogKeeper, 'open'>
  readonly signal: AbortSignal
  readonly now: () => number
  /** Nothing more will be written. */
  readonly isOver: () => boolean
  /** Resolves when {@link isOver} may have changed. */
  readonly changed: () => Promise<unknown>
}

/** Where a reader is, for what follows. */
interface ReaderState {
  /** The last byte that was sent ends a line. */
  isAtLineStart: boolean
}

/** Files of a run that do not exist (any more) are left out. Returns undefined when none does. */
export async function openRun(
  { logFile, errorFile }: LoggedRun,
  source: string | undefined,
  { keeper }: Pick<RunReaderOptions, 'keeper'>,
): Promise<readonly OpenLog[] | undefined> {
  const paths =
    errorFile === undefined
      ? [logFile]
      : source === 'stdout'
        ? [logFile]
        : source === 'stderr'
          ? [errorFile]
          : [logFile, errorFile]
  const opened = await Promise.all(paths.map((path) => keeper.open(path)))
  const logs = opened.flatMap((log) => log ?? [])
  return logs.length === 0 ? undefined : logs
}

export class RunReader {
  readonly #run: number
  readonly #logs: readonly OpenLog[]
  readonly #options: RunReaderOptions
  readonly #isByLines: boolean
  #cursors: readonly LogCursor[] = []
  #skipLines = 0

  constructor(run: number, logs: readonly OpenLog[], options: RunReaderOptions) {
    this.#run = run
    this.#logs = logs
    this.#options = options
    this.#isByLines = options.timestamps || options.positions || logs.length > 1
  }

  /** Finds where to begin. Call it once, before reading. */
  async begin(): Promise<void> {
    const offsets = await Promise.all(this.#logs.map((open, index) => this.#offsetOf(open, index)))
    const { now, tailLines, isOver } = this.#options
    const isByLines = this.#isByLines
    // A program that writes on must not hold a reader that wants what is there.
    const isBounded = isOver()
    this.#cursors = this.#logs.map((open, index) => {
      const end = isBounded ? open.log.sizeBytes : Infinity
      return new LogCursor(open, { offset: offsets[index] ?? 0, end, isByLines, now })
    })
    if (tailLines === undefined || this.#logs.length === 1) return
    // Of the last lines of each only the last of both are wanted.
    const counts = await Promise.all(
      this.#logs.map(({ handle, log }, index) =>
        countLines(handle, { start: offsets[index] ?? 0, end: log.sizeBytes }),
      ),
    )
    this.#skipLines = Math.max(0, counts.reduce((sum, count) => sum + count, 0) - tailLines)
  }

  get position(): string {
    return formatPosition({ run: this.#run, offsets: this.#cursors.map(({ offset }) => offset) })
  }

  /** The pieces of the log, until it is over. */
  async *pieces(state: ReaderState): AsyncGenerator<Uint8Array, void> {
    const { signal } = this.#options
    const news = new News(signal)
    try {
      yield* this.#piecesUntilOver(state, news)
    } finally {
      news.close()
    }
  }

  async *#piecesUntilOver(state: ReaderState, news: News): AsyncGenerator<Uint8Array, void> {
    const { signal } = this.#options
    news.listen(this.#options.changed, this.#options.isOver)
    for (const { log } of this.#logs) news.listen(() => log.changed(), this.#options.isOver)
    while (!signal.aborted) {
      news.forget()
      const isOver = this.#options.isOver()
      // What was written last.
      if (isOver) await Promise.all(this.#logs.map(({ log }) => log.look()))
      for (;;) {
        const bytes = await this.#next(isOver)
        if (signal.aborted) return
        if (!bytes) break
        if (bytes.length === 0) continue
        state.isAtLineStart = bytes.at(-1) === 10
        yield bytes
      }
      if (isOver) return
      await news.next()
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#logs.map((open) => open.close()))
  }

  async #offsetOf({ log, handle }: OpenLog, index: number): Promise<number> {
    const { offsets, tailLines, sinceMs } = this.#options
    const bounds = { start: log.startBytes, end: log.sizeBytes }
    if (offsets) return offsets[index] ?? bounds.start
    const [since, tail] = await Promise.all([
      sinceMs === undefined ? bounds.start : lineStartFrom(handle, log.times.offsetAt(sinceMs), bounds),
      tailLines === undefined ? bounds.start : offsetOfLastLines(handle, tailLines, bounds),
    ])
    return Math.max(since, tail)
  }

  /** The next piece of the log that was written first. */
  async #next(isFinal: boolean): Promise<Uint8Array | undefined> {
    const cursor = this.#earliest()
    const others = this.#cursors.filter((one) => one !== cursor)
    for (const one of [cursor, ...others]) {
      const piece = await one?.next({ isFinal })
      if (!one || !piece) continue
      const shaped = this.#shape(one, piece)
      const dropped = one.droppedBytes
      one.droppedBytes = 0
      return dropped === 0
        ? shaped
        : Buffer.concat([this.#note(`${dropped} bytes were dropped: the log keeps its last ones only`), shaped])
    }
    return undefined
  }

  #earliest(): LogCursor | undefined {
    const [first, second] = this.#cursors
    if (!first || !second) return first
    return timeOf(second) < timeOf(first) ? second : first
  }

  #note(text: string): Uint8Array {
    return Buffer.from(`${this.#prefixOf(this.position, this.#options.now())}--- ${text} ---\n`)
  }

  #shape(cursor: LogCursor, { bytes, offset, atMs }: { bytes: Uint8Array; offset: number; atMs: number }): Uint8Array {
    const { rest, left } = this.#skipLines > 0 ? withoutLines(bytes, this.#skipLines) : { rest: bytes, left: 0 }
    this.#skipLines = left
    const { timestamps, positions } = this.#options
    if (!timestamps && !positions) return rest
    const start = offset + bytes.length - rest.length
    const others = this.#cursors.map((one) => one.offset)
    const own = this.#cursors.indexOf(cursor)
    return prefixLines(
      rest,
      (_, to) => {
        const offsets = others.map((at, index) => (index === own ? Math.min(start + to, cursor.offset) : at))
        return this.#prefixOf(formatPosition({ run: this.#run, offsets }), atMs)
      },
      { prefixMax: 96 },
    )
  }

  #prefixOf(position: string, atMs: number): string {
    const { timestamps, positions } = this.#options
    return `${positions ? `${position} ` : ''}${timestamps ? `${formatMicroTime(atMs)} ` : ''}`
  }
}

function timeOf({ log, offset }: LogCursor): number {
  return offset >= log.sizeBytes ? Infinity : (log.times.find(offset)?.[1] ?? Infinity)
}

/** Wakes a reader when one of several sources has changed. Each source is listened to once at a time. */
class News {
  #changed: Deferred<undefined> = deferred()
  readonly #signal: AbortSignal
  readonly #stop: () => void
  #isClosed = false

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#stop = onAbort(signal, () => {
      this.#tell()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  listen(changed: () => Promise<unknown>, isOver: () => boolean): void {
    void (async () => {
      while (!this.#signal.aborted && !this.#isClosed) {
        await changed()
        this.#tell()
        if (isOver()) return
      }
    })()
  }

  /** Forgets what has changed so far. */
  forget(): void {
    this.#changed = deferred()
  }

  /** Resolves when something has changed since {@link forget}. */
  next(): Promise<unknown> {
    return this.#signal.aborted ? Promise.resolve() : this.#changed.promise
  }

  readonly #tell = (): void => {
    this.#changed.resolve(undefined)
  }
}
