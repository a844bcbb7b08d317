/**
 * The seam to log files: files that programs write without us.
 *
 * The beginning of a log is given back to the file system while its program goes on writing: a hole takes the place of the
 * first bytes, and every later byte keeps its offset. So a log is bounded, and no byte is copied, torn or lost.
 *
 *   offset   0           40 MiB                90 MiB
 *            ├── hole ───┼── what is stored ───┤◀── the program appends
 *
 * Linux punches holes with `fallocate` of util-linux, on ext4, xfs, btrfs and tmpfs. Elsewhere a log is not bounded.
 *
 * Invariants: `find…` only reads; a handle reads the file that it was opened for, also after that was removed.
 */
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

export interface LogSize {
  readonly sizeBytes: number
  /** When its last byte was written. */
  readonly writtenAtMs: number
}

export interface LogHandle {
  /** Shorter than `length` at the end of the file. */
  read(range: { readonly offset: number; readonly length: number }): Promise<Uint8Array>
  close(): Promise<void>
}

/** What is no plain data: files that are open, and news of them. */
export interface LogAccess {
  /** Undefined if there is no such file. */
  open(path: string): Promise<LogHandle | undefined>
  /** Calls back when the file has grown. Undefined when the system cannot watch it. */
  watch(path: string, call: () => void): (() => void) | undefined
}

export interface LogFiles {
  /** Undefined if there is no such file. */
  findSize(path: string): Promise<LogSize | undefined>
  /** How much the file system of a file has left. */
  findFreeBytes(path: string): Promise<number>
  /** Gives these bytes back to the file system. False where it cannot do that. */
  releaseBytes(path: string, range: { readonly from: number; readonly to: number }): Promise<boolean>
  /** Removes all files whose path begins so; succeeds when there is none. */
  removeLogs(prefix: string): Promise<void>
  readonly access: LogAccess
}

/** The log files of this machine. */
export class OsLogFiles implements LogFiles {
  readonly #program: string

  /** @param options.program what punches holes */
  constructor({ program = 'fallocate' }: { readonly program?: string } = {}) {
    this.#program = program
  }

  async findSize(path: string): Promise<LogSize | undefined> {
    const found = await unlessMissing(stat(path))
    return found && { sizeBytes: found.size, writtenAtMs: Math.floor(found.mtimeMs) }
  }

  async findFreeBytes(path: string): Promise<number> {
    const { bavail, bfree, bsize } = await statfs(dirname(path))
    // A part of the disk is reserved for the administrator.
    return bsize * (process.getuid?.() === 0 ? bfree : bavail)
  }

  releaseBytes(path: string, { from, to }: { readonly from: number; readonly to: number }): Promise<boolean> {
    const words = ['--punch-hole', '--offset', String(from), '--length', String(to - from), path]
    return new Promise((resolve, reject) => {
      const child = spawn(this.#program, words, {
        env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let problem = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        problem = `${problem}${text}`.slice(0, 1000)
      })
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') resolve(false)
        else reject(error)
      })
      child.once('close', (code) => {
        if (code === 0) resolve(true)
        else if (/not supported|unrecognized|invalid option/i.test(problem)) resolve(false)
        else reject(new Error(`cannot release the beginning of ${path}: ${problem.trim()}`))
      })
    })
  }

  async removeLogs(prefix: string): Promise<void> {
    const folder = dirname(prefix)
    const names = (await unlessMissing(readdir(folder))) ?? []
    const ours = names.filter((name) => name.startsWith(basename(prefix)))
    await Promise.all(ours.map((name) => rm(join(folder, name), { force: true })))
  }

  readonly access: LogAccess = {
    open: async (path) => {
      const file = await unlessMissing(open(path, 'r'))
      return (
        file && {
          async read({ offset, length }) {
            const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, offset)
            return buffer.subarray(0, bytesRead)
          },
          close: () => file.close(),
        }
      )
    },
    watch: (path, call) => {
      try {
        const watcher = watch(path, { persistent: false }, call)
        watcher.on('error', call)
        return () => {
          watcher.close()
        }
      } catch {
        // The file does not exist, or the system has no more watches.
        return undefined
      }
    },
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
