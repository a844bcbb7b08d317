/**
 * Writes everything that is there at one revision into one file, a little at a time.
 *
 * Invariants: the file exists under its final name only when it is whole and synced; versions the
 * scan still needs are pinned; between two pieces everybody else gets a turn, the disk is left to
 * others half of the time, and unsynced bytes never pile up, so writers hardly feel it.
 */
import { nextTurn, sleep } from '#base'
import type { AbortOptions, Clock } from '#base'
import type { LeaseState } from '../local/leases.ts'
import type { Version } from '../local/version.ts'
import type { Versions } from '../local/versions.ts'
import type { Disk, DiskFile } from './disk/disk.ts'
import { encodeHeader, headerBytes } from './format/file-header.ts'
import type { FileHeader } from './format/file-header.ts'
import { FrameBuilder } from './format/frame.ts'
import { writeGrant, writeSummary, writeVersion } from './format/record.ts'

/** How much is collected before it is written. */
const pieceBytes = 256 * 1024
/** How many keys are looked at before others get a turn, whatever they weigh. */
const pieceKeys = 512
/** How much may be written before it is synced: a writer's sync may have to wait for that much. */
const unsyncedBytesMax = 1024 * 1024

export interface SnapshotSource {
  readonly versions: Versions
  readonly leases: () => readonly LeaseState[]
  /** No revision above it has been given out. */
  readonly ceiling: () => number
  readonly clock: Clock
}

interface SnapshotTarget {
  readonly disk: Disk
  /** The name while it is written; it must not be taken. */
  readonly temporary: string
  readonly name: string
  readonly header: Omit<FileHeader, 'revision'>
}

/** Writes a snapshot of the newest revision; gives its length and revision. Whatever fails, the temporary file is gone. */
export async function writeSnapshot(
  source: SnapshotSource,
  target: SnapshotTarget,
  { signal }: AbortOptions = {},
): Promise<{ bytes: number; revision: number }> {
  const { disk, temporary, name } = target
  const pin = source.versions.pin()
  try {
    const file = await disk.open(temporary, 'create')
    const writer = new SnapshotWriter(file, source, { ...target.header, revision: pin.revision })
    try {
      await writer.run(pin.revision, signal)
    } finally {
      await file.close()
    }
    await disk.rename(temporary, name)
    await disk.syncFolder()
    return { bytes: writer.bytes, revision: pin.revision }
  } catch (error) {
    if ((await disk.list()).includes(temporary)) await disk.remove(temporary)
    throw error
  } finally {
    pin.release()
  }
}

class SnapshotWriter {
  readonly #file: DiskFile
  readonly #source: SnapshotSource
  readonly #header: FileHeader
  readonly #frame = new FrameBuilder(pieceBytes + pieceBytes / 4)
  #offset: number = headerBytes
  #synced = 0
  #frames = 0
  #entries = 0

  constructor(file: DiskFile, source: SnapshotSource, header: FileHeader) {
    this.#file = file
    this.#source = source
    this.#header = header
  }

  get bytes(): number {
    return this.#offset
  }

  async run(revision: number, signal: AbortSignal | undefined): Promise<void> {
    const { versions, leases, ceiling, clock } = this.#source
    await this.#file.write(0, encodeHeader(this.#header))
    const visit = (version: Version): void => {
      writeVersion(this.#frame, version)
      this.#entries++
    }
    for (let from: string | undefined = ''; from !== undefined;) {
      from = versions.scan({ prefix: '', revision, from, visitMax: pieceKeys }, visit)
      if (this.#frame.bytes >= pieceBytes) await this.#flush()
      else await nextTurn(clock)
      signal?.throwIfAborted()
    }
    for (const lease of leases()) writeGrant(this.#frame, lease)
    writeSummary(this.#frame, { entries: this.#entries, revision, ceiling: ceiling() })
    await this.#flush()
    await this.#file.sync()
  }

  async #flush(): Promise<void> {
    const frame = this.#frame.finish(this.#header.number, { durable: this.#synced, number: this.#frames++ })
    const { clock } = this.#source
    const startedMs = clock.monotonic()
    await this.#file.write(this.#offset, frame)
    this.#offset += frame.length
    if (this.#offset - this.#synced >= unsyncedBytesMax) {
      await this.#file.sync()
      this.#synced = this.#offset
    }
    // As long as we kept the disk busy, it is left to others.
    const busyMs = clock.monotonic() - startedMs
    if (busyMs > 0) await sleep(clock, busyMs)
    else await nextTurn(clock)
  }
}
