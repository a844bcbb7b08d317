/**
 * A disk in memory with power cuts: synced data survives, and any part of the rest may survive too.
 *
 * Invariants: a sector (512 bytes) that was written and not synced survives completely, in part or
 * not at all, independent of every other sector; unsynced creations, renames and removals survive
 * up to some point, because file systems journal them in order; synced data always survives. The
 * `before` hook can make any call fail, and `bytesMax` limits the space.
 */
import { randomInt } from '#base'
import type { Random } from '#base'
import type { Disk, DiskFile, OpenMode } from './disk.ts'

/** One disk operation, as passed to the hooks. */
export interface DiskCall {
  readonly operation:
    | 'list'
    | 'open'
    | 'rename'
    | 'remove'
    | 'syncFolder'
    | 'size'
    | 'read'
    | 'write'
    | 'truncate'
    | 'sync'
    | 'close'
  readonly name: string
}

interface SimulatedDiskOptions {
  /** Called before each operation; an error thrown here fails the operation. */
  before?: (call: DiskCall) => void
  /** Called after each operation, before its promise resolves. */
  after?: (call: DiskCall) => void
  /**
   * The maximum total size of all files.
   *
   * @default no limit
   */
  bytesMax?: number
}

const sectorBytes = 512

/** A file as the running system sees it (`current`) and as it is on disk (`durable`). */
interface Inode {
  current: Buffer
  length: number
  durable: Buffer
  /** Sectors written since the last sync. */
  dirty: Set<number>
}

export class SimulatedDisk implements Disk {
  readonly label = '(simulated disk)'
  readonly #options: SimulatedDiskOptions
  #names: Map<string, Inode>
  #durableNames: Map<string, Inode>
  /** Creations, renames and removals since the last `syncFolder`. */
  #unsyncedNames: ((names: Map<string, Inode>) => void)[] = []

