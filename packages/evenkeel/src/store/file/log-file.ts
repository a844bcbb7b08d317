/**
 * One log on the disk, open for appending.
 *
 * Invariants: `length` is the end of the last frame that was synced, and nothing behind it counts;
 * a flush is one or more frames and one sync; after a refused flush the file ends at `length`
 * again, on the disk too.
 */
import type { Disk, DiskFile } from './disk/disk.ts'
import { encodeHeader, fileName, headerBytes } from './format/file-header.ts'
import type { FileHeader } from './format/file-header.ts'
import type { FrameBuilder } from './format/frame.ts'

export class LogFile {
  readonly number: number
  readonly #file: DiskFile
  #length: number = headerBytes
  #frames = 0

  private constructor(number: number, file: DiskFile) {
    this.number = number
    this.#file = file
  }

  /** Makes an empty log that would survive a power cut. */
  static async create(disk: Disk, header: FileHeader): Promise<LogFile> {
    const file = await disk.open(fileName('log', header.number), 'create')
    try {
      await file.write(0, encodeHeader(header))
      await file.sync()
      await disk.syncFolder()
    } catch (error) {
      await file.close()
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

  /** Writes frames behind the last ones. Nothing counts until {@link sync}. */
  async write(frames: readonly Buffer[]): Promise<void> {
    let offset = this.#length
    for (const frame of frames) {
      await this.#file.write(offset, frame)
      offset += frame.length
    }
  }

  /** Makes the frames durable. A failure here leaves nobody knowing what is on the disk. */
  async sync(frames: readonly Buffer[]): Promise<void> {
    await this.#file.sync()
    for (const frame of frames) this.#length += frame.length
    this.#frames += frames.length
  }

  /** Takes back what a failed {@link write} may have left behind, so that it can never be read. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.#length)
    await this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
