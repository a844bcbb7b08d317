/**
 * The journal of the file engine. All records of one turn share one frame and one durable write.
 *
 *   append ─▶ current frame ─▶ durable write ─▶ sink.durable ─▶ next turn …
 *
 * Invariants: a record is reported durable only after its write is; one flush runs at a time, so
 * records become durable in the order they were appended; a revision is assigned only at or below a
 * ceiling that becomes durable no later than the revision; after a failed write nothing is written
 * again, unless the disk was full. While the disk is full, deletes are still written and puts are
 * refused.
 *
 * The ceiling prevents the reuse of revisions. Example: ceiling 10 001 is durable, revisions up to 40
 * are assigned, and the power fails before 39 and 40 are durable. The next start finds revision 38
 * and cannot know that 40 was the last one, so it continues at 10 001 and refuses older revisions.
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
  /** The folder, for messages. */
  label: string
  /** The ceiling that is already durable. */
  ceiling: number
  /** Bytes of the logs before this one. */
  bytesBefore: number
  logger?: Logger | undefined
  /** Called when the disk is full, to free space for deletes. */
  onFull: () => Promise<void>
  /** Called after each flush. */
  onFlushed: () => void
  /** Awaited before the last flush. */
  onClosing: () => Promise<void>
}

/** Records that are being written. */
interface PendingFlush {
  readonly count: number
  readonly ceiling: number
  readonly written: Promise<void>
}

/** How far the ceiling is raised at once. */
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
  /** Full frames that wait for the next flush. */
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

  /** No revision above it has been assigned. */
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

  /** The disk has free space again. */
  clearFull(): void {
    this.#full = undefined
  }

  /** Switches to another log as soon as all records before are durable. */
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
          this.#logger.warn('clean shutdown of the store failed; the next start will skip revisions', {
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

  /** Checking for more work and clearing `#active` is one synchronous step, so that no record is left waiting. */
  async #run(): Promise<void> {
    try {
      await nextTurn(this.#clock)
      while ((this.#records > 0 || this.#rotation) && !this.#failed) {
        if (this.#rotation) await this.#switch(this.#rotation)
        else await this.#finishFlushes(this.#startFlush())
        await nextTurn(this.#clock)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#active = false
    }
  }

  /** Starts to write all records appended so far. */
  #startFlush(): PendingFlush {
    const count = this.#records
    this.#records = 0
    return { count, ceiling: this.#ceiling, written: this.#flush() }
  }

  /** Waits for a flush and starts the next one before it answers the writers of this one: disk and processor work in parallel. */
  async #finishFlushes(first: PendingFlush): Promise<void> {
    for (let flush: PendingFlush | undefined = first; flush;) {
      const { count, ceiling, written }: PendingFlush = flush
      try {
        await written
      } catch (error) {
        this.#records += count
        await this.#refuse(error)
        return
      }
      this.#durableCeiling = ceiling
      flush = this.#records > 0 && !this.#rotation ? this.#startFlush() : undefined
      this.#sink?.durable(count)
      this.#onFlushed()
    }
  }

  /** Writes all collected frames durably. */
  async #flush(): Promise<void> {
    const builders = [...this.#waiting, this.#frame].filter(({ records }) => records > 0)
    this.#waiting = []
    const frames = builders.map((builder, ahead) => this.#log.seal(builder, ahead))
    await this.#log.append(frames)
  }

  /** Rolls back and refuses a write that did not fit on the disk; any other error is fatal. */
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
      `the disk of ${this.#label} is full: free some space or delete objects; reads, deletes and watches still work`,
      { cause: error },
    )
    this.#drop()
    this.#sink?.refused(this.#full)
  }

  #fail(cause: unknown): StoreError {
    this.#failed = new StoreError(
      'Failed',
      `failed to write to ${this.#label} (${messageOf(cause)}): the store refuses all writes; check the disk, then restart`,
      { cause },
    )
    this.#logger.error('store failed; all writes are refused until a restart', { error: this.#failed })
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

  /** The first frame of a log records the length of the previous log, so that a truncated log in the chain is detected. */
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
    // All its frames are durable, so a failed close loses nothing.
    await old.close().catch((error: unknown) => {
      this.#logger.warn('failed to close the previous log file', { error })
    })
  }

  #encode(record: JournalRecord): void {
    const frame = this.#frame
    if (record.type === 'grant') writeGrant(frame, { id: record.lease, ttlMs: record.ttlMs, leftMs: record.ttlMs })
    else if (record.type === 'compact') writeNumber(frame, 'compact', record.revision)
    else {
      if (record.type === 'revoke') writeRevoke(frame, record.lease)
      this.#raiseCeiling(record.revision)
      for (const version of record.versions) writeVersion(frame, version)
    }
  }

  #raiseCeiling(revision: number): void {
    if (revision <= this.#ceiling - ceilingBlock / 2) return
    this.#ceiling = revision + ceilingBlock
    writeNumber(this.#frame, 'ceiling', this.#ceiling)
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
