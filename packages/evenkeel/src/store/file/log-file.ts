/**
 * One log file, open for appending.
 *
 * A new log overwrites an old one that is no longer needed, if there is one: its disk blocks are
 * allocated already, and a durable write into them costs about half of one that extends the file.
 *
 * Invariants: `length` is the end of the last durable frame, and bytes after it are ignored; a log
 * gets its name only after its header is durable; after a refused write the file is truncated to
 * `length`, on disk too.
 */
import type { Disk, DiskFile } from './disk.ts'
import { encodeHeader, fileName, headerBytes, type FileHeader } from './folder.ts'
import type { FrameBuilder } from './frame.ts'

/** A log that is no longer needed, kept for its disk blocks. */
export const spareName = 'spare'

export class LogFile {
  readonly number: number
  readonly #file: DiskFile
  #length: number = headerBytes
  #frames = 0

  private constructor(number: number, file: DiskFile) {
    this.number = number
    this.#file = file
  }

  /** Creates an empty, durable log. A failure leaves no file with its name. */
  static async create(disk: Disk, header: FileHeader): Promise<LogFile> {
    const name = fileName('log', header.number)
    const isSpare = (await disk.list()).includes(spareName)
    const file = await disk.open(isSpare ? spareName : name, isSpare ? 'write' : 'create')
    try {
      await file.writeThrough(0, encodeHeader(header))
      if (isSpare) await disk.rename(spareName, name)
      await disk.syncFolder()
    } catch (error) {
      await file.close()
      if ((await disk.list()).includes(name)) await disk.remove(name)
      throw error
    }
    return new LogFile(header.number, file)
  }

  get length(): number {
    return this.#length
  }

  /** Finishes a frame, as number `ahead` of the next flush. */
  seal(frame: FrameBuilder, ahead: number): Buffer {
    return frame.finish(this.number, { durable: this.#length, number: this.#frames + ahead })
  }

  /** Appends frames durably. After a failure, {@link cut} removes what may have been written. */
  async append(frames: readonly Buffer[]): Promise<void> {
    let offset = this.#length
    for (const frame of frames) {
      await this.#file.writeThrough(offset, frame)
      offset += frame.length
    }
    this.#length = offset
    this.#frames += frames.length
  }

  /** Truncates the file after the last durable frame, so that bytes after it can never be read. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.#length)
    await this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
