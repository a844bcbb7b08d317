/**
 * Recovery: rebuilds the versions from the snapshot and the logs when a store opens.
 *
 *   snapshot ─▶ load ─▶ log ─▶ replay ─▶ log ─▶ replay ─▶ torn tail: report it · damage: refuse
 *
 * Invariants: only intact frames are replayed, in order, none skipped; a frame that was once durable
 * and is corrupt now fails the recovery, and nothing on disk has been changed by then; after an
 * unclean shutdown the revision jumps to the ceiling, above every revision that may have been
 * assigned, and all older history is refused, so that no client mistakes a new revision for an old
 * one.
 *
 * Example. The last log has three frames; `durable` is the synced length when a frame was written:
 *
 *   64 frame 0 (durable 64) · 123 frame 1 (durable 123) · 182 frame 2 (durable 182)
 *
 *   frame 2 fails its checksum   torn tail: no later frame proves that it was synced; cut at 182
 *   frame 1 fails its checksum   damage: frame 2 is intact and says that bytes up to 182 were synced
 */
import type { LeaseState } from '../leases.ts'
import type { Slab } from '../version.ts'
import { Versions } from '../versions.ts'
import type { Disk, DiskFile } from './disk.ts'
import { damaged, fileName, readHeader, type FolderPlan } from './folder.ts'
import { FrameReader, type Frame } from './frame.ts'
import { readPackedRun, readRecord, type FileRecord, type Summary } from './record.ts'

export interface RecoveredState {
  readonly versions: Versions
  readonly leases: readonly LeaseState[]
  /** Undefined for a folder with no store in it. */
  readonly storeId: string | undefined
  /** The revision to continue from. */
  readonly revision: number
  readonly ceiling: number
  /** The number of the next log, after the last one with a frame. */
  readonly nextLog: number
  readonly clean: boolean
  /** The log with a torn tail, and the length to truncate it to. */
  readonly torn: { readonly name: string; readonly length: number } | undefined
  /** Trailing logs without a frame. */
  readonly unused: readonly string[]
  /** How many logs were read. */
  readonly logs: number
  readonly logBytes: number
  readonly snapshotBytes: number
  /** The length of the last log with a frame, which the next log records. */
  readonly lastLogLength: number | undefined
}

/** Rebuilds the state of a folder. @throws StoreError when a file is damaged. */
export async function recover(disk: Disk, plan: FolderPlan): Promise<RecoveredState> {
  const recovery = new Recovery(disk)
  if (plan.snapshot !== undefined)
    await recovery.load(fileName('snapshot', plan.snapshot), { kind: 'snapshot', number: plan.snapshot })
  for (const number of plan.logs) await recovery.replay(number)
  return recovery.finish(plan)
}

/** Reads a backup. @throws StoreError when it is damaged. */
export async function recoverBackup(disk: Disk, name: string): Promise<RecoveredState> {
  const recovery = new Recovery(disk)
  await recovery.load(name, { kind: 'backup', number: 0 })
  return recovery.finish({ snapshot: undefined, logs: [], leftovers: [] })
}

/** The end of the intact frames of a log: a torn tail, or damage if a later log has frames. */
interface BadTail {
  readonly number: number
  readonly length: number
}

