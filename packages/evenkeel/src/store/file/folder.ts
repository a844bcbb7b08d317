/**
 * The files of a store folder: their names, their headers, and whether they form a complete chain.
 *
 *   snapshot-00000004.ek   the state before log 4
 *   log-00000004.ek        the commits after it, then log 5, …
 *   reserve · spare        space for deletes on a full disk · an old log, kept for its disk blocks
 *   owner.N.sock           the lock of the process that has the folder open
 *
 * Each log, snapshot and backup starts with a header of 64 bytes:
 *
 *   0 magic `EVENKEEL` · 8 format (2) · 10 kind (1) · 12 checksum (4) · 16 store id (16) · 32 number (8) · 40 revision (8)
 *
 * Invariants: this file only reads; a folder with any foreign file is refused, so that a wrong path
 * never mixes a store with other files; magic, format and kind keep their offsets in every future
 * format, so that an old release can tell a newer file from a corrupt one.
 *
 * Examples of a folder with snapshot 4:
 *
 *   snapshot 4 · logs 4 5 6     complete: load the snapshot, replay 4, 5 and 6
 *   snapshot 4 · logs 3 4       complete: log 3 is a leftover of the last compaction and is removed
 *   snapshot 4 · logs 4 6       refused: log 5 is missing, so acknowledged commits would be lost
 */
import { crc32 } from 'node:zlib'
import { StoreError } from '../store.ts'
import type { Disk } from './disk.ts'

/** The numbers of the files to read, and the names of leftovers. */
export interface FolderPlan {
  readonly snapshot: number | undefined
  readonly logs: readonly number[]
  /** Temporary and replaced files, to be removed once the store is open. */
  readonly leftovers: readonly string[]
}

/** Lists the files to read. @throws StoreError for a foreign file or a gap in the chain of logs. */
export async function planFolder(disk: Disk): Promise<FolderPlan> {
  const names = await disk.list()
  const foreign = names.find((name) => !isStoreFile(name))
  if (foreign !== undefined)
    throw new StoreError(
      'Foreign',
      `${disk.label} contains ${foreign}, which is not a file of a store: choose an empty folder`,
    )
  const files = names.map((name) => ({ name, parsed: parseFileName(name) }))
  const numbersOf = (kind: 'log' | 'snapshot'): number[] =>
    files.flatMap(({ parsed }) => (parsed?.kind === kind ? [parsed.number] : [])).sort((a, b) => a - b)
  const snapshot = numbersOf('snapshot').at(-1)
  const from = snapshot ?? 1
  const logs = numbersOf('log').filter((number) => number >= from)
  checkChain(disk, { from, logs, snapshot })
  const leftovers = files.flatMap(({ name, parsed }) =>
    name.endsWith('.tmp') || (parsed && parsed.number < from) ? [name] : [],
  )
  return { snapshot, logs, leftovers }
}

/** The header of a file, or `unfinished`. @throws StoreError when the file does not match its name. */
export async function readHeader(
  disk: Disk,
  name: string,
  { kind, number }: Pick<FileHeader, 'kind' | 'number'>,
): Promise<FileHeader | 'unfinished'> {
  const file = await disk.open(name, 'read')
  try {
    const bytes = Buffer.alloc(headerBytes)
    const reading = decodeHeader(bytes.subarray(0, await file.read(0, bytes)))
    // A log whose header was torn by a power cut has no frames; the frame reader checks that.
    if (reading.type === 'unfinished' || (reading.type === 'damaged' && kind === 'log')) return 'unfinished'
    if (reading.type === 'foreign')
      throw new StoreError(
        'Foreign',
        `${disk.label}/${name} was not written by Evenkeel: move it away or choose another folder`,
      )
    if (reading.type === 'newer') throw newerFormat(`${disk.label}/${name}`, reading.format)
    if (reading.type === 'damaged') throw damaged(disk, name, 'its header is corrupt')
    if (reading.header.kind !== kind || reading.header.number !== number)
      throw damaged(
        disk,
        name,
        `its header says ${reading.header.kind} ${reading.header.number}; the file was renamed or copied`,
      )
    return reading.header
  } finally {
    await file.close()
  }
}

function newerFormat(where: string, format: number): StoreError {
  return new StoreError(
    'NewerFormat',
    `${where} has format ${format}, but this release reads up to ${formatVersion}: use the release of Evenkeel that wrote it, or a newer one`,
  )
}

