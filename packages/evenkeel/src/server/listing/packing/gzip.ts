/**
 * The parts of a gzip file that are not compressed: the beginning, plain blocks, and the end.
 *
 * A file is one stream of blocks. Blocks that were made by themselves and end at a whole byte can be put in a row, with plain
 * blocks in between; so a file can be put together from parts that were compressed long ago. Every reader takes it: it
 * is one member, as if it had been compressed in one go.
 */

/** Everybody can read it; the fastest level was used; nobody says on which system. */
export const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff)

const plainMax = 0xffff

/** Bytes as they are. `last` closes the stream. */
export function plainBlocks(bytes: Uint8Array, { last = false }: { last?: boolean } = {}): Uint8Array {
  const count = Math.max(1, Math.ceil(bytes.byteLength / plainMax))
  const out = Buffer.alloc(bytes.byteLength + 5 * count)
  for (let index = 0, at = 0; index < count; index++) {
    const part = bytes.subarray(index * plainMax, (index + 1) * plainMax)
    out[at] = last && index === count - 1 ? 1 : 0
    out.writeUInt16LE(part.byteLength, at + 1)
    out.writeUInt16LE(part.byteLength ^ plainMax, at + 3)
    out.set(part, at + 5)
    at += part.byteLength + 5
  }
  return out
}

/** What the file says about what is in it. */
export function gzipTail({ checksum, bytes }: { checksum: number; bytes: number }): Uint8Array {
  const out = Buffer.alloc(8)
  out.writeUInt32LE(checksum)
  out.writeUInt32LE(bytes % 2 ** 32, 4)
  return out
}

/** What stands between two runs. */
export const commaText: Uint8Array = Buffer.from(',')
export const commaBlock = plainBlocks(commaText)