class Recovery {
  readonly #disk: Disk
  readonly #versions = new Versions()
  readonly #leases = new Map<string, LeaseState>()
  #storeId: string | undefined
  #revision = 1
  #ceiling = 1
  #compacted = 0
  #clean = true
  #summary: Summary | undefined
  #badTail: BadTail | undefined
  #previousLength: number | undefined
  #unused: string[] = []
  #logBytes = 0
  #snapshotBytes = 0

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** Reads a snapshot: every frame must be intact, and the summary must match the contents. */
  async load(name: string, { kind, number }: { kind: 'snapshot' | 'backup'; number: number }): Promise<void> {
    const header = await readHeader(this.#disk, name, { kind, number })
    if (header === 'unfinished') throw damaged(this.#disk, name, 'the header is missing')
    this.#storeId = header.storeId
    await this.#eachFrame(name, number, (reader) => this.#loadFrames(reader, name))
    if (!this.#summary) throw damaged(this.#disk, name, 'the end of the file is missing')
    if (this.#summary.entries !== this.#versions.size)
      throw damaged(
        this.#disk,
        name,
        `its summary says ${this.#summary.entries} entries, but it contains ${this.#versions.size}`,
      )
    this.#revision = this.#summary.revision
    this.#ceiling = this.#summary.ceiling
    this.#compacted = this.#summary.revision
    this.#versions.publish([], this.#revision)
  }

  async #loadFrames(reader: FrameReader, name: string): Promise<void> {
    let slab: Slab | undefined
    for (let frame = await reader.next(); frame; frame = await reader.next()) {
      if (frame.window !== slab?.bytes) slab = this.#versions.adopt(frame.window)
      const puts = this.#loadPuts(frame, slab, name)
      this.#eachRecord({ ...frame, start: puts }, name, (record) => {
        if (record.type === 'grant') this.#leases.set(record.lease.id, record.lease)
        else if (record.type === 'summary') this.#summary = record.summary
        else throw damaged(this.#disk, name, `unexpected record of type ${record.type}`)
      })
    }
    if (!reader.atEnd) throw damaged(this.#disk, name, `the data at byte ${reader.offset} does not match its checksum`)
    this.#snapshotBytes = reader.offset
  }

  /** Loads the puts at the start of a frame as packed blocks; returns where they end. */
  #loadPuts(frame: Frame, slab: Slab, name: string): number {
    for (let at = frame.start; ;) {
      const run = readPackedRun(slab, at, frame.end)
      if (!run) return at
      if (run.end > frame.end || !this.#versions.load(run, slab, run.valueBytes))
        throw damaged(this.#disk, name, 'its keys are out of order although the checksum matches')
      at = run.end
    }
  }

  /** Replays the intact frames of a log. */
  async replay(number: number): Promise<void> {
    const name = fileName('log', number)
    const header = await readHeader(this.#disk, name, { kind: 'log', number })
    if (header !== 'unfinished') {
      if (this.#storeId !== undefined && header.storeId !== this.#storeId)
        throw damaged(this.#disk, name, 'it belongs to another store')
      this.#storeId = header.storeId
    }
    await this.#eachFrame(name, number, async (reader, file) => {
      for (let frame = await reader.next(); frame; frame = await reader.next())
        this.#replayFrame(frame, { name, first: reader.count === 1 })
      if (header === 'unfinished' && (reader.count > 0 || (await reader.provesDamage())))
        throw damaged(this.#disk, name, 'its header is corrupt')
      if (reader.count === 0) this.#unused.push(name)
      else this.#revision = Math.max(this.#revision, header === 'unfinished' ? 0 : header.revision)
      await this.#classifyTail(reader, { number, size: await file.size() })
    })
  }

  async #classifyTail(reader: FrameReader, { number, size }: { number: number; size: number }): Promise<void> {
    const name = fileName('log', number)
    if (reader.offset < size && (await reader.provesDamage())) {
      throw damaged(
        this.#disk,
        name,
        `the data at byte ${reader.offset} does not match its checksum, but later data does`,
      )
    }
    if (reader.count > 0) {
      this.#badTail = reader.offset < size ? { number, length: reader.offset } : undefined
      this.#previousLength = reader.offset
      this.#logBytes += reader.offset
    } else if (reader.offset < size) this.#badTail ??= { number, length: reader.offset }
  }

  #replayFrame(frame: Frame, { name, first }: { name: string; first: boolean }): void {
    const [empty] = this.#unused
    if (empty !== undefined) throw damaged(this.#disk, empty, 'it is empty, but a later log exists')
    this.#clean = false
    this.#eachRecord(frame, name, (record) => {
      this.#apply(record, { frame, name })
    })
    if (first && this.#badTail)
      throw damaged(
        this.#disk,
        fileName('log', this.#badTail.number),
        `the data at byte ${this.#badTail.length} does not match its checksum, but a later log exists`,
      )
  }

  #apply(record: FileRecord, { frame, name }: { frame: Frame; name: string }): void {
    switch (record.type) {
      case 'put':
        return this.#write(record, frame.window.subarray(record.valueAt, record.valueAt + record.valueBytes))
      case 'delete':
        return this.#write(record, undefined)
      case 'grant':
        return void this.#leases.set(record.lease.id, record.lease)
      case 'revoke':
        return void this.#leases.delete(record.lease)
      case 'compact':
        return void (this.#compacted = Math.max(this.#compacted, record.value))
      case 'ceiling':
        return void (this.#ceiling = Math.max(this.#ceiling, record.value))
      case 'follows':
        return this.#checkFollows(record.value, name)
      case 'clean':
        return void (this.#clean = true)
      case 'summary':
        throw damaged(this.#disk, name, 'unexpected record of a snapshot')
    }
  }

  #write(
    { key, revision, lease }: { key: string; revision: number; lease?: string | undefined },
    value: Uint8Array | undefined,
  ): void {
    const version = this.#versions.apply(
      { key, ...(value && { value }), ...(lease !== undefined && { lease }) },
      revision,
    )
    this.#versions.publish([version], revision)
    this.#revision = revision
  }

  /** A log gets its first frame only after the previous log is durable, so bytes after the end of that one are leftovers of an older log. */
  #checkFollows(length: number, name: string): void {
    if (this.#previousLength !== undefined && this.#previousLength !== length) {
      throw damaged(
        this.#disk,
        name,
        `the previous log should have ${length} intact bytes, but has ${this.#previousLength}`,
      )
    }
    this.#badTail = undefined
  }

  finish(plan: FolderPlan): RecoveredState {
    // Nothing is written after the record of a clean shutdown, so bytes after it are leftovers of an older log.
    const clean = this.#clean
    const revision = clean ? this.#revision : Math.max(this.#ceiling, this.#revision)
    const versions = this.#versions
    versions.publish([], revision)
    versions.compact(clean ? this.#compacted : revision)
    while (versions.clean(65_536)) {
      /* one go: the store does not serve yet */
    }
    const first = plan.snapshot ?? 1
    const badName = this.#badTail && fileName('log', this.#badTail.number)
    const torn =
      this.#badTail && badName !== undefined && !this.#unused.includes(badName)
        ? { name: badName, length: this.#badTail.length }
        : undefined
    return {
      versions,
      leases: [...this.#leases.values()],
      storeId: this.#storeId,
      revision,
      clean,
      torn,
      unused: this.#unused,
      ceiling: Math.max(this.#ceiling, revision),
      nextLog: first + plan.logs.length - this.#unused.length,
      logs: plan.logs.length,
      logBytes: this.#logBytes,
      snapshotBytes: this.#snapshotBytes,
      lastLogLength: this.#previousLength,
    }
  }

  async #eachFrame(
    name: string,
    number: number,
    read: (reader: FrameReader, file: DiskFile) => Promise<void>,
  ): Promise<void> {
    const file = await this.#disk.open(name, 'read')
    try {
      await read(new FrameReader(file, { seed: number, size: await file.size() }), file)
    } finally {
      await file.close()
    }
  }

  #eachRecord(frame: Frame, name: string, visit: (record: FileRecord) => void): void {
    let at = frame.start
    while (at < frame.end) {
      const found = readRecord(frame.window, at)
      if (!found || found.next > frame.end)
        throw damaged(this.#disk, name, 'a record cannot be decoded although its checksum matches')
      visit(found.record)
      at = found.next
    }
  }
}
