/**
 * Room kept back on the disk, given up when it is full so that deletes can still be written.
 *
 * Invariant: the file holds real bytes, not a hole, or giving it up would free nothing.
 */
import type { Disk } from './disk/disk.ts'

const reserveName = 'reserve'

export class Reserve {
  readonly #disk: Disk
  readonly #bytes: number

  constructor(disk: Disk, { bytes }: { bytes: number }) {
    this.#disk = disk
    this.#bytes = bytes
  }

  /** Puts the room aside; false when there is not enough. @throws what else the disk says. */
  async keep(isNoSpace: (error: unknown) => boolean): Promise<boolean> {
    if (this.#bytes === 0) return true
    if ((await this.#disk.list()).includes(reserveName)) return true
    try {
      await this.#fill()
      return true
    } catch (error) {
      await this.release()
      if (isNoSpace(error)) return false
      throw error
    }
  }

  /** Gives the room back to whoever needs it. */
  async release(): Promise<void> {
    if ((await this.#disk.list()).includes(reserveName)) await this.#disk.remove(reserveName)
  }

  async #fill(): Promise<void> {
    const file = await this.#disk.open(reserveName, 'create')
    try {
      const chunk = Buffer.alloc(Math.min(this.#bytes, 256 * 1024))
      for (let offset = 0; offset < this.#bytes; offset += chunk.length) await file.write(offset, chunk)
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
