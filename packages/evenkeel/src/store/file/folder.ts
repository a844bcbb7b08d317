/**
 * What is in the folder of a store: its files by number, and whether they make a whole.
 *
 *   snapshot-00000004.ek   all that was before log 4
 *   log-00000004.ek        what came after, then log 5, …
 *   reserve · spare        room for hard times · an old log, kept for its blocks
 *   owner.N.sock           who has the folder open
 *
 * Invariants: nothing is changed or removed in here; a folder that holds anything we did not
 * make is refused, so that a wrong path never mixes a store with somebody's files.
 */
import { crc32 } from 'node:zlib'
import { StoreError } from '../store.ts'
import type { Disk } from './disk.ts'

/** The numbers of the files that are to be read, and the names of those that are left over. */
export interface FolderPlan {
  readonly snapshot: number | undefined
  readonly logs: readonly number[]
  /** Unfinished or outdated files of ours, to be removed once the store is open. */
  readonly leftovers: readonly string[]
}

export async function planFolder(disk: Disk): Promise<FolderPlan> {
  const names = await disk.list()
  const foreign = names.find((name) => !isOurs(name))
  if (foreign !== undefined)
    throw new StoreError(
      'Foreign',
      `${disk.label} holds ${foreign}, which is not a file of a store: choose an empty folder`,
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

/** The header of a file, or `unfinished`. @throws StoreError when the file is not what its name says. */
export async function readHeader(
  disk: Disk,
  name: string,
  { kind, number }: Pick<FileHeader, 'kind' | 'number'>,
): Promise<FileHeader | 'unfinished'> {
  const file = await disk.open(name, 'read')
  try {
    const bytes = Buffer.alloc(headerBytes)
    const reading = decodeHeader(bytes.subarray(0, await file.read(0, bytes)))
    // A log whose header was torn by a power cut has no frames; whether that is so, the reader of frames will see.
    if (reading.type === 'unfinished' || (reading.type === 'damaged' && kind === 'log')) return 'unfinished'
    if (reading.type === 'foreign')
      throw new StoreError(
        'Foreign',
        `${disk.label}/${name} was not written by Evenkeel: move it away, or choose another folder`,
      )
    if (reading.type === 'newer') throw newerFormat(`${disk.label}/${name}`, reading.format)
    if (reading.type === 'damaged') throw damaged(disk, name, 'its header is broken')
    if (reading.header.kind !== kind || reading.header.number !== number)
      throw damaged(
        disk,
        name,
        `it says it is ${reading.header.kind} ${reading.header.number}; it was renamed or copied`,
      )
    return reading.header
  } finally {
    await file.close()
  }
}

function newerFormat(where: string, format: number): StoreError {
  return new StoreError(
    'NewerFormat',
    `${where} has format ${format}, this version reads up to ${formatVersion}: use the version of Evenkeel that wrote it, or a newer one`,
  )
}

export function damaged(disk: Disk, name: string, what: string): StoreError {
  return new StoreError(
    'Damaged',
    `${disk.label}/${name} is damaged: ${what}. Nothing was changed; restore a backup into a new folder (snapshot restore), or keep this one for inspection`,
  )
}

function isOurs(name: string): boolean {
  return (
    parseFileName(name) !== undefined ||
    /^(?:reserve|spare|owner\.\d+\.sock|owner\.new\.\w+\.sock|snapshot-\d{8,15}\.tmp)$/.test(name)
  )
}

/** Logs must follow the snapshot without a gap: one that is missing would be acknowledged writes lost in silence. */
function checkChain(
  disk: Disk,
  { from, logs, snapshot }: { from: number; logs: readonly number[]; snapshot: number | undefined },
): void {
  const gap = logs.findIndex((number, index) => number !== from + index)
  const missing = gap >= 0 ? from + gap : logs.length === 0 && snapshot !== undefined ? from : undefined
  if (missing !== undefined) throw damaged(disk, fileName('log', missing), 'it is missing')
}

/*
 * The first 64 bytes of every file of ours, and the names of those files.
 *
 *   0 magic `EVENKEEL` · 8 format (2) · 10 kind (1) · 12 checksum (4) · 16 store id (16) · 32 number (8) · 40 revision (8)
 *
 * Invariants: magic, format and kind stay where they are in every future format, so that an old
 * program can tell a newer file from a broken one. The number is also in the file's name.
 */

export const headerBytes = 64

/** Raise it when a program of today could not read the files; say in `docs/decisions/store.md` what changed. */
const formatVersion = 1

const magic = Buffer.from('EVENKEEL', 'latin1')
const kinds = { log: 1, snapshot: 2, backup: 3 } as const

type FileKind = keyof typeof kinds

export interface FileHeader {
  readonly kind: FileKind
  /** 32 hexadecimal digits, the same in all files of a store. */
  readonly storeId: string
  /** Logs and snapshots of a store are numbered together: snapshot N is all that was before log N. */
  readonly number: number
  /** The newest revision when the file was begun. */
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

/** What the first bytes of a file turned out to be. `unfinished`: a header of ours that did not reach the disk. */
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

/** What a name says about a file of ours; undefined for anything else. */
export function parseFileName(name: string): { kind: 'log' | 'snapshot'; number: number } | undefined {
  const match = /^(log|snapshot)-(\d{8,15})\.ek$/.exec(name)
  return match ? { kind: match[1] as 'log' | 'snapshot', number: Number(match[2]) } : undefined
}

function kindOf(code: number): FileKind | undefined {
  return (Object.keys(kinds) as FileKind[]).find((kind) => kinds[kind] === code)
}

/** Over everything but the checksum itself. */
function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(16, headerBytes), crc32(bytes.subarray(0, 12)))
}
