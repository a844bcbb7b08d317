/**
 * The first 64 bytes of every file of ours, and the names of those files.
 *
 *   0 magic `EVENKEEL` · 8 format (2) · 10 kind (1) · 12 checksum (4) · 16 store id (16) · 32 number (8) · 40 revision (8)
 *
 * Invariants: magic, format and kind stay where they are in every future format, so that an old
 * program can tell a newer file from a broken one. The number is also in the file's name.
 */
import { crc32 } from 'node:zlib'

export const headerBytes = 64

/** Raise it when a program of today could not read the files; say in `docs/decisions/store.md` what changed. */
export const formatVersion = 1

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

export function decodeHeader(bytes: Buffer): HeaderReading {
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