  constructor(options: SimulatedDiskOptions = {}, contents: ReadonlyMap<string, Buffer> = new Map()) {
    this.#options = options
    this.#names = new Map(
      [...contents].map(([name, bytes]) => [
        name,
        { current: Buffer.from(bytes), length: bytes.length, durable: Buffer.from(bytes), dirty: new Set() },
      ]),
    )
    this.#durableNames = new Map(this.#names)
  }

  /** Every file as the running system sees it. */
  contents(): Map<string, Buffer> {
    return new Map(
      [...this.#names].map(([name, { current, length }]) => [name, Buffer.from(current.subarray(0, length))]),
    )
  }

  /** A possible state of the disk after a power cut now. */
  cut(random: Random): Map<string, Buffer> {
    const names = new Map(this.#durableNames)
    const survivors = randomInt(random, this.#unsyncedNames.length + 1)
    for (const change of this.#unsyncedNames.slice(0, survivors)) change(names)
    return new Map([...names].map(([name, inode]) => [name, survivorOf(inode, random)]))
  }

  list(): Promise<readonly string[]> {
    return this.#call({ operation: 'list', name: '' }, () => [...this.#names.keys()])
  }

  open(name: string, mode: OpenMode): Promise<DiskFile> {
    return this.#call({ operation: 'open', name }, () => {
      if (mode === 'create') {
        if (this.#names.has(name)) throw diskError('EEXIST', name)
        const inode: Inode = { current: Buffer.alloc(1024), length: 0, durable: Buffer.alloc(0), dirty: new Set() }
        this.#changeNames((names) => names.set(name, inode))
      }
      const inode = this.#names.get(name)
      if (!inode) throw diskError('ENOENT', name)
      return this.#file(name, inode)
    })
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call({ operation: 'rename', name: from }, () => {
      const inode = this.#names.get(from)
      if (!inode) throw diskError('ENOENT', from)
      this.#changeNames((names) => {
        names.delete(from)
        names.set(to, inode)
      })
    })
  }

  remove(name: string): Promise<void> {
    return this.#call({ operation: 'remove', name }, () => {
      if (!this.#names.has(name)) throw diskError('ENOENT', name)
      this.#changeNames((names) => names.delete(name))
    })
  }

  syncFolder(): Promise<void> {
    return this.#call({ operation: 'syncFolder', name: '' }, () => {
      this.#durableNames = new Map(this.#names)
      this.#unsyncedNames = []
    })
  }

  #changeNames(change: (names: Map<string, Inode>) => void): void {
    change(this.#names)
    this.#unsyncedNames.push(change)
  }

  #file(name: string, inode: Inode): DiskFile {
    const run = <T>(operation: DiskCall['operation'], work: () => T): Promise<T> =>
      this.#call({ operation, name }, work)
    const write = (offset: number, bytes: Uint8Array): Promise<void> =>
      run('write', () => {
        this.#write(inode, offset, bytes)
      })
    const sync = (): Promise<void> =>
      run('sync', () => {
        inode.durable = Buffer.from(inode.current.subarray(0, inode.length))
        inode.dirty.clear()
      })
    return {
      write,
      sync,
      // Two steps, because the power may fail between them.
      writeThrough: async (offset, bytes) => {
        await write(offset, bytes)
        await sync()
      },
      size: () => run('size', () => inode.length),
      read: (offset, into) =>
        run('read', () =>
          offset >= inode.length
            ? 0
            : inode.current.copy(into, 0, offset, Math.min(offset + into.length, inode.length)),
        ),
      truncate: (length) =>
        run('truncate', () => {
          truncate(inode, length)
        }),
      close: () => run('close', () => undefined),
    }
  }

  /** As on a real disk, a write that does not fit is written in part. */
  #write(inode: Inode, offset: number, bytes: Uint8Array): void {
    const free =
      (this.#options.bytesMax ?? Infinity) - [...this.#names.values()].reduce((sum, { length }) => sum + length, 0)
    const fitting = Math.max(0, Math.min(bytes.length, inode.length + free - offset))
    const end = offset + fitting
    if (end > inode.current.length)
      inode.current = Buffer.concat([inode.current, Buffer.alloc(Math.max(end, inode.current.length))])
    inode.current.set(bytes.subarray(0, fitting), offset)
    inode.length = Math.max(inode.length, end)
    for (let sector = Math.floor(offset / sectorBytes); sector * sectorBytes < end; sector++) inode.dirty.add(sector)
    if (fitting < bytes.length) throw diskError('ENOSPC', 'write')
  }

  async #call<T>(call: DiskCall, work: () => T): Promise<T> {
    this.#options.before?.(call)
    const result = work()
    this.#options.after?.(call)
    await Promise.resolve()
    return result
  }
}

/** An error as `node:fs` throws it. */
export function diskError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code })
}

function truncate(inode: Inode, length: number): void {
  inode.current.fill(0, length, inode.length)
  for (let sector = Math.floor(length / sectorBytes); sector * sectorBytes < inode.length; sector++)
    inode.dirty.add(sector)
  inode.length = length
}

/** A possible survivor of a power cut: each dirty sector is old, new or torn; the length lies between the synced and the current one. */
function survivorOf({ current, length, durable, dirty }: Inode, random: Random): Buffer {
  if (dirty.size === 0 && durable.length === length) return Buffer.from(durable)
  const [least, most] = [Math.min(durable.length, length), Math.max(durable.length, length)]
  const bytes = Buffer.alloc([least, most, least + randomInt(random, most - least + 1)][randomInt(random, 3)] ?? most)
  durable.copy(bytes)
  for (const sector of dirty) {
    const start = sector * sectorBytes
    const end = Math.min(
      start + ([0, sectorBytes, randomInt(random, sectorBytes + 1)][randomInt(random, 3)] ?? 0),
      bytes.length,
      length,
    )
    if (end > start) current.copy(bytes, start, start, end)
  }
  return bytes
}
