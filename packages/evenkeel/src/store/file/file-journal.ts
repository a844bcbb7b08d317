/**
 * Makes records durable: all records of a turn are one frame and one durable write.
 *
 *   append ─▶ frame being collected ─▶ durable write ─▶ sink.durable ─▶ next turn …
 *
 * Invariants: nothing is reported durable before its write was; one flush at a time, so order
 * is the order of appending; a revision is given out only at or below a ceiling that is durable no
 * later than the revision itself; after a failed write, but for lack of room, nothing is ever written again. While the
 * disk is full, deletes are still tried and everything else is refused.
 */
import { deferred, nextTurn, silentLogger, type Clock, type Deferred, type Logger } from '#base'
import { StoreError, type StoreFailure } from '../store.ts'
import type { Journal, JournalRecord, JournalSink } from '../writer.ts'
import { isNoSpace } from './disk.ts'
import { FrameBuilder } from './frame.ts'
import type { LogFile } from './log-file.ts'
import { writeGrant, writeNumber, writeRevoke, writeVersion } from './record.ts'

interface FileJournalOptions {
  clock: Clock
  log: LogFile
  /** How to name the folder to a person. */
  label: string
  /** The ceiling that is already durable. */
  ceiling: number
  /** Bytes of the logs before this one. */
  bytesBefore: number
  logger?: Logger | undefined
  /** Called when the disk ran full, to make room for deletes. */
  onFull: () => Promise<void>
  /** Called after each flush. */
  onFlushed: () => void
  /** Called before the last flush; waited for. */
  onClosing: () => Promise<void>
}

/** Some records on their way to the disk. */
interface PendingFlush {
  readonly count: number
  readonly ceiling: number
  readonly written: Promise<void>
}

/** How many revisions are set aside at once. */
export const ceilingBlock = 10_000

export class FileJournal implements Journal {
  readonly #clock: Clock
  readonly #label: string
  readonly #logger: Logger
  readonly #onFull: () => Promise<void>
  readonly #onFlushed: () => void
  readonly #onClosing: () => Promise<void>
  #frame = new FrameBuilder()
  #sink: JournalSink | undefined
  #log: LogFile
  /** Frames that got full before they could be written. */
  #waiting: FrameBuilder[] = []
  #records = 0
  #ceiling: number
  #durableCeiling: number
  #active = false
  #running: Promise<void> | undefined
  #rotation: { readonly log: LogFile; readonly done: Deferred<undefined> } | undefined
  #full: StoreError | undefined
  #failed: StoreError | undefined
  #bytesBefore: number

  constructor({
    clock,
    log,
    label,
    ceiling,
    bytesBefore,
    logger = silentLogger,
    onFull,
    onFlushed,
    onClosing,
  }: FileJournalOptions) {
    this.#clock = clock
    this.#log = log
    this.#label = label
    this.#ceiling = ceiling
    this.#durableCeiling = ceiling
    this.#bytesBefore = bytesBefore
    this.#logger = logger
    this.#onFull = onFull
    this.#onFlushed = onFlushed
    this.#onClosing = onClosing
  }

  bind(sink: JournalSink): void {
    this.#sink = sink
  }

  /** No revision above it has been given out. */
  get ceiling(): number {
    return this.#ceiling
  }

  /** Bytes of logs that no snapshot covers. */
  get logBytes(): number {
    return this.#bytesBefore + this.#log.length
  }

  append(record: JournalRecord): void {
    this.#encode(record)
    this.#records++
    if (this.#frame.full) {
      this.#waiting.push(this.#frame)
      this.#frame = new FrameBuilder()
    }
    this.#start()
  }

  refusal(kind: 'put' | 'delete'): StoreError | undefined {
    return this.#failed ?? (kind === 'put' ? this.#full : undefined)
  }

