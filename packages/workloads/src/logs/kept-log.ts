/**
 * One log file: how long it is, when its bytes were written, where it begins, and news of its growth.
 *
 * The file is looked at ten times a second while it grows, and not at all at rest: then the system reports the next byte.
 *
 *   rest ──the system reports a change──▶ look ──grew──▶ look again after 100 ms ──…──▶ no growth ──▶ rest
 *
 * When it is longer than `maxBytes`, its oldest fifth is released, up to the end of a line: the new beginning is written to
 * `PATH.index` first, so no reader of a later Evenkeel sees the hole.
 *
 * Invariants: `startBytes` and `sizeBytes` never go back, unless the file was truncated; bytes at or after `startBytes` at
 * the time of a read are those that the program wrote; at rest there is no timer, unless the disk is full or the system
 * cannot watch the file.
 */
import { deferred, type Clock, type Deferred, type Logger } from 'evenkeel/unstable/base'
import { formatTime } from 'evenkeel/unstable/api'
import type { Files } from '../files.ts'
import type { LogFiles } from './log-files.ts'
import { lineStartFrom } from './log-lines.ts'
import { TimeIndex, type TimeEntry } from './time-index.ts'

export interface LogSeams {
  readonly files: Pick<Files, 'findText' | 'replaceText'>
  readonly logFiles: LogFiles
  readonly clock: Clock
  readonly log?: Logger
}

/** What is wrong with a log, in sentences. */
export interface LogProblems {
  /** The disk was full: lines may be missing. */
  readonly lost?: string
  /** Its beginning cannot be released: it grows. */
  readonly unbounded?: string
}

interface LogSettings {
  readonly maxBytes: number
  /** Called when the problems have changed. */
  readonly onChange: () => void
}

/** How soon growth is looked at again, and how often when the system does not report it. */
const [lookMs, slowMs] = [100, 1000]
const saveMs = 5000
/** With less than this left a disk counts as full. */
const fullBytes = 1024 * 1024
const blockBytes = 4096
const lineSearchBytes = 262_144

export class KeptLog {
  readonly path: string
  readonly #seams: LogSeams
  #startBytes = 0
  #sizeBytes = 0
  /** What this Evenkeel has released. */
  #releasedBytes = 0
  #times = new TimeIndex()
  #problems: LogProblems = {}
  #settings: LogSettings | undefined
  #readers = 0
  #changed: Deferred<undefined> = deferred()
  #disarm: () => void = () => undefined
  #isActive = false
  #isTurning = false
  #isNews = false
  /** Settles when the last look is over: one at a time, so that the last one sees and bounds everything. */
  #looking: Promise<unknown> = Promise.resolve()
  #savedMs = -Infinity
  #spaceCheckedMs = -Infinity
  #fullSince: number | undefined

  private constructor(path: string, seams: LogSeams) {
    this.path = path
    this.#seams = seams
  }

  /** A log as an earlier Evenkeel left it, or a new one. */
  static async load(path: string, seams: LogSeams): Promise<KeptLog> {
    const log = new KeptLog(path, seams)
    const { start, times } = parseIndex(await seams.files.findText(indexOf(path)))
    log.#startBytes = start
    log.#times = new TimeIndex(times)
    return log
  }

  /** Where its bytes begin: those before are released. */
  get startBytes(): number {
    return this.#startBytes
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get times(): TimeIndex {
    return this.#times
  }

  get problems(): LogProblems {
    return this.#problems
  }

  /** Whether something still needs it. */
  get isUsed(): boolean {
    return this.#settings !== undefined || this.#readers > 0
  }

  /** Keeps the log in bounds from now on. */
  keep(settings: LogSettings): void {
    this.#settings = settings
    this.#begin()
  }

  /** Its program has ended. */
  async release(): Promise<void> {
    try {
      await this.look()
      await this.#save()
    } finally {
      this.#settings = undefined
      this.#endIfUnused()
    }
  }

  /** A reader: it sees growth until it calls the returned function. */
  addReader(): () => void {
    this.#readers++
    this.#begin()
    return () => {
      this.#readers--
      this.#endIfUnused()
    }
  }

  /** Resolves at the next growth. */
  changed(): Promise<unknown> {
    return this.#changed.promise
  }

  /** Ends without a last look. */
  close(): void {
    this.#settings = undefined
    this.#isActive = false
    this.#disarm()
    this.#announce()
  }

  /** Looks at the file now. Returns whether it has grown. */
  look(): Promise<boolean> {
    const looking = this.#looking.then(() => this.#lookNow())
    this.#looking = looking.catch(() => undefined)
    return looking
  }

  async #lookNow(): Promise<boolean> {
    const found = await this.#seams.logFiles.findSize(this.path)
    const size = found?.sizeBytes ?? 0
    if (size < this.#sizeBytes) this.#restart()
    const hasGrown = found !== undefined && size > this.#sizeBytes
    if (hasGrown) {
      this.#sizeBytes = size
      this.#times.add(size, found.writtenAtMs)
      this.#announce()
    }
    if (found) await this.#checkSpace(hasGrown)
    // Again when it failed before: on a full disk the new beginning cannot be recorded.
    await this.#bound()
    if (hasGrown && this.#seams.clock.monotonic() - this.#savedMs >= saveMs) await this.#save()
    return hasGrown
  }

  /** Another program truncated the file. */
  #restart(): void {
    this.#startBytes = 0
    this.#sizeBytes = 0
    this.#releasedBytes = 0
    this.#times = new TimeIndex()
  }

  #announce(): void {
    const changed = this.#changed
    this.#changed = deferred()
    changed.resolve(undefined)
  }

