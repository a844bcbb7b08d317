/**
 * A tar archive as a stream: what a build sends to the runtime. Regular files, folders and symbolic links; the format is ustar with
 * pax records for names that do not fit.
 *
 * Worked example of an entry: a head of 512 bytes (name, mode, size in octal, checksum over the head with blanks in the place of
 * the checksum), the bytes of the file, zeros up to a multiple of 512. The archive ends with two heads of zeros.
 *
 * Invariants: owner and times are zero, so the same files give the same bytes; memory is bounded by one piece of a file; a file
 * that changes its size while it is read fails the archive instead of corrupting it.
 */

export interface TarEntry {
  /** With slashes, relative, without `.` and `..`. */
  readonly path: string
  readonly type: 'file' | 'folder' | 'link'
  readonly mode: number
  /** Of a file. */
  readonly size?: number
  readonly content?: AsyncIterable<Uint8Array>
  /** Of a link: where it points. */
  readonly target?: string
}

const blockBytes = 512
const [nameBytes, targetBytes] = [100, 100]
const types = { file: '0', folder: '5', link: '2' } as const
const encoder = new TextEncoder()

/** The bytes of the archive. */
export async function* writeTar(entries: AsyncIterable<TarEntry> | Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    const { type, mode, size = 0, target = '' } = entry
    const path = type === 'folder' ? `${entry.path}/` : entry.path
    const records = paxRecords(path, target)
    if (records.length > 0) {
      yield headOf({ path: 'pax', type: 'x', mode: 0o644, size: records.length, target: '' })
      yield records
      yield padding(records.length)
    }
    yield headOf({ path, type: types[type], mode, size: type === 'file' ? size : 0, target })
    if (type === 'file') yield* contentOf(entry, size)
  }
  yield new Uint8Array(2 * blockBytes)
}

async function* contentOf({ path, content }: TarEntry, size: number): AsyncGenerator<Uint8Array> {
  let written = 0
  if (content)
    for await (const piece of content) {
      written += piece.length
      if (written > size) break
      yield piece
    }
  if (written !== size) throw new Error(`${path} changed while it was read: build again`)
  yield padding(size)
}

/** Names and targets that do not fit into the head, or are not ASCII: `27 path=…\n`, where 27 counts the whole record. */
function paxRecords(path: string, target: string): Uint8Array {
  const records = [
    ...(needsRecord(path, nameBytes) ? [recordOf('path', path)] : []),
    ...(needsRecord(target, targetBytes) ? [recordOf('linkpath', target)] : []),
  ]
  return encoder.encode(records.join(''))
}

function needsRecord(text: string, bytes: number): boolean {
  const encoded = encoder.encode(text)
  return encoded.length > bytes || encoded.length !== text.length
}

function recordOf(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`
  const restBytes = encoder.encode(rest).length
  let length = restBytes
  while (String(length).length + restBytes !== length) length = String(length).length + restBytes
  return `${length}${rest}`
}

interface Head {
  readonly path: string
  readonly type: string
  readonly mode: number
  readonly size: number
  readonly target: string
}

function headOf({ path, type, mode, size, target }: Head): Uint8Array {
  const head = new Uint8Array(blockBytes)
  const put = (text: string, at: number, bytes: number): void => {
    head.set(encoder.encode(text).subarray(0, bytes), at)
  }
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits - 1, '0')}\0`
  put(path, 0, nameBytes)
  put(octal(mode & 0o7777, 8), 100, 8)
  put(octal(0, 8), 108, 8)
  put(octal(0, 8), 116, 8)
  put(octal(size, 12), 124, 12)
  put(octal(0, 12), 136, 12)
  put(' '.repeat(8), 148, 8)
  put(type, 156, 1)
  put(target, 157, targetBytes)
  put('ustar\0' + '00', 257, 8)
  const checksum = head.reduce((sum, byte) => sum + byte, 0)
  put(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 8)
  return head
}

function padding(size: number): Uint8Array {
  return new Uint8Array((blockBytes - (size % blockBytes)) % blockBytes)
}
