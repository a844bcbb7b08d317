/**
 * Log files in memory, for tests and for the Explorer. Released bytes read as NUL, as in a hole.
 */
import type { Clock } from 'evenkeel/unstable/base'
import type { LogAccess, LogFiles, LogSize } from './log-files.ts'

interface SimulatedLog {
  bytes: Uint8Array
  writtenAtMs: number
}

export class SimulatedLogFiles implements LogFiles {
  /** What the disk has left. */
  freeBytes = 1e12
  /** Whether the file system can punch holes. */
  canRelease = true
  /** Whether the system can watch files. */
  canWatch = true
  readonly #clock: Clock
  readonly #logs = new Map<string, SimulatedLog>()
  readonly #watchers = new Map<string, Set<() => void>>()

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock
  }

  findSize(path: string): Promise<LogSize | undefined> {
    const log = this.#logs.get(path)
    return Promise.resolve(log && { sizeBytes: log.bytes.length, writtenAtMs: log.writtenAtMs })
  }

  findFreeBytes(): Promise<number> {
    return Promise.resolve(this.freeBytes)
  }

  releaseBytes(path: string, { from, to }: { readonly from: number; readonly to: number }): Promise<boolean> {
    if (this.canRelease) this.#logs.get(path)?.bytes.fill(0, from, to)
    return Promise.resolve(this.canRelease)
  }

  removeLogs(prefix: string): Promise<void> {
    for (const path of this.#logs.keys()) if (path.startsWith(prefix)) this.#logs.delete(path)
    return Promise.resolve()
  }

  readonly access: LogAccess = {
    open: (path) => {
      const log = this.#logs.get(path)
      return Promise.resolve(
        log && {
          read: ({ offset, length }) => Promise.resolve(log.bytes.slice(offset, offset + length)),
          close: () => Promise.resolve(),
        },
      )
    },
    watch: (path, call) => {
      // A program that runs has a log, also when it has written nothing.
      if (!this.#logs.has(path)) this.write(path, '')
      if (!this.canWatch) return undefined
      const watchers = this.#watchers.get(path) ?? new Set()
      this.#watchers.set(path, watchers.add(call))
      return () => void watchers.delete(call)
    },
  }

  /* What programs do, for tests. */

  /** A program writes. Returns false when the disk is full: then nothing is written. */
  write(path: string, piece: string | Uint8Array): boolean {
    const added = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (added.length > this.freeBytes) return false
    this.freeBytes -= added.length
    const log = this.#logs.get(path) ?? { bytes: new Uint8Array(), writtenAtMs: 0 }
    log.bytes = Buffer.concat([log.bytes, added])
    log.writtenAtMs = this.#clock.now()
    this.#logs.set(path, log)
    for (const call of [...(this.#watchers.get(path) ?? [])]) call()
    return true
  }

  paths(): readonly string[] {
    return [...this.#logs.keys()]
  }

  /** How many bytes at the beginning of a log are a hole. */
  releasedBytes(path: string): number {
    const bytes = this.#logs.get(path)?.bytes ?? new Uint8Array()
    const end = bytes.findIndex((byte) => byte !== 0)
    return end < 0 ? bytes.length : end
  }

  /** How many watchers wait for a log. */
  watchersOf(path: string): number {
    return this.#watchers.get(path)?.size ?? 0
  }
}
