/**
 * The disk interface of the file engine, one folder and its files, and its implementation on
 * `node:fs`.
 *
 * All file access goes through it, so that a test can cut the power, fill the disk or fail any
 * call. The guarantees are those of a journaling file system, no more: written bytes may be lost,
 * torn or kept in any order until `sync` of their file resolves; creations, renames and removals
 * may be lost, newest first, until `syncFolder` resolves.
 *
 * The implementation uses callback functions on file descriptors instead of `FileHandle`: they cost
 * half as much per call, and a flush is two calls.
 */
import fs from 'node:fs'
import path from 'node:path'

export interface DiskFile {
  size(): Promise<number>
  /** Fills the buffer from the offset, as far as the file goes; returns the number of bytes. */
  read(offset: number, into: Buffer): Promise<number>
  /** Writes all of the bytes, or throws. */
  write(offset: number, bytes: Uint8Array): Promise<void>
  /** Writes all of the bytes and resolves once they would survive a power cut: `write` and `sync` in one, and faster. */
  writeThrough(offset: number, bytes: Uint8Array): Promise<void>
  truncate(length: number): Promise<void>
  /** Resolves once the contents would survive a power cut. */
  sync(): Promise<void>
  close(): Promise<void>
}

export type OpenMode = 'create' | 'read' | 'write'

export interface Disk {
  /** The folder, for messages. */
  readonly label: string
  list(): Promise<readonly string[]>
  /** `create` fails when the file exists, the other modes when it does not. */
  open(name: string, mode: OpenMode): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  remove(name: string): Promise<void>
  /** Resolves once creations, renames and removals would survive a power cut. */
  syncFolder(): Promise<void>
}

/** The code of a system error, such as `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** True when the disk is full, the quota is exceeded, or the file is too large. */
export function isNoSpace(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
}

const { O_CREAT, O_DSYNC, O_EXCL, O_RDONLY, O_RDWR } = fs.constants

/** Linux makes a write durable in one call (`O_DSYNC`); elsewhere only `fdatasync` does. */
const writesThrough = process.platform === 'linux'

const flags: Readonly<Record<OpenMode, number>> = { create: O_RDWR | O_CREAT | O_EXCL, read: O_RDONLY, write: O_RDWR }

/** A folder of the local file system. */
export class NodeDisk implements Disk {
  readonly label: string

  constructor(folder: string) {
    this.label = folder
  }

  list(): Promise<readonly string[]> {
    return fs.promises.readdir(this.label)
  }

  async open(name: string, mode: OpenMode): Promise<DiskFile> {
    const file = path.join(this.label, name)
    return new NodeFile(file, await openHandle(file, flags[mode]))
  }

  rename(from: string, to: string): Promise<void> {
    return fs.promises.rename(path.join(this.label, from), path.join(this.label, to))
  }

  remove(name: string): Promise<void> {
    return fs.promises.unlink(path.join(this.label, name))
  }

  async syncFolder(): Promise<void> {
    // Windows cannot open a folder; its file systems journal names on their own.
    if (process.platform === 'win32') return
    const handle = await fs.promises.open(this.label, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

class NodeFile implements DiskFile {
  readonly #path: string
  readonly #handle: number
  /** A second descriptor of the same file, opened with `O_DSYNC`, before the file can be renamed. */
  #through: number | undefined

  constructor(file: string, handle: number) {
    this.#path = file
    this.#handle = handle
  }

  async size(): Promise<number> {
    return (
      await call<fs.Stats>((done) => {
        fs.fstat(this.#handle, done)
      })
    ).size
  }

  async read(offset: number, into: Buffer): Promise<number> {
    let filled = 0
    while (filled < into.length) {
      const count = await call<number>((done) => {
        fs.read(this.#handle, into, filled, into.length - filled, offset + filled, done)
      })
      if (count === 0) break
      filled += count
    }
    return filled
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return writeAll(this.#handle, offset, bytes)
  }

  async writeThrough(offset: number, bytes: Uint8Array): Promise<void> {
    if (writesThrough) {
      this.#through ??= await openHandle(this.#path, O_RDWR | O_DSYNC)
      return writeAll(this.#through, offset, bytes)
    }
    await this.write(offset, bytes)
    await this.sync()
  }

  truncate(length: number): Promise<void> {
    return call((done) => {
      fs.ftruncate(this.#handle, length, done)
    })
  }

  sync(): Promise<void> {
    return call((done) => {
      fs.fdatasync(this.#handle, done)
    })
  }

  async close(): Promise<void> {
    const through = this.#through
    if (through !== undefined)
      await call((done) => {
        fs.close(through, done)
      })
    await call((done) => {
      fs.close(this.#handle, done)
    })
  }
}

function openHandle(file: string, mode: number): Promise<number> {
  return call((done) => {
    fs.open(file, mode, 0o600, done)
  })
}

async function writeAll(handle: number, offset: number, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    written += await call<number>((done) => {
      fs.write(handle, bytes, written, bytes.length - written, offset + written, done)
    })
  }
}

/** Turns a callback-style call into a promise. */
function call<T>(start: (done: (error: Error | null, result?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error) reject(error)
      else resolve(result as T)
    })
  })
}
