/**
 * A log file with rotation: bounded in size, with a number of backups.
 *
 * Invariants: `write` never waits and never throws. Lines reach the disk in order, each one whole. The files together
 * use no more than `bytesMax` times (`backupsMax` + 1), and memory no more than `bufferBytesMax`. A full disk drops new
 * lines, which are counted; writing is retried every second.
 */
import { constants } from 'node:fs'
import { open, readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { formatMicroTime } from '#api'
import { sleep, type Clock, type Logger } from '#base'

export interface AuditFileOptions {
  /**
   * Created if it is missing, readable by its owner only. Backups are beside it: `audit-2026-01-01T00-00-00.000.log`.
   */
  path: string
  /**
   * The size at which the file is rotated.
   *
   * @default 10_485_760
   */
  bytesMax?: number
  /**
   * How many old ones are kept.
   *
   * @default 5
   */
  backupsMax?: number
  /**
   * How old they may be.
   *
   * @default any age
   */
  ageMaxMs?: number
  /**
   * The size of the write buffer. Requests never wait for the disk: lines beyond this are dropped and counted.
   *
   * @default 8_388_608
   */
  bufferBytesMax?: number
}

interface RotatingFileContext {
  readonly clock: Clock
  readonly log: Logger
  /** Transforms each accepted line. */
  seal(line: string): string
}

const retryMs = 1000
const batchBytes = 256 * 1024

export class RotatingFile {
  readonly #path: string
  readonly #options: Required<Omit<AuditFileOptions, 'path' | 'ageMaxMs'>> & Pick<AuditFileOptions, 'ageMaxMs'>
  readonly #around: RotatingFileContext
  readonly #closing = new AbortController()
  #handle: FileHandle | undefined
  #size = 0
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #dropped = 0
  #draining: Promise<void> | undefined

  private constructor(
    { path, bytesMax = 10 * 1024 * 1024, backupsMax = 5, ageMaxMs, bufferBytesMax = 8 * 1024 * 1024 }: AuditFileOptions,
    around: RotatingFileContext,
  ) {
    for (const [name, value] of Object.entries({ bytesMax, bufferBytesMax }))
      if (!(Number.isSafeInteger(value) && value > 0))
        throw new RangeError(`${name} must be a whole number above 0, got ${value}`)
    if (!(Number.isSafeInteger(backupsMax) && backupsMax >= 0))
      throw new RangeError(`backupsMax must be a whole number of 0 or more, got ${backupsMax}`)
    this.#path = path
    this.#options = { bytesMax, backupsMax, bufferBytesMax, ...(ageMaxMs !== undefined && { ageMaxMs }) }
    this.#around = around
  }

  /** @throws errors of opening a file. */
  static async open(options: AuditFileOptions, around: RotatingFileContext): Promise<RotatingFile> {
    const file = new RotatingFile(options, around)
    await file.#open()
    return file
  }

  /** Lines that were dropped because the buffer was full. */
  get dropped(): number {
    return this.#dropped
  }

  write(line: string): void {
    if (this.#closing.signal.aborted || this.#pendingBytes + line.length > this.#options.bufferBytesMax) {
      this.#dropped++
      return
    }
    const bytes = Buffer.from(`${this.#around.seal(line)}\n`)
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.byteLength
    this.#draining ??= this.#drain()
  }

  /** Resolves when the buffer is empty. */
  async idle(): Promise<void> {
    await this.#draining
  }

  /** Writes the buffer, unless the disk refuses it, and closes the file. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#draining
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #drain(): Promise<void> {
    let isFailing = false
    // Lines of one turn are written together.
    await Promise.resolve()
    while (this.#pending.length > 0) {
      try {
        await this.#writeBatch()
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#around.log.error('cannot write the audit log', { path: this.#path, error })
        isFailing = true
        if (this.#closing.signal.aborted) break
        await sleep(this.#around.clock, retryMs, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
    this.#draining = undefined
  }

  async #writeBatch(): Promise<void> {
    const [first] = this.#pending
    if (first === undefined) return
    if (this.#size > 0 && this.#size + first.byteLength > this.#options.bytesMax) await this.#rotate()
    const batch = this.#nextBatch()
    const handle = this.#handle ?? (await this.#open())
    const start = this.#size
    try {
      await handle.appendFile(Buffer.concat(batch))
    } catch (error) {
      // A partial batch is removed and written again.
      await handle.truncate(start)
      throw error
    }
    this.#pending.splice(0, batch.length)
    for (const { byteLength } of batch) {
      this.#size += byteLength
      this.#pendingBytes -= byteLength
    }
  }

  /** As many lines as fit into the file; at least one. */
  #nextBatch(): Uint8Array[] {
    let bytes = 0
    const room = Math.min(batchBytes, this.#options.bytesMax - this.#size)
    const end = this.#pending.findIndex(({ byteLength }) => (bytes += byteLength) > room)
    return this.#pending.slice(0, end < 0 ? undefined : Math.max(1, end))
  }

  async #open(): Promise<FileHandle> {
    const handle = await open(
      this.#path,
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
      0o600,
    )
    const { size } = await handle.stat()
    this.#handle = handle
    this.#size = size
    // A crash may have left a partial line: it stays unchanged, in a file of its own.
    if (size > 0 && !(await endsWithBreak(handle, size))) return this.#rotate()
    return handle
  }

  async #rotate(): Promise<FileHandle> {
    await this.#handle?.close()
    this.#handle = undefined
    // The file may have been removed from outside; then there is no backup to make.
    await rename(this.#path, await this.#backupName()).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
    await this.#prune()
    return this.#open()
  }

  async #backupName(): Promise<string> {
    const extension = extname(this.#path)
    const stem = this.#path.slice(0, this.#path.length - extension.length)
    for (let moment = this.#around.clock.now(); ; moment++) {
      const name = `${stem}-${stampOf(moment)}${extension}`
      if (await isFree(name)) return name
    }
  }

  async #prune(): Promise<void> {
    const { backupsMax, ageMaxMs } = this.#options
    const backups = await auditBackups(this.#path)
    const oldest = ageMaxMs === undefined ? undefined : stampOf(this.#around.clock.now() - ageMaxMs)
    for (const [index, path] of backups.entries()) {
      const isOld = oldest !== undefined && stampIn(path) < oldest
      if (isOld || backups.length - index > backupsMax) await unlink(path)
    }
  }
}

const stamp = /-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3})$/

/** The old files of an audit log, oldest first. */
export async function auditBackups(path: string): Promise<string[]> {
  const extension = extname(path)
  const stem = basename(path, extension)
  const names = await readdir(dirname(path))
  return names
    .filter(
      (name) =>
        name.endsWith(extension) &&
        name.startsWith(`${stem}-`) &&
        stamp.test(basename(name, extension)) &&
        basename(name, extension).length === stem.length + 24,
    )
    .sort()
    .map((name) => join(dirname(path), name))
}

function stampIn(path: string): string {
  return stamp.exec(basename(path, extname(path)))?.[1] ?? ''
}

/** A timestamp that is valid in a file name and sorts by time. */
function stampOf(timeMs: number): string {
  return formatMicroTime(timeMs).slice(0, 23).replaceAll(':', '-')
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ENOENT'
}

async function isFree(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    () => true,
  )
}

async function endsWithBreak(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] === 0x0a
}