  /* When to look. */

  #begin(): void {
    if (this.#isActive) return
    this.#isActive = true
    void this.#turn()
  }

  #endIfUnused(): void {
    if (this.isUsed) return
    this.#isActive = false
    this.#disarm()
  }

  readonly #wake = (): void => {
    if (this.#isTurning) this.#isNews = true
    else void this.#turn()
  }

  async #turn(): Promise<void> {
    this.#isTurning = true
    this.#isNews = false
    this.#disarm()
    const waitMs = await this.#lookAndRest().catch((error: unknown) => {
      this.#seams.log?.warn('cannot look at a log', { path: this.path, error })
      this.#disarm()
      return slowMs
    })
    this.#isTurning = false
    if (!this.#isActive) this.#disarm()
    else if (waitMs !== undefined || this.#isNews) {
      this.#disarm()
      this.#disarm = this.#seams.clock.after(waitMs ?? lookMs, this.#wake)
    }
  }

  /** Returns when to look again; undefined at rest. */
  async #lookAndRest(): Promise<number | undefined> {
    if (await this.look()) return lookMs
    if (this.#fullSince !== undefined) return slowMs
    const stop = this.#seams.logFiles.access.watch(this.path, this.#wake)
    this.#disarm = stop ?? (() => undefined)
    // It may have grown before the watch began.
    if (await this.look()) return lookMs
    return stop || this.#sizeBytes === 0 ? undefined : slowMs
  }

  /* Its bounds. */

  async #bound(): Promise<void> {
    const { maxBytes = Infinity } = this.#settings ?? {}
    const isTooLong = this.#sizeBytes - this.#startBytes > maxBytes
    // An earlier Evenkeel may have recorded a beginning and not released what is before.
    const isLeft = this.#settings !== undefined && this.#releasedBytes < floorTo(this.#startBytes, blockBytes)
    if (this.#problems.unbounded !== undefined || !(isTooLong || isLeft)) return
    if (isTooLong) await this.#moveStart(await this.#lineAfter(this.#sizeBytes - Math.floor(maxBytes * 0.8)))
    await this.#releaseStart()
  }

  async #moveStart(start: number): Promise<void> {
    this.#times.dropBefore(start)
    await this.#save(start)
    // Readers skip what is about to be released.
    this.#startBytes = start
  }

  async #releaseStart(): Promise<void> {
    const [from, to] = [this.#releasedBytes, floorTo(this.#startBytes, blockBytes)]
    if (to <= from) return
    if (await this.#seams.logFiles.releaseBytes(this.path, { from, to })) this.#releasedBytes = to
    else
      this.#report({
        ...this.#problems,
        unbounded: `the file system of ${this.path} cannot release the beginning of a file (fallocate --punch-hole): the log grows until the run ends`,
      })
  }

  /** The first line that begins there or later. In a line that is very long: there. */
  async #lineAfter(offset: number): Promise<number> {
    const handle = await this.#seams.logFiles.access.open(this.path)
    if (!handle) return offset
    try {
      const end = Math.min(this.#sizeBytes, offset + lineSearchBytes)
      const start = await lineStartFrom(handle, offset, { start: this.#startBytes, end })
      return start < end ? start : offset
    } finally {
      await handle.close()
    }
  }

  /** Programs write by themselves: that one of their writes failed is only seen by the disk. */
  async #checkSpace(hasGrown: boolean): Promise<void> {
    const { clock, logFiles } = this.#seams
    const nowMs = clock.monotonic()
    if (!this.#settings || (hasGrown && nowMs - this.#spaceCheckedMs < slowMs)) return
    if (!hasGrown && this.#spaceCheckedMs === nowMs) return
    this.#spaceCheckedMs = nowMs
    const isFull = (await logFiles.findFreeBytes(this.path)) < fullBytes
    if (isFull && this.#fullSince === undefined) {
      this.#fullSince = clock.now()
      this.#report({ ...this.#problems, lost: `${this.#lossText()}. Free some space: the program goes on` })
    } else if (!isFull && this.#fullSince !== undefined) {
      this.#report({ ...this.#problems, lost: `${this.#lossText()} to ${formatTime(clock.now())}` })
      this.#fullSince = undefined
    }
  }

  #lossText(): string {
    const since = formatTime(this.#fullSince ?? 0)
    return `output may be missing after byte ${this.#sizeBytes} of ${this.path}, uncounted, because the program writes without Evenkeel: the disk was full from ${since}`
  }

  #report(problems: LogProblems): void {
    this.#problems = problems
    this.#settings?.onChange()
  }

  async #save(start = this.#startBytes): Promise<void> {
    this.#savedMs = this.#seams.clock.monotonic()
    if (this.#times.entries.length === 0 && start === 0) return
    const text = JSON.stringify({ start, times: this.#times.entries })
    await this.#seams.files.replaceText(indexOf(this.path), text)
  }
}

function indexOf(path: string): string {
  return `${path}.index`
}

function floorTo(value: number, step: number): number {
  return value - (value % step)
}

/** Times are a convenience: a file that cannot be read is as good as none. */
function parseIndex(text = ''): { readonly start: number; readonly times: readonly TimeEntry[] } {
  try {
    const { start, times } = JSON.parse(text) as { readonly start: unknown; readonly times: unknown }
    const isEntry = (one: unknown): one is TimeEntry =>
      Array.isArray(one) && one.length === 2 && one.every((each) => Number.isSafeInteger(each))
    return {
      start: Number.isSafeInteger(start) ? (start as number) : 0,
      times: Array.isArray(times) ? times.filter(isEntry) : [],
    }
  } catch {
    return { start: 0, times: [] }
  }
}
