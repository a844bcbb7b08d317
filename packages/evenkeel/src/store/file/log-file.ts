/**
 * One log on the disk, open for appending.
 *
 * A new log is written over an old one that is no longer needed, if there is one: its blocks are
 * allocated already, and a durable write into them costs about half of one that makes the file grow.
 *
 * Invariants: `length` is the end of the last frame that is durable, and nothing behind it counts,
 * whatever is there; a log appears under its name only with its header on the disk; after a
 * refused write the file ends at `length`, on the disk too.
 */
import type { Disk, DiskFile } from './disk.ts'
import { encodeHeader, fileName, headerBytes, type FileHeader } from './folder.ts'
import type { FrameBuilder } from './frame.ts'

/** A log that is no longer needed, kept for its blocks. */
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

  /** Makes an empty log that would survive a power cut. What fails leaves no file under its name. */
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

  /** Closes the frame that was collected, as the `ahead`-th of the coming flush. */
  seal(frame: FrameBuilder, ahead: number): Buffer {
    return frame.finish(this.number, { durable: this.#length, number: this.#frames + ahead })
  }

  /** Makes frames durable behind the last ones. When it fails, {@link cut} takes back what may have got there. */
  async append(frames: readonly Buffer[]): Promise<void> {
    let offset = this.#length
    for (const frame of frames) {
      await this.#file.writeThrough(offset, frame)
      offset += frame.length
    }
    this.#length = offset
    this.#frames += frames.length
  }

  /** Ends the file where the durable frames end, so that nothing behind them can ever be read. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.#length)
    await this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