export function damaged(disk: Disk, name: string, what: string): StoreError {
  return new StoreError(
    'Damaged',
    `${disk.label}/${name} is damaged: ${what}. Nothing was changed; restore a backup into a new folder (snapshot restore) and keep this one for inspection`,
  )
}

function isStoreFile(name: string): boolean {
  return (
    parseFileName(name) !== undefined ||
    /^(?:reserve|spare|owner\.\d+\.sock|owner\.new\.\w+\.sock|snapshot-\d{8,15}\.tmp)$/.test(name)
  )
}

/** Logs must follow the snapshot without a gap: a missing log would silently lose acknowledged commits. */
function checkChain(
  disk: Disk,
  { from, logs, snapshot }: { from: number; logs: readonly number[]; snapshot: number | undefined },
): void {
  const gap = logs.findIndex((number, index) => number !== from + index)
  const missing = gap >= 0 ? from + gap : logs.length === 0 && snapshot !== undefined ? from : undefined
  if (missing !== undefined) throw damaged(disk, fileName('log', missing), 'it is missing')
}

export const headerBytes = 64

/** Raise it when this release could not read the files any more, and describe the change in `docs/decisions/store.md`. */
const formatVersion = 1

const magic = Buffer.from('EVENKEEL', 'latin1')
const kinds = { log: 1, snapshot: 2, backup: 3 } as const

type FileKind = keyof typeof kinds

export interface FileHeader {
  readonly kind: FileKind
  /** 32 hexadecimal digits, the same in all files of a store. */
  readonly storeId: string
  /** Logs and snapshots share one sequence: snapshot N is the state before log N. Also part of the file name. */
  readonly number: number
  /** The newest revision when the file was created. */
  readonly revision: number
}

export function encodeHeader({ kind, storeId, number, revision }: FileHeader): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  magic.copy(bytes)
  bytes.writeUInt16LE(formatVersion, 8)
  bytes.writeUInt8(kinds[kind], 10)
  bytes.write(storeId, 16, 16, 'hex')
  bytes.writeDoubleLE(number, 32)
  bytes.writeDoubleLE(revision, 40)
  bytes.writeUInt32LE(checksum(bytes), 12)
  return bytes
}

/** The result of decoding a header. `unfinished`: a header that did not reach the disk completely. */
type HeaderReading =
  | { readonly type: 'header'; readonly header: FileHeader }
  | { readonly type: 'newer'; readonly format: number }
  | { readonly type: 'unfinished' }
  | { readonly type: 'damaged' }
  | { readonly type: 'foreign' }

function decodeHeader(bytes: Buffer): HeaderReading {
  const start = bytes.subarray(0, magic.length)
  if (!start.equals(magic.subarray(0, start.length)))
    return start.every((byte, at) => byte === 0 || byte === magic[at]) ? { type: 'unfinished' } : { type: 'foreign' }
  if (bytes.length < headerBytes) return { type: 'unfinished' }
  const format = bytes.readUInt16LE(8)
  if (format > formatVersion) return { type: 'newer', format }
  const kind = kindOf(bytes.readUInt8(10))
  if (!kind || format !== formatVersion || checksum(bytes) !== bytes.readUInt32LE(12)) return { type: 'damaged' }
  return {
    type: 'header',
    header: {
      kind,
      storeId: bytes.toString('hex', 16, 32),
      number: bytes.readDoubleLE(32),
      revision: bytes.readDoubleLE(40),
    },
  }
}

/** `log-00000003.ek` and the like. */
export function fileName(kind: 'log' | 'snapshot', number: number): string {
  return `${kind}-${String(number).padStart(8, '0')}.ek`
}

/** The kind and number in the name of a log or snapshot; undefined for any other name. */
export function parseFileName(name: string): { kind: 'log' | 'snapshot'; number: number } | undefined {
  const match = /^(log|snapshot)-(\d{8,15})\.ek$/.exec(name)
  return match ? { kind: match[1] as 'log' | 'snapshot', number: Number(match[2]) } : undefined
}

function kindOf(code: number): FileKind | undefined {
  return (Object.keys(kinds) as FileKind[]).find((kind) => kinds[kind] === code)
}

/** The checksum of the header, without its own four bytes. */
function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(16, headerBytes), crc32(bytes.subarray(0, 12)))
}