  failure(): StoreFailure | undefined {
    if (this.#failed) return { state: 'failed', message: this.#failed.message }
    return this.#full && { state: 'full', message: this.#full.message }
  }

  /** There is room again. */
  clearFull(): void {
    this.#full = undefined
  }

  /** Goes over to another log as soon as everything before is durable. */
  rotate(log: LogFile): Promise<void> {
    if (this.#failed) return Promise.reject(this.#failed)
    const done = deferred<undefined>()
    this.#rotation = { log, done }
    this.#start()
    return done.promise
  }

  /** A snapshot covers all logs before the current one. */
  forgetBefore(): void {
    this.#bytesBefore = 0
  }

  async close(): Promise<void> {
    await this.#onClosing()
    while (this.#active) await this.#running
    if (!this.#failed) {
      for (const lease of this.#sink?.leases() ?? []) writeGrant(this.#frame, lease)
      writeNumber(this.#frame, 'clean', this.#durableCeiling)
      await this.#flush()
        .then(() => this.#log.cut())
        .catch((error: unknown) => {
          this.#logger.warn('the store could not be closed in good order; the next start will skip revisions', {
            error,
          })
        })
    }
    await this.#log.close()
  }

  #start(): void {
    if (this.#active) return
    this.#active = true
    this.#running = this.#run()
  }

  /** The look for more work and the end of `#active` are one step, so that no record is left waiting for the next. */
  async #run(): Promise<void> {
    try {
      await nextTurn(this.#clock)
      while ((this.#records > 0 || this.#rotation) && !this.#failed) {
        if (this.#rotation) await this.#switch(this.#rotation)
        else await this.#fly(this.#launch())
        await nextTurn(this.#clock)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#active = false
    }
  }

  /** Starts to write everything collected so far. */
  #launch(): PendingFlush {
    const count = this.#records
    this.#records = 0
    return { count, ceiling: this.#ceiling, written: this.#flush() }
  }

  /** Sees a flight through; the next one takes off before the writers of this one are answered, so that disk and processor work at the same time. */
  async #fly(first: PendingFlush): Promise<void> {
    for (let flight: PendingFlush | undefined = first; flight;) {
      const { count, ceiling, written }: PendingFlush = flight
      try {
        await written
      } catch (error) {
        this.#records += count
        await this.#refuse(error)
        return
      }
      this.#durableCeiling = ceiling
      flight = this.#records > 0 && !this.#rotation ? this.#launch() : undefined
      this.#sink?.durable(count)
      this.#onFlushed()
    }
  }

  /** One durable write for everything collected so far. */
  async #flush(): Promise<void> {
    const builders = [...this.#waiting, this.#frame].filter(({ records }) => records > 0)
    this.#waiting = []
    const frames = builders.map((builder, ahead) => this.#log.seal(builder, ahead))
    await this.#log.append(frames)
  }

  /** A write that did not fit is taken back and refused; anything else that fails is the end. */
  async #refuse(error: unknown): Promise<void> {
    if (this.#failed) return
    if (!isNoSpace(error)) {
      this.#fail(error)
      return
    }
    try {
      await this.#log.cut()
      await this.#onFull()
    } catch (cause) {
      this.#fail(cause)
      return
    }
    this.#full = new StoreError(
      'NoSpace',
      `the disk of ${this.#label} is full: free some room, or delete objects; reads, deletes and watches go on`,
      { cause: error },
    )
    this.#drop()
    this.#sink?.refused(this.#full)
  }

  #fail(cause: unknown): StoreError {
    this.#failed = new StoreError(
      'Failed',
      `writing to ${this.#label} failed (${messageOf(cause)}): nothing more is written; check the disk, then restart`,
      { cause },
    )
    this.#logger.error('the store failed', { error: this.#failed })
    this.#drop()
    this.#rotation?.done.reject(this.#failed)
    this.#rotation = undefined
    this.#sink?.failed(this.#failed)
    return this.#failed
  }

  #drop(): void {
    this.#frame.clear()
    this.#waiting = []
    this.#records = 0
    this.#ceiling = this.#durableCeiling
  }

  /** The first frame of a log says how long the one before was, so that a cut in the middle of the chain shows. */
  async #switch({ log, done }: { log: LogFile; done: Deferred<undefined> }): Promise<void> {
    this.#rotation = undefined
    const first = new FrameBuilder(64)
    writeNumber(first, 'follows', this.#log.length)
    writeNumber(first, 'ceiling', this.#durableCeiling)
    const frames = [log.seal(first, 0)]
    try {
      await log.append(frames)
    } catch (error) {
      done.reject(isNoSpace(error) ? error : this.#fail(error))
      return
    }
    const old = this.#log
    this.#log = log
    this.#bytesBefore += old.length
    done.resolve(undefined)
    // Everything in it is durable, so a file that does not close well costs nothing but a word.
    await old.close().catch((error: unknown) => {
      this.#logger.warn('an old log could not be closed', { error })
    })
  }

  #encode(record: JournalRecord): void {
    const frame = this.#frame
    if (record.type === 'grant') writeGrant(frame, { id: record.lease, ttlMs: record.ttlMs, leftMs: record.ttlMs })
    else if (record.type === 'compact') writeNumber(frame, 'compact', record.revision)
    else {
      if (record.type === 'revoke') writeRevoke(frame, record.lease)
      this.#raise(record.revision)
      for (const version of record.versions) writeVersion(frame, version)
    }
  }

  #raise(revision: number): void {
    if (revision <= this.#ceiling - ceilingBlock / 2) return
    this.#ceiling = revision + ceilingBlock
    writeNumber(this.#frame, 'ceiling', this.#ceiling)
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
