/**
 * Deliberately broken stores, to show that the harness detects them.
 *
 * - `ack before sync`: a disk whose sync does nothing; every acknowledgement comes too early.
 * - `no checksum`: the files after a cut get valid checksums, as if none were checked.
 */
import { crc32 } from 'node:zlib'
import type { Disk, DiskFile } from 'evenkeel/unstable/store'

/** A disk that acknowledges a sync without doing it. */
export function withoutSync(disk: Disk): Disk {
  const open = async (name: string, mode: 'create' | 'read' | 'write'): Promise<DiskFile> => {
    const file = await disk.open(name, mode)
    return { ...file, sync: () => Promise.resolve(), writeThrough: (offset, bytes) => file.write(offset, bytes) }
  }
  return {
    label: disk.label,
    list: () => disk.list(),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    syncFolder: () => disk.syncFolder(),
    open,
  }
}

const headerBytes = 64
const frameHeaderBytes = 32

/** Gives every frame in the files a checksum that matches its content. */
export function withoutChecksums(files: Map<string, Buffer>): Map<string, Buffer> {
  for (const [name, bytes] of files) {
    const number = Number(/-(\d+)\.ek$/.exec(name)?.[1] ?? NaN)
    if (!Number.isNaN(number)) forgeFrames(bytes, number)
  }
  return files
}

function forgeFrames(bytes: Buffer, seed: number): void {
  let at = headerBytes
  while (at + frameHeaderBytes <= bytes.length && bytes.readUInt32LE(at) === (0x314b4645 ^ seed) >>> 0) {
    const end = at + frameHeaderBytes + bytes.readUInt32LE(at + 8)
    if (end > bytes.length) return
    bytes.writeUInt32LE(crc32(bytes.subarray(at + 8, end), seed), at + 4)
    at = end
  }
}
