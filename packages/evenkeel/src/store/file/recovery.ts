/**
 * From files to versions: what a store does when it opens.
 *
 *   snapshot ─▶ load ─▶ log ─▶ replay ─▶ log ─▶ replay ─▶ torn tail? cut : damage? refuse
 *
 * Invariants: only whole frames are replayed, in order, none skipped; a frame that was once durable
 * and is bad now stops everything with a message, and nothing on the disk was changed by then; after
 * a stop that was not in good order the revision jumps above every revision that may have been
 * given out, and all history before is refused, so no client mistakes a new revision for an old one.
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
  /** The revision to go on from. */
  readonly revision: number
  readonly ceiling: number
  /** The number of the next log: behind the last one that was used. */
  readonly nextLog: number
  readonly clean: boolean
  /** Bytes behind the last whole frame of the last log, and where to cut them off. */
  readonly torn: { readonly name: string; readonly length: number } | undefined
  /** The last logs that never got a frame. */
  readonly unused: readonly string[]
  /** How many logs had to be read. */
  readonly logs: number
  readonly logBytes: number
  readonly snapshotBytes: number
  /** The length of the last log that was used, which the next one names. */
  readonly lastLogLength: number | undefined
}

export async function recover(disk: Disk, plan: FolderPlan): Promise<RecoveredState> {
  const recovery = new Recovery(disk)
  if (plan.snapshot !== undefined)
    await recovery.load(fileName('snapshot', plan.snapshot), { kind: 'snapshot', number: plan.snapshot })
  for (const number of plan.logs) await recovery.replay(number)
  return recovery.finish(plan)
}

/** What a backup holds. @throws StoreError when it is not whole. */
export async function recoverBackup(disk: Disk, name: string): Promise<RecoveredState> {
  const recovery = new Recovery(disk)
  await recovery.load(name, { kind: 'backup', number: 0 })
  return recovery.finish({ snapshot: undefined, logs: [], leftovers: [] })
}

/** A bad place in a log that may be a torn tail, or damage if a later log turns up. */
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
  #bad: BadTail | undefined
  #previousLength: number | undefined
  #unused: string[] = []
  #logBytes = 0
  #snapshotBytes = 0

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** Reads a snapshot: every frame must be whole, and the summary must agree with what came before. */
  async load(name: string, { kind, number }: { kind: 'snapshot' | 'backup'; number: number }): Promise<void> {
    const header = await readHeader(this.#disk, name, { kind, number })
    if (header === 'unfinished') throw damaged(this.#disk, name, 'its beginning is missing')
    this.#storeId = header.storeId
    await this.#eachFrame(name, number, (reader) => this.#loadFrames(reader, name))
    if (!this.#summary) throw damaged(this.#disk, name, 'its end is missing')
    if (this.#summary.entries !== this.#versions.size)
      throw damaged(this.#disk, name, `it says ${this.#summary.entries} entries and holds ${this.#versions.size}`)
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
        else throw damaged(this.#disk, name, `a record of type ${record.type} does not belong there`)
      })
    }
    if (!reader.atEnd) throw damaged(this.#disk, name, `the data at byte ${reader.offset} does not match its checksum`)
    this.#snapshotBytes = reader.offset
  }

  /** The puts a frame begins with, some hundred to a block; gives where they end. */
  #loadPuts(frame: Frame, slab: Slab, name: string): number {
    for (let at = frame.start; ;) {
      const run = readPackedRun(slab, at, frame.end)
      if (!run) return at
      if (run.end > frame.end || !this.#versions.load(run, slab, run.valueBytes))
        throw damaged(this.#disk, name, 'its keys are not in order although the checksum holds')
      at = run.end
    }
  }

  /** Reads a log as far as it is whole. */
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
        throw damaged(this.#disk, name, 'its header is broken')
      if (reader.count === 0) this.#unused.push(name)
      else this.#revision = Math.max(this.#revision, header === 'unfinished' ? 0 : header.revision)
      await this.#judgeTail(reader, { number, size: await file.size() })
    })
  }

  async #judgeTail(reader: FrameReader, { number, size }: { number: number; size: number }): Promise<void> {
    const name = fileName('log', number)
    if (reader.offset < size && (await reader.provesDamage())) {
      throw damaged(
        this.#disk,
        name,
        `the data at byte ${reader.offset} does not match its checksum, and later data does`,
      )
    }
    if (reader.count > 0) {
      this.#bad = reader.offset < size ? { number, length: reader.offset } : undefined
      this.#previousLength = reader.offset
      this.#logBytes += reader.offset
    } else if (reader.offset < size) this.#bad ??= { number, length: reader.offset }
  }

  #replayFrame(frame: Frame, { name, first }: { name: string; first: boolean }): void {
    const [empty] = this.#unused
    if (empty !== undefined) throw damaged(this.#disk, empty, 'it is empty, and a later log exists')
    this.#clean = false
    this.#eachRecord(frame, name, (record) => {
      this.#apply(record, { frame, name })
    })
    if (first && this.#bad)
      throw damaged(
        this.#disk,
        fileName('log', this.#bad.number),
        `the data at byte ${this.#bad.length} does not match its checksum, and a later log exists`,
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
        throw damaged(this.#disk, name, 'a record of a snapshot does not belong there')
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

  /** A log got its first frame only after the one before it was whole on the disk. What lies behind the end of that one is of an older log. */
  #checkFollows(length: number, name: string): void {
    if (this.#previousLength !== undefined && this.#previousLength !== length) {
      throw damaged(
        this.#disk,
        name,
        `the log before it should have ${length} whole bytes and has ${this.#previousLength}`,
      )
    }
    this.#bad = undefined
  }

  finish(plan: FolderPlan): RecoveredState {
    // Nothing is written behind the mark of a good end, so whatever lies there is old.
    const clean = this.#clean
    const revision = clean ? this.#revision : Math.max(this.#ceiling, this.#revision)
    const versions = this.#versions
    versions.publish([], revision)
    versions.compact(clean ? this.#compacted : revision)
    while (versions.clean(65_536)) {
      /* nobody waits for us yet */
    }
    const first = plan.snapshot ?? 1
    const badName = this.#bad && fileName('log', this.#bad.number)
    const torn =
      this.#bad && badName !== undefined && !this.#unused.includes(badName)
        ? { name: badName, length: this.#bad.length }
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
        throw damaged(this.#disk, name, 'a record makes no sense although its checksum holds')
      visit(found.record)
      at = found.next
    }
  }
}
